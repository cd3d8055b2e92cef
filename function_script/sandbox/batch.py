"""A request in a pool, its run, and the batch of runs that one worker evaluates."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from function_script.sandbox.ipc import Begun
    from function_script.sandbox.outcome import Reply
    from function_script.sandbox.scheduler import Lane
    from function_script.sandbox.worker_process import WorkerProcess

POLL_SECONDS = 0.0125
# A batch is split when it has used more CPU time than short runs need together. One that gets no
# CPU is split later, for another worker would get none either.
_SPLIT_CPU_SECONDS = 0.01
_SPLIT_SECONDS = 0.05
# Larger requests take long anyway, and a batch has a region of the shared memory for each.
_MAX_BATCHED_BYTES = 64 * 1024
# The rest of the time is for the run itself, which may get less of a CPU than is expected.
_WAIT_SHARE = 0.5


class RequestIdentity(NamedTuple):
    """The owner and the program of a request; each is None if it is unknown.

    Requests that wait are served round robin by ``owner``. ``program`` is the same for all owners,
    and what it costs is estimated by it.
    """

    owner: Hashable = None
    program: Hashable = None

    @property
    def key(self) -> Hashable:
        """The program of this owner, which is penalized for a lost worker; None if unknown."""
        return None if self.owner is None else (self.owner, self.program)


class Run:
    """The evaluation of a request, from its admission to its reply.

    The reply comes until ``deadline`` (monotonic seconds) at the latest.

    ``seed`` is the secret from which the request's random values derive, b"" without a salt.

    ``on_start`` is called with the batch that the run is in when it may begin, and ``on_reply``
    once with the reply.
    """

    def __init__(
        self,
        data: bytes,
        identify: Callable[[bytes], RequestIdentity],
        deadline: float,
        on_start: Callable[[Batch], None],
        on_reply: Callable[[Reply], None],
    ) -> None:
        self.data: Final = data
        self._identify: Final = identify
        self._identity: RequestIdentity | None = None
        self.deadline: Final = deadline
        self.requested_at: Final = time.monotonic()
        self.latest_start = self.requested_at + (deadline - self.requested_at) * _WAIT_SHARE
        """The end of the time for which it may be queued."""
        self.on_start: Final = on_start
        self._on_reply: Callable[[Reply], None] | None = on_reply
        self.seed = b""
        self.is_queued = False
        self.is_penalized = False
        self.may_share = len(data) <= _MAX_BATCHED_BYTES
        """True if others may be evaluated in the same batch."""
        self.expected_seconds = 0.0
        """The CPU time that it is expected to need, 0.0 when that is little or unknown."""
        self.waited_seconds = 0.0
        self.attempts = 0
        """The number of workers that ended before they began with it."""

    @property
    def identity(self) -> RequestIdentity:
        """The identity of the request, which is read once: when it is first asked for.

        Most requests neither wait nor are heavy, and reading takes 2 % of a small one.
        """
        if self._identity is None:
            self._identity = self._identify(self.data)
        return self._identity

    @property
    def is_cancelled(self) -> bool:
        """True if nobody waits for a reply."""
        return self._on_reply is None

    def cancel(self) -> None:
        """Drop the reply."""
        self._on_reply = None

    def reply(self, reply: Reply) -> None:
        """Call ``on_reply``, unless the request was cancelled."""
        # The callback holds this run: as a cycle, both would live until the next collection.
        on_reply, self._on_reply = self._on_reply, None
        if on_reply is not None:
            on_reply(reply)


class Batch:
    """A worker with the runs that it was sent, which it evaluates in turn; mostly one.

    The scheduler gives it its slot in ``lane``. A batch of several runs is short: it ends, or is
    split until one run is left, which may then be demoted and paused.
    """

    def __init__(self, run: Run, lane: Lane) -> None:
        self.runs = [run]
        self.lane = lane
        self.worker: WorkerProcess
        self.is_paused = False
        """True while the scheduler lets other heavy runs go on in place of this one."""
        self.is_stopped = False
        """True while the worker is stopped for that."""
        self.next_poll = 0.0
        """The time of the next poll (monotonic seconds), unless a reply comes before."""
        self.size = 1
        """The number of runs that the worker was sent."""
        self.first_index = 0
        """The place of the first run that is left among those that the worker was sent."""
        self.started_at = 0.0
        self.polled_at = 0.0
        self.used_seconds = 0.0
        """The CPU time of the runs that are left, at the last poll."""
        self.progress_at = 0.0
        """The time of the last poll at which the worker had used CPU time since the one before."""
        self._used_before = self._stopped_at = 0.0

    @property
    def run(self) -> Run:
        """The run whose lane the batch has: the only one unless the batch is short."""
        return self.runs[0]

    def start(self, worker: WorkerProcess) -> None:
        """Send the runs to a worker."""
        self.worker = worker
        # The places of runs in the shared memory count from all that were sent, whichever are left.
        self.size = len(self.runs)
        self.started_at = self.polled_at = self.progress_at = time.monotonic()
        self.next_poll = self.started_at + POLL_SECONDS
        # Before the request is sent: a program that has begun may already be in the way of others.
        if self.run.is_penalized:
            worker.set_sched_idle()
        worker.send_requests([(run.data, run.seed) for run in self.runs])

    def needs_split(self, now: float) -> bool:
        """Report whether several runs have taken too long."""
        seconds = now - self.started_at
        # A worker has one thread, so it has used no more than this; to read its CPU time is a
        # system call.
        if len(self.runs) == 1 or seconds < _SPLIT_CPU_SECONDS:
            return False
        return seconds >= _SPLIT_SECONDS or self.worker.used_seconds() >= _SPLIT_CPU_SECONDS

    def split(self) -> list[Run]:
        """Leave the worker the run that it has begun; return the others, which it will not begin.

        What the batch has used so far is not counted as CPU time of the run that goes on.
        """
        self.worker.take_back()
        begun = self.worker.begun()
        # A worker that has begun none begins the first, which it does not give back; one that is
        # compromised may claim any.
        index = 0 if begun is None else min(begun.position, len(self.runs) - 1)
        if index:
            self._used_before = self.worker.used_seconds()
        self.first_index = index
        taken_back = self.runs[:index] + self.runs[index + 1 :]
        self.runs = [self.runs[index]]
        return taken_back

    def begun(self) -> Begun | None:
        """Return what the worker has published about the only run that is left.

        None when it has not begun with that one, or has begun with another one since.
        """
        begun = self.worker.begun()
        return begun if begun is not None and begun.position == self.first_index else None

    def observe(self, now: float) -> tuple[float, float]:
        """Read the CPU clock; return the CPU time and the time on the clock since the last poll."""
        # The clock of a process that is gone says 0, and what was used stays used.
        used_seconds = max(self.worker.used_seconds() - self._used_before, self.used_seconds)
        gained, seconds = used_seconds - self.used_seconds, now - self.polled_at
        if gained > 0.0:
            self.progress_at = now
        self.used_seconds, self.polled_at = used_seconds, now
        return gained, seconds

    def stop(self, now: float) -> None:
        """Stop the worker until ``resume``."""
        self.worker.pause()
        self.is_stopped = True
        self._stopped_at = now

    def resume(self, now: float) -> None:
        """Continue the worker; the pause is not time of the run."""
        self.worker.resume()
        self.is_stopped = False
        # Otherwise the pause would count as a stall.
        self.progress_at = now
        self.run.waited_seconds += now - self._stopped_at

"""The pool for a server with an event loop: requests in, replies by callback, no thread waits.

The server calls it in its loop's thread. What takes time (forking, and finding out what a worker
died of) is done by a few threads aside.
"""

from __future__ import annotations

import logging
import select
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from function_script.errors import SandboxError
from function_script.sandbox import outcome
from function_script.sandbox.execution import LOOK_SECONDS, Execution, WorkerLost
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.pool import deadline
from function_script.sandbox.refusals import cannot_start
from function_script.sandbox.threads import start_threads

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor

    from function_script.sandbox.pool import Pool
    from function_script.sandbox.scheduler import Slot
    from function_script.sandbox.worker_process import WorkerProcess

OnReply: TypeAlias = "Callable[[Reply], None]"
T = TypeVar("T")
_LOG = logging.getLogger(__name__)
# Each is held up by one dying process, which may be large and have little of the CPU. Whoever
# waits for a new worker must not queue behind these; the zygote forks one at a time anyway.
_REAPER_THREADS = 8
_FORKING_THREADS = 2
# How often to look at those who wait for a worker that is awake (see Pace.gathering_seconds).
_BATCH_POLL_SECONDS = 0.002
_ONCE = select.EPOLLIN | select.EPOLLONESHOT


class PendingRequest:
    """One request on its way; to be handed back to ``cancel``."""

    def __init__(self, data: bytes, end: float, on_reply: OnReply) -> None:
        self.data = data
        self.end = end
        self.on_reply: OnReply | None = on_reply
        self.place: Slot
        self.run: Execution
        self.child: WorkerProcess


class Dispatcher:
    """Connects requests with workers. Everything is called, and calls back, in ``loop``."""

    def __init__(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._crew = pool.means.crew
        self._loop = loop
        self._errands = start_threads(_REAPER_THREADS, "errand")
        self._forking = start_threads(_FORKING_THREADS, "forking")
        self._running: dict[int, PendingRequest] = {}
        self._waiting: dict[PendingRequest, None] = {}
        # Workers that a thread has taken and the loop does not have yet.
        self._taken: set[WorkerProcess] = set()
        self._ticking: asyncio.TimerHandle | None = None
        self._relieving: asyncio.TimerHandle | None = None
        # A set of its own: joining and leaving the loop's would cost more than the rest of a run.
        self._epoll = select.epoll()
        loop.add_reader(self._epoll.fileno(), self._receive)

    def start(self, data: bytes, timeout_seconds: float, on_reply: OnReply) -> PendingRequest:
        """Evaluate a request; ``on_reply`` is called once, perhaps before this returns."""
        job = PendingRequest(data, deadline(timeout_seconds), on_reply)
        place = self._pool.enter(data, job.end, partial(self._begin, job))
        if isinstance(place, Failed):
            _tell(job, place)
            return job
        job.place = place
        if not place.is_waiting:
            self._begin(job)
        else:
            self._waiting[job] = None
            self._keep_ticking()
            if self._relieving is None:
                self._relieve()
        return job

    def cancel(self, job: PendingRequest) -> None:
        """Nobody waits for the reply any more: do not begin; what runs goes to its end."""
        job.on_reply = None
        if job in self._waiting and job.place.give_up():
            del self._waiting[job]

    def close(self) -> None:
        """End what is running; no reply comes from now on."""
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._ticking, self._relieving):
            if timer is not None:
                timer.cancel()
        self._errands.shutdown()
        self._forking.shutdown()
        self._epoll.close()
        for child in [*self._taken, *(job.child for job in self._running.values())]:
            self._crew.end(child)

    def _begin(self, job: PendingRequest) -> None:
        self._waiting.pop(job, None)
        job.run = Execution(self._pool.means, job.place, job.data, job.end)
        self._pick(job)

    def _pick(self, job: PendingRequest) -> None:
        child = self._crew.find_idle(coldest=job.run.is_suspect)
        if child is None:
            take = partial(self._take, job.run)
            self._aside(self._forking, take, partial(self._hand_over, job))
        else:
            self._hand_over(job, child)

    def _hand_over(self, job: PendingRequest, child: WorkerProcess | SandboxError) -> None:
        if isinstance(child, SandboxError):
            waited_seconds = job.place.waited_seconds
            failed = Failed(error=child, cause=Cause.KILLED, waited_seconds=waited_seconds)
            self._finish(job, failed)
            return
        self._taken.discard(child)
        job.child = child
        job.run.begin(child)
        self._running[child.fileno()] = job
        self._expect(child)
        self._keep_ticking()

    def _expect(self, child: WorkerProcess) -> None:
        """Hear of the next receipt. A closed descriptor leaves the set by itself."""
        try:
            self._epoll.modify(child.fileno(), _ONCE)
        except FileNotFoundError:
            self._epoll.register(child.fileno(), _ONCE)

    def _receive(self) -> None:
        for descriptor, _ in self._epoll.poll(0):
            job = self._running.get(descriptor)
            if job is None:
                continue
            frame = job.child.receipt_now()
            if frame is None:
                self._expect(job.child)
            else:
                self._end(job, frame)

    def _end(self, job: PendingRequest, frame: bytes | None) -> None:
        del self._running[job.child.fileno()]
        reply = job.run.end(frame)
        if reply is None:
            self._pick(job)
        elif isinstance(reply, WorkerLost):
            explain = partial(job.run.explain, reply)
            if job.place.is_slow:
                # There are many such places, and what takes its time to end must not pile up.
                explain = partial(explain, partial(self._in_loop, job.place.leave))
            else:
                job.place.leave()
            self._aside(self._errands, explain, partial(_tell, job))
        else:
            self._finish(job, reply)

    def _finish(self, job: PendingRequest, reply: Reply) -> None:
        job.place.leave()
        _tell(job, reply)

    def _keep_ticking(self) -> None:
        if self._ticking is None:
            self._ticking = self._loop.call_later(LOOK_SECONDS, self._tick)

    def _tick(self) -> None:
        """Look at runs that take long, and at the patience of those in line."""
        now = time.monotonic()
        for job in list(self._running.values()):
            if job.run.due <= now and (not job.run.look(now) or _is_in_vain(job)):
                self._end(job, None)
        for job in [job for job in self._waiting if job.end - job.place.expected_seconds <= now]:
            if job.place.give_up():
                del self._waiting[job]
                place = job.place
                _tell(job, outcome.wait_timeout_error(place.age_seconds(), place.expected_seconds))
        self._ticking = None
        if self._running or self._waiting:
            self._keep_ticking()

    def _relieve(self) -> None:
        """Wake one more worker for whoever has waited long enough for those that are awake."""
        is_gathering = self._pool.means.places.relieve()
        self._relieving = (
            self._loop.call_later(_BATCH_POLL_SECONDS, self._relieve) if is_gathering else None
        )

    def _take(self, run: Execution) -> WorkerProcess | SandboxError:
        try:
            child = self._crew.take(coldest=run.is_suspect)
            self._taken.add(child)
        except SandboxError as error:
            return error
        except Exception:  # noqa: BLE001 # see below
            # Whatever went wrong, the caller must have an answer, and others the place.
            _LOG.exception("cannot start a worker")
            return cannot_start("internal error", "the function's log has more")
        else:
            return child

    def _aside(
        self, threads: ThreadPoolExecutor, task: Callable[[], T], then: Callable[[T], None]
    ) -> None:
        """Have a thread do ``task``, and the loop go on with what it returned."""

        def done(future: Future[T]) -> None:
            self._in_loop(partial(then, future.result()))

        threads.submit(task).add_done_callback(done)

    def _in_loop(self, task: Callable[[], None]) -> None:
        """Call ``task`` in the loop, from any thread."""
        # After the end of the loop nobody is there to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(task)


def _is_in_vain(job: PendingRequest) -> bool:
    """Whether a run is paused, and nobody waits for its reply."""
    return job.on_reply is None and job.run.is_paused


def _tell(job: PendingRequest, reply: Reply) -> None:
    # Who is told holds the job: a cycle, and with it the request, would live for long.
    on_reply, job.on_reply = job.on_reply, None
    if on_reply is not None:
        on_reply(reply)

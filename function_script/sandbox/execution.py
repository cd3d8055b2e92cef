"""One request in one worker: sent, polled while it runs, then read or explained.

A state machine without a clock or a thread of its own: ``Pool`` drives it by waiting,
``Dispatcher`` by events. It reads neither requests nor responses. Several small requests may go to
a worker as one batch; one that does not end in it runs again, alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script.limits import LIMITS, MIB, Limits
from function_script.sandbox import outcome, report
from function_script.sandbox.history import (
    HEAVY_SECONDS,
    CostEstimates,
    PenaltyBox,
    RuntimeEstimate,
)
from function_script.sandbox.ipc import ReplyHeader
from function_script.sandbox.scheduler import RunProfile, Scheduler, Slot
from function_script.sandbox.worker_process import WorkerProcess

if TYPE_CHECKING:
    from function_script.sandbox.idle_workers import IdleWorkers

POLL_SECONDS = 0.0125
# A batch is split when it has used more CPU time than short runs need together. One that gets no
# CPU is split later, for another worker would get none either.
_SPLIT_CPU_SECONDS = 0.01
_SPLIT_SECONDS = 0.05
# The worker's own watchdog comes first; the pool acts when that does not.
_GRACE_SECONDS = 0.1
# On the clock a run may take so many times its CPU limit: its worker may have been stopped.
_MAX_STRETCH = 10
# A run that fails after this share of its time is likely to cost as much again.
_PENALTY_SHARE = 0.5
_MAX_ATTEMPTS = 3
# The operator reads why a worker crashed without a cause: so much of what it printed last.
_STDERR_TAIL = 500
_UNEXPLAINED = frozenset({outcome.Cause.CRASH, outcome.Cause.FORBIDDEN})
# The secrets of larger requests are not searched for.
_MAX_REDACTED_BYTES = 1 * MIB


class PoolContext:
    """The objects that all executions of a pool share.

    ``penalty_key``, ``program_key`` and ``derive_seed`` take a request, see ``PoolOptions``.
    """

    def __init__(  # noqa: PLR0913 # the parts of a pool
        self,
        *,
        limits: Limits,
        scheduler: Scheduler,
        workers: IdleWorkers,
        runtimes: RuntimeEstimate,
        penalties: PenaltyBox,
        costs: CostEstimates,
        penalty_key: Callable[[bytes], Hashable],
        program_key: Callable[[bytes], Hashable],
        derive_seed: Callable[[bytes], bytes],
    ) -> None:
        self.limits: Final = outcome.AppliedLimits(
            timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes
        )
        self.scheduler: Final = scheduler
        self.workers: Final = workers
        self.runtimes: Final = runtimes
        self.penalties: Final = penalties
        self.costs: Final = costs
        self.penalty_key: Final = penalty_key
        self.program_key: Final = program_key
        self.derive_seed: Final = derive_seed

    def profile(self, data: bytes, remaining_seconds: float) -> RunProfile:
        """Return the facts about a request that the scheduler needs."""
        penalty_key = partial(self.penalty_key, data)
        estimate = partial(self.costs.estimate, partial(self.program_key, data), penalty_key)
        is_penalized = self.penalties.contains(penalty_key)
        return RunProfile(estimate, remaining_seconds, is_penalized=is_penalized)


class WorkerLost:
    """A result of ``Execution``: the worker has exited, or is killed because it ``is_late``.

    The run has taken ``seconds`` on the clock and ``used_seconds`` of CPU time.
    """

    def __init__(
        self,
        *,
        seconds: float,
        used_seconds: float,
        is_late: bool = False,
        is_at_deadline: bool = False,
    ) -> None:
        self.seconds: Final = seconds
        self.used_seconds: Final = used_seconds
        self.is_late: Final = is_late
        self.is_at_deadline: Final = is_at_deadline


class NotBegun:
    """A result of ``Execution``: the worker exited before it began; retry with another one."""


class TakenBack:
    """A result of a request in a batch that did not end there: it runs again, alone."""


Result: TypeAlias = "outcome.Reply | WorkerLost | NotBegun | TakenBack"


class Execution:
    """The run of a request in ``worker``, until ``deadline`` (monotonic seconds) at the latest."""

    def __init__(
        self,
        context: PoolContext,
        slot: Slot,
        data: bytes,
        deadline: float,
        worker: WorkerProcess,
    ) -> None:
        self._context = context
        self._data = data
        self._deadline = deadline
        self._limits = context.limits
        self._attempts = 0
        self._started = self._latest_end = 0.0
        self._paused_at = 0.0
        self._index = 0
        self._batch_size = 1
        self.slot: Final = slot
        self.worker = worker
        self.next_poll = 0.0
        """The time of the next ``poll`` (monotonic seconds), unless a reply comes before."""

    @property
    def is_paused(self) -> bool:
        """True while the worker is stopped until the scheduler grants it a CPU."""
        return self._paused_at != 0.0

    def start(self) -> None:
        """Send the request to the worker."""
        start_batch([self])

    def retry(self, worker: WorkerProcess) -> None:
        """Send the request to another worker, after ``NotBegun``."""
        self.worker = worker
        self.start()

    def needs_split(self, now: float) -> bool:
        """Report whether the batch of this request has taken too long."""
        seconds = now - self._started
        if seconds < _SPLIT_CPU_SECONDS:
            return False
        return seconds >= _SPLIT_SECONDS or self.worker.used_seconds() >= _SPLIT_CPU_SECONDS

    def poll(self, now: float) -> bool:
        """Demote a run that turns out to be heavy, and pause or resume it; call it when due.

        Return False when its time is over.
        """
        used_seconds = self.worker.used_seconds()
        if used_seconds > HEAVY_SECONDS and not self.slot.is_slow:
            self._context.costs.raise_to(self._program_key, used_seconds)
            self.slot.demote()
        if self.slot.is_paused is not self.is_paused:
            self._pause_or_resume(now)
        self.next_poll = now + POLL_SECONDS
        if now >= self._deadline or (now >= self._latest_end and not self.is_paused):
            return False
        limits = _narrow(self._limits, self.worker)
        return used_seconds < limits.timeout_seconds + _GRACE_SECONDS

    def _pause_or_resume(self, now: float) -> None:
        """Stop or continue the worker as its slot says; the pause is not time of the run."""
        if self.slot.is_paused:
            self.worker.pause()
            self._paused_at = now
        else:
            self.worker.resume()
            self._latest_end += now - self._paused_at
            self._paused_at = 0.0

    def finish(self, frame: bytes) -> Result:
        """Return the result for the frame that came; it is b"" when the worker is gone."""
        worker = self.worker
        if frame:
            if self.is_paused:
                # It had replied before it was stopped.
                worker.resume()
            return _read_replies([self], frame)[0]
        if self._is_another_running():
            self._context.workers.replace_in_background(worker)
            return TakenBack()
        if worker.has_begun():
            return WorkerLost(
                seconds=time.monotonic() - self._started, used_seconds=worker.used_seconds()
            )
        self._context.workers.replace_in_background(worker)
        self._attempts += 1
        if self._attempts < _MAX_ATTEMPTS:
            return NotBegun()
        return self._fail(
            outcome.Cause.KILLED, self._limits, detail="workers end before they begin"
        )

    def expire(self) -> WorkerLost | TakenBack:
        """Return the result of a run that ``poll`` has found out of time."""
        now = time.monotonic()
        if self._is_another_running():
            self._context.workers.replace_in_background(self.worker)
            return TakenBack()
        return WorkerLost(
            seconds=now - self._started,
            used_seconds=self.worker.used_seconds(),
            is_late=True,
            is_at_deadline=now >= self._deadline,
        )

    def explain(
        self, loss: WorkerLost, on_exit: Callable[[], object] | None = None
    ) -> outcome.Failed:
        """Kill the lost worker and return the failure; blocks unless the worker is late.

        ``on_exit`` is called, in any thread, when the worker has exited.
        """
        worker, workers = self.worker, self._context.workers
        limits = _narrow(self._limits, worker)
        log = outcome.sanitize_stderr(worker.read_stderr())
        if loss.used_seconds >= limits.timeout_seconds:
            workers.replace_in_background(worker, on_exit)
            return self._time_out(limits, log, loss.used_seconds)
        if loss.is_late:
            # Others had the CPU: the program is not to blame.
            workers.replace_in_background(worker, on_exit)
            return outcome.Failed(
                error=outcome.starved_error(
                    loss.used_seconds, loss.seconds, is_at_deadline=loss.is_at_deadline
                ),
                cause=outcome.Cause.STARVED,
                log=log,
                waited_seconds=self.slot.waited_seconds,
                cpu_seconds=loss.used_seconds,
            )
        exit_status = workers.replace(worker)
        if on_exit is not None:
            on_exit()
        cause = outcome.find_cause(exit_status, limits)
        if cause is outcome.Cause.TIMEOUT:
            return self._time_out(limits, log, limits.timeout_seconds)
        if cause is not outcome.Cause.KILLED:
            self._context.penalties.add(self._penalty_key)
        detail = exit_status.describe()
        if cause in _UNEXPLAINED:
            detail += self._describe_stderr(log)
        return self._fail(cause, limits, log=log, detail=detail)

    def _is_another_running(self) -> bool:
        """Report whether the worker had begun the next request when the batch was split."""
        return self._batch_size > 1 and self.worker.begun_index() != self._index

    def _describe_stderr(self, log: str) -> str:
        """Return the end of what the worker printed, without the secrets of the request."""
        tail = log.strip()[-_STDERR_TAIL:]
        if not tail or len(self._data) > _MAX_REDACTED_BYTES:
            return ""
        # Of a worker that crashed alone; a pool of `render` starts without its imports.
        from function_script import redaction  # noqa: PLC0415 - see above

        return f"; it printed last: {redaction.redact_text(tail, self._data)}"

    def _time_out(
        self, limits: outcome.AppliedLimits, log: str, used_seconds: float
    ) -> outcome.Failed:
        if self._is_expensive(used_seconds):
            self._context.penalties.add(self._penalty_key)
        self._observe_cost(used_seconds)
        failed = self._fail(outcome.Cause.TIMEOUT, limits, log=log)
        return replace(failed, cpu_seconds=used_seconds)

    def _is_expensive(self, used_seconds: float) -> bool:
        """Report whether a failed run has used much of what the operator allows."""
        return used_seconds > self._context.limits.timeout_seconds * _PENALTY_SHARE

    def begin(self, index: int, batch_size: int) -> tuple[bytes, bytes]:
        """Begin as the request at ``index`` of a batch; return what the worker is sent."""
        if not self.worker.counts_cpu:
            self._limits = replace(self._limits, counts_cpu=False)
        self._index, self._batch_size = index, batch_size
        self._started = time.monotonic()
        self._latest_end = self._started + self._context.limits.timeout_seconds * _MAX_STRETCH
        self.next_poll = self._started + POLL_SECONDS
        if self.slot.is_penalized:
            self.worker.set_sched_idle()
        return self._data, self._context.derive_seed(self._data)

    def release_worker(self, headers: Sequence[ReplyHeader] = ()) -> None:
        """Give the worker of a batch back, or replace it without the ``headers`` of replies."""
        workers = self._context.workers
        if not headers:
            workers.replace_in_background(self.worker)
        elif headers[-1].is_last or not self.worker.is_reusable:
            workers.retire(self.worker)
        else:
            workers.release(self.worker)

    def lose_batch(self) -> None:
        """Replace the worker of a batch; there are no batches until some hundred runs are well."""
        self._context.runtimes.reset()
        self.release_worker()

    def read_reply(
        self, headers: Sequence[ReplyHeader], used_seconds: float
    ) -> outcome.Reply | TakenBack:
        """Return the reply among those of a batch that used so much; raise ValueError."""
        if len(headers) > self._batch_size:
            raise ValueError(f"{len(headers)} replies to {self._batch_size} requests")
        if self._index >= len(headers):
            return TakenBack()
        header = headers[self._index]
        if self._batch_size > 1:
            if not header.report_length:
                return TakenBack()
            used_seconds = min(used_seconds, header.cpu_microseconds * 1e-6)
        response, text = self.worker.read_payload(header, self._index)
        reply = self._build_reply(response, report.from_json(text), used_seconds)
        self._observe_cost(used_seconds)
        if isinstance(reply, outcome.Answered) and not reply.diagnostics:
            self._context.penalties.clear(self._penalty_key)
            self._context.runtimes.observe(used_seconds)
        elif isinstance(reply, outcome.Failed) or self._is_expensive(used_seconds):
            self._context.penalties.add(self._penalty_key)
        self.worker.trim(max(len(self._data), header.payload_length + header.report_length))
        return reply

    def refuse_reply(self, error: ValueError) -> outcome.Reply | TakenBack:
        """Return the result of a request whose worker answers with nonsense."""
        if self._batch_size > 1:
            return TakenBack()
        detail = f"its worker answered with {error}"
        return self._fail(outcome.Cause.CRASH, self._limits, detail=detail)

    def _build_reply(
        self, response: bytes, worker_report: report.WorkerReport, used_seconds: float
    ) -> outcome.Reply:
        if worker_report.cause is None:
            return outcome.Answered(
                response=response,
                diagnostics=worker_report.diagnostics,
                blocked=worker_report.blocked,
                missing=worker_report.missing,
                info=worker_report.info,
                log=worker_report.log,
                waited_seconds=self.slot.waited_seconds,
                cpu_seconds=used_seconds,
            )
        limits = _narrow(self._limits, self.worker)
        return outcome.Failed(
            error=outcome.explain(worker_report.cause, limits, worker_report.detail),
            cause=worker_report.cause,
            log=worker_report.log,
            detail=worker_report.trace,
            waited_seconds=self.slot.waited_seconds,
            cpu_seconds=used_seconds,
        )

    def _penalty_key(self) -> Hashable:
        return self._context.penalty_key(self._data)

    def _program_key(self) -> Hashable:
        return self._context.program_key(self._data)

    def _observe_cost(self, used_seconds: float) -> None:
        self._context.costs.observe(self._program_key, self._penalty_key, used_seconds)

    def _fail(
        self,
        cause: outcome.Cause,
        limits: outcome.AppliedLimits,
        *,
        log: str = "",
        detail: str = "",
    ) -> outcome.Failed:
        return outcome.Failed(
            error=outcome.explain(cause, limits),
            cause=cause,
            log=log,
            detail=detail,
            waited_seconds=self.slot.waited_seconds,
        )


def start_batch(executions: list[Execution]) -> None:
    """Send requests to their worker, which they have in common."""
    requests = [each.begin(index, len(executions)) for index, each in enumerate(executions)]
    executions[0].worker.send_requests(requests)


def finish_batch(executions: list[Execution], frame: bytes) -> Sequence[Result]:
    """Return the results of a batch for the frame that came."""
    if len(executions) == 1:
        return [executions[0].finish(frame)]
    if frame:
        return _read_replies(executions, frame)
    # Any of them may have ended the worker: the one that did will do so again, alone.
    executions[0].lose_batch()
    return [TakenBack() for _ in executions]


def _read_replies(executions: list[Execution], frame: bytes) -> Sequence[outcome.Reply | TakenBack]:
    first = executions[0]
    used_seconds = first.worker.used_seconds()
    try:
        headers = ReplyHeader.unpack_batch(frame)
        replies = [execution.read_reply(headers, used_seconds) for execution in executions]
    except ValueError as error:
        if len(executions) > 1:
            first.lose_batch()
        else:
            first.release_worker()
        return [execution.refuse_reply(error) for execution in executions]
    has_failed = any(isinstance(reply, outcome.Failed) for reply in replies)
    first.release_worker(() if has_failed else headers)
    return replies


def split_batch(executions: list[Execution]) -> int:
    """Take back all requests of a batch but the one that runs; return the index of that one."""
    worker = executions[0].worker
    worker.take_back()
    return min(worker.begun_index(), len(executions) - 1)


def _narrow(limits: outcome.AppliedLimits, worker: WorkerProcess) -> outcome.AppliedLimits:
    """Return the limits as the input narrowed them; a worker cannot widen them."""
    timeout_seconds, memory_bytes = worker.applied_limits()
    if 0 < timeout_seconds < limits.timeout_seconds:
        limits = replace(
            limits, timeout_seconds=timeout_seconds, timeout_set_by=LIMITS["time"].path
        )
    if 0 < memory_bytes < limits.memory_bytes:
        limits = replace(limits, memory_bytes=memory_bytes, memory_set_by=LIMITS["memory"].path)
    return limits

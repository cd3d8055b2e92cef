"""Batches in their workers: polled while they run, then their replies are read or explained.

Without a clock or a thread of its own: ``Pool`` drives it by waiting, ``Dispatcher`` by events. It
reads neither requests nor responses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from function_script.request.limits import MIB, EffectiveLimits, Limits
from function_script.sandbox import outcome, report
from function_script.sandbox.batch import POLL_SECONDS, Batch, Run
from function_script.sandbox.history import HEAVY_SECONDS, History
from function_script.sandbox.ipc import ReplyHeader
from function_script.sandbox.scheduler import Scheduler

if TYPE_CHECKING:
    from function_script.sandbox.idle_workers import IdleWorkers

# The worker's own watchdog comes first; the pool acts when that does not.
_GRACE_SECONDS = 0.1
# A worker that gets no CPU time for so many times the limit has been stopped, or will be starved.
_STALL_FACTOR = 10
# A run that fails after this share of its time is likely to cost as much again.
_PENALTY_SHARE = 0.5
_MAX_ATTEMPTS = 3
# The operator reads why a worker crashed without a cause: so much of what it printed last.
_STDERR_TAIL = 500
_UNEXPLAINED = frozenset({outcome.Cause.CRASH, outcome.Cause.FORBIDDEN})
# The secrets of larger requests are not searched for.
_MAX_REDACTED_BYTES = 1 * MIB


class Loss(Enum):
    """A result: the worker of the only run has exited, or is to be killed because that is late."""

    EXITED = "exited"
    LATE = "late"


Result: TypeAlias = "Sequence[outcome.Reply | None] | Loss"
"""The replies to the runs of a batch, None for each that must begin again; or how it was lost."""


class Executor:
    """Evaluates the batches of a pool. Thread-safe, but for the calls for one batch."""

    def __init__(
        self, limits: Limits, scheduler: Scheduler, workers: IdleWorkers, history: History
    ) -> None:
        self._limits = limits
        self._scheduler = scheduler
        self._workers = workers
        self._runtimes, self._penalties = history.runtimes, history.penalties
        self._costs, self._share = history.costs, history.share

    def poll(self, batch: Batch, now: float) -> bool:
        """Demote a run that turns out to be heavy, stop or continue its worker; call it when due.

        Return False when the time of the run is over.
        """
        # As it was since the last poll, before the lines below change it.
        is_running = self._scheduler.is_heavy(batch) and not batch.is_stopped
        gained_seconds, seconds = batch.observe(now)
        if is_running:
            self._share.observe(gained_seconds, seconds)
        run, used_seconds = batch.run, batch.used_seconds
        if used_seconds > HEAVY_SECONDS and not self._scheduler.is_slow(batch):
            self._costs.raise_to(run.identity, used_seconds)
            self._scheduler.demote(batch)
        # The scheduler only marks a batch; signals are sent here, by the thread that polls it.
        if batch.is_paused is not batch.is_stopped:
            if batch.is_paused:
                batch.stop(now)
            else:
                batch.resume(now)
        batch.next_poll = now + POLL_SECONDS
        # A short run that nobody waits for ends by itself, and leaves a worker with warm caches.
        if now >= run.deadline or (run.is_cancelled and self._scheduler.is_slow(batch)):
            return False
        stall_seconds = 0.0 if batch.is_stopped else now - batch.progress_at
        if stall_seconds >= self._limits.timeout_seconds * _STALL_FACTOR:
            return False
        timeout_seconds = self._effective_limits(batch).in_force.timeout_seconds
        return used_seconds < timeout_seconds + _GRACE_SECONDS

    def finish(self, batch: Batch, frame: bytes) -> Result:
        """Return the result for the frame that came; it is b"" when the worker is gone."""
        worker = batch.worker
        if frame:
            if batch.is_stopped:
                # It had replied before it was stopped.
                worker.resume()
            return self._read_replies(batch, frame)
        if len(batch.runs) > 1:
            # Any of them may have ended the worker: the one that did will do so again, alone. There
            # are no batches until some hundred runs have ended well.
            self._runtimes.reset()
        elif batch.begun() is not None:
            batch.observe(time.monotonic())
            return Loss.EXITED
        # Of a batch that was split it is not certain that this run was to begin.
        elif batch.size == 1:
            batch.run.attempts += 1
        self._workers.replace_in_background(worker)
        if batch.run.attempts < _MAX_ATTEMPTS:
            return [None] * len(batch.runs)
        return [self._fail(batch, outcome.Cause.KILLED, detail="workers end before they begin")]

    def expire(self, batch: Batch) -> Result:
        """Return the result of a run that ``poll`` has found out of time."""
        if batch.size > 1 and batch.begun() is None:
            # Its worker runs another one of the batch, which was taken back.
            self._workers.replace_in_background(batch.worker)
            return [None]
        self._costs.raise_to(batch.run.identity, batch.used_seconds)
        return Loss.LATE

    def explain(
        self, batch: Batch, loss: Loss, on_exit: Callable[[], object] | None = None
    ) -> outcome.Failed:
        """Kill the lost worker and return the failure; blocks unless the run is late.

        ``on_exit`` is called, in any thread, when the worker has exited.
        """
        worker, workers = batch.worker, self._workers
        limits = self._effective_limits(batch)
        timeout_seconds = limits.in_force.timeout_seconds
        log = outcome.sanitize_stderr(worker.read_stderr())
        # The cause is certain without the exit status, for which a large process keeps its caller
        # waiting.
        if batch.used_seconds >= timeout_seconds:
            workers.replace_in_background(worker, on_exit)
            return self._time_out(batch, limits, log, batch.used_seconds)
        if loss is Loss.LATE:
            # Others had the CPU: the program is not to blame.
            workers.replace_in_background(worker, on_exit)
            return outcome.Failed(
                error=outcome.starved_error(
                    batch.used_seconds,
                    batch.polled_at - batch.started_at,
                    is_at_deadline=batch.polled_at >= batch.run.deadline,
                ),
                cause=outcome.Cause.STARVED,
                log=log,
                waited_seconds=batch.run.waited_seconds,
                cpu_seconds=batch.used_seconds,
            )
        # Only the status tells a limit of the kernel from a crash and from a kill from outside.
        exit_status = workers.replace(worker)
        if on_exit is not None:
            on_exit()
        cause = outcome.find_cause(exit_status, limits.in_force.memory_bytes)
        if cause is outcome.Cause.TIMEOUT:
            return self._time_out(batch, limits, log, timeout_seconds)
        # A worker that was killed from outside says nothing about its program.
        if cause is not outcome.Cause.KILLED:
            self._penalties.add(batch.run.identity.key)
        detail = exit_status.describe()
        if cause in _UNEXPLAINED:
            detail += _describe_stderr(log, batch.run.data)
        return self._fail(batch, cause, limits=limits, log=log, detail=detail)

    def _effective_limits(self, batch: Batch) -> EffectiveLimits:
        """Return the limits as the input of the only run narrowed them.

        A worker cannot widen them.
        """
        limits, begun = EffectiveLimits(self._limits), batch.begun()
        if begun is not None and 0 < begun.timeout_seconds < self._limits.timeout_seconds:
            limits.narrow(replace(limits.in_force, timeout_seconds=begun.timeout_seconds))
        if begun is not None and 0 < begun.memory_bytes < self._limits.memory_bytes:
            limits.narrow(replace(limits.in_force, memory_bytes=begun.memory_bytes))
        return limits

    def _read_replies(self, batch: Batch, frame: bytes) -> Sequence[outcome.Reply | None]:
        """Return the replies of a frame, and give the worker back or replace it."""
        worker = batch.worker
        used_seconds = worker.used_seconds()
        try:
            headers = ReplyHeader.unpack_batch(frame, batch.size)
            replies = [
                self._read_reply(batch, run, index, headers, used_seconds)
                for index, run in enumerate(batch.runs, batch.first_index)
            ]
        except ValueError as error:
            self._workers.replace_in_background(worker)
            if len(batch.runs) > 1:
                self._runtimes.reset()
            # Each begins again alone, so that the one to blame gets the error.
            if batch.size > 1:
                return [None] * len(batch.runs)
            detail = f"its worker answered with {error}"
            return [self._fail(batch, outcome.Cause.CRASH, detail=detail)]
        if any(isinstance(reply, outcome.Failed) for reply in replies):
            self._workers.replace_in_background(worker)
        elif headers[-1].is_last or not worker.is_reusable:
            self._workers.retire(worker)
        else:
            self._workers.release(worker)
        return replies

    def _read_reply(
        self,
        batch: Batch,
        run: Run,
        index: int,
        headers: Sequence[ReplyHeader],
        used_seconds: float,
    ) -> outcome.Reply | None:
        """Return the reply at ``index`` of a batch that used so much; raise ValueError."""
        if index >= len(headers):
            return None
        header = headers[index]
        if batch.size > 1:
            # It was too large for its part of the memory; alone it has all of it.
            if not header.report_length:
                return None
            # A worker measures each of its runs, and may claim no more than the kernel has counted.
            used_seconds = min(used_seconds, header.cpu_microseconds * 1e-6)
        response, text = batch.worker.read_payload(header, index)
        reply = report.from_json(text, response, run.waited_seconds, used_seconds)
        # The reply has overwritten the request in the same memory, so the larger one counts.
        batch.worker.trim(max(len(run.data), header.payload_length + header.report_length))
        # Without heavy programs no identity is read, which takes 2 % of a small request.
        if self._costs or used_seconds > HEAVY_SECONDS:
            self._costs.observe(run.identity, used_seconds)
        if not reply.diagnostics:
            if self._penalties:
                self._penalties.clear(run.identity.key)
            self._runtimes.observe(used_seconds)
        elif isinstance(reply, outcome.Failed) or self._is_expensive(used_seconds):
            self._penalties.add(run.identity.key)
        return reply

    def _time_out(
        self, batch: Batch, limits: EffectiveLimits, log: str, used_seconds: float
    ) -> outcome.Failed:
        identity = batch.run.identity
        if self._is_expensive(used_seconds):
            self._penalties.add(identity.key)
        self._costs.observe(identity, used_seconds)
        failed = self._fail(batch, outcome.Cause.TIMEOUT, limits=limits, log=log)
        return replace(failed, cpu_seconds=used_seconds)

    def _is_expensive(self, used_seconds: float) -> bool:
        """Report whether a failed run has used much of what the operator allows."""
        return used_seconds > self._limits.timeout_seconds * _PENALTY_SHARE

    def _fail(
        self,
        batch: Batch,
        cause: outcome.Cause,
        *,
        limits: EffectiveLimits | None = None,
        log: str = "",
        detail: str = "",
    ) -> outcome.Failed:
        return outcome.Failed(
            error=outcome.explain(
                cause,
                limits or EffectiveLimits(self._limits),
                counts_cpu=batch.worker.counts_cpu,
            ),
            cause=cause,
            log=log,
            detail=detail,
            waited_seconds=batch.run.waited_seconds,
        )


def _describe_stderr(log: str, data: bytes) -> str:
    """Return the end of what the worker printed, without the secrets of the request."""
    tail = log.strip()[-_STDERR_TAIL:]
    if not tail or len(data) > _MAX_REDACTED_BYTES:
        return ""
    # Of a worker that crashed alone; a pool of `render` starts without its imports.
    from function_script.texts import redaction  # noqa: PLC0415 - see above

    return f"; it printed last: {redaction.redact_text(tail, data)}"

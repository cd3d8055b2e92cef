"""One request in one worker: handed over, looked at from time to time, read or explained.

A state machine without a clock or a thread of its own: ``Pool`` drives it by waiting,
``Switchboard`` by events. Neither requests nor responses are read here.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from function_script.sandbox import outcome, report
from function_script.sandbox.costs import HEAVY_SECONDS
from function_script.sandbox.ipc import Receipt
from function_script.sandbox.outcome import Answered, AppliedLimits, Cause, Failed, Reply
from function_script.sandbox.scheduler import Prospects
from function_script.sandbox.speech import sanitize_stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from function_script.limits import Limits
    from function_script.sandbox.costs import Costs
    from function_script.sandbox.idle_workers import IdleWorkers
    from function_script.sandbox.pace import RuntimeEstimate
    from function_script.sandbox.scheduler import Scheduler, Slot
    from function_script.sandbox.suspects import PenaltyBox
    from function_script.sandbox.worker_process import WorkerProcess

LOOK_SECONDS = 0.0125
# The worker's own alarm comes first; this one is for when it does not.
_GRACE_SECONDS = 0.1
# A run that gets so little of the CPU is ended: its worker may have been stopped.
_MAX_STRETCH = 10
# A run that ends in an error after this share of the time is likely to cost as much again.
_SUSPICIOUS_SHARE = 0.5
_MAX_ATTEMPTS = 3


class PoolContext:
    """What all runs of a pool share."""

    def __init__(  # noqa: PLR0913 # what a pool is made of
        self,
        *,
        limits: Limits,
        places: Scheduler,
        crew: IdleWorkers,
        pace: RuntimeEstimate,
        suspects: PenaltyBox,
        costs: Costs,
        suspect_of: Callable[[bytes], Hashable],
        program_of: Callable[[bytes], Hashable],
    ) -> None:
        self.terms: Final = AppliedLimits(
            timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes
        )
        self.places: Final = places
        self.crew: Final = crew
        self.pace: Final = pace
        self.suspects: Final = suspects
        self.costs: Final = costs
        self.suspect_of: Final = suspect_of
        self.program_of: Final = program_of

    def prospects(self, data: bytes, left_seconds: float) -> Prospects:
        """What is known of the run of a request."""
        suspect = partial(self.suspect_of, data)
        expect = partial(self.costs.expect, partial(self.program_of, data), suspect)
        return Prospects(expect, left_seconds, is_suspect=self.suspects.has(suspect))


class WorkerLost:
    """A worker that did not answer: it has ended, or is to be ended because it ``is_late``.

    The run has taken ``seconds``, of which it had the CPU for ``used_seconds``.
    """

    def __init__(
        self,
        child: WorkerProcess,
        *,
        seconds: float,
        used_seconds: float,
        is_late: bool,
        is_at_deadline: bool,
    ) -> None:
        self.child: Final = child
        self.seconds: Final = seconds
        self.used_seconds: Final = used_seconds
        self.is_late: Final = is_late
        self.is_at_deadline: Final = is_at_deadline


class Execution:
    """``data`` in ``place`` until ``deadline`` (monotonic seconds) at the latest."""

    def __init__(self, means: PoolContext, place: Slot, data: bytes, deadline: float) -> None:
        self._means = means
        self._place = place
        self._data = data
        self._deadline = deadline
        self._terms = means.terms
        self._picks = 0
        self._child: WorkerProcess
        self._began = self._end = 0.0
        self._paused_at = 0.0
        self.is_suspect = place.is_suspect
        """Whether it may cost its worker, as one for the same suspect did of late."""
        self.due = 0.0
        """When to look next (monotonic seconds), should no receipt have come by then."""

    @property
    def is_paused(self) -> bool:
        """Whether its worker is stopped until there is a CPU for it."""
        return self._paused_at != 0.0

    def begin(self, child: WorkerProcess) -> None:
        """Hand the request over."""
        if not child.counts_cpu:
            self._terms = replace(self._terms, counts_cpu=False)
        self._child = child
        self._began = time.monotonic()
        self._end = self._began + self._means.terms.timeout_seconds * _MAX_STRETCH
        self.due = self._began + LOOK_SECONDS
        if self.is_suspect:
            child.set_aside()
        child.begin(self._data)

    def look(self, now: float) -> bool:
        """No receipt has come by ``due``: see how it does; False when its time is over."""
        used_seconds = self._child.used_seconds()
        if used_seconds > HEAVY_SECONDS and not self._place.is_slow:
            self._means.costs.note(self._program, used_seconds)
            self._place.give_way()
        if self._place.is_paused is not self.is_paused:
            self._follow(now)
        self.due = now + LOOK_SECONDS
        if now >= self._deadline or (now >= self._end and not self.is_paused):
            return False
        return used_seconds < self._limit_seconds() + _GRACE_SECONDS

    def _follow(self, now: float) -> None:
        """Stop the worker, or let it go on, as its place says; being paused takes no time."""
        if self._place.is_paused:
            self._child.pause()
            self._paused_at = now
        else:
            self._child.resume()
            self._end += now - self._paused_at
            self._paused_at = 0.0

    def end(self, frame: bytes | None) -> Reply | WorkerLost | None:
        """What a receipt says; no bytes: the worker is gone, None: it is late.

        None is returned for a worker that was dying when it was picked: begin with another one.
        """
        child = self._child
        if frame:
            if self.is_paused:
                # It had answered before it was stopped.
                child.resume()
            return self._read(child, frame)
        if frame is None or child.has_begun():
            now = time.monotonic()
            return WorkerLost(
                child,
                seconds=now - self._began,
                used_seconds=child.used_seconds(),
                is_late=frame is None,
                is_at_deadline=frame is None and now >= self._deadline,
            )
        self._means.crew.replace_later(child)
        self._picks += 1
        if self._picks < _MAX_ATTEMPTS:
            return None
        return self._failed(Cause.KILLED, self._terms, detail="workers end before they begin")

    def explain(self, loss: WorkerLost, on_end: Callable[[], object] = bool) -> Failed:
        """What a worker died of, which takes a while; one that is late is not waited for.

        ``on_end`` is called, in any thread, when its process has ended.
        """
        child, crew, terms = loss.child, self._means.crew, _narrowed(self._terms, loss.child)
        used_seconds = loss.used_seconds
        log = sanitize_stderr(child.last_words())
        if used_seconds >= terms.timeout_seconds:
            crew.replace_later(child, on_end)
            return self._timed_out(terms, log, used_seconds)
        if loss.is_late:
            # Others had the CPU, and it is not to blame.
            crew.replace_later(child, on_end)
            return Failed(
                error=outcome.starved(
                    used_seconds, loss.seconds, is_at_deadline=loss.is_at_deadline
                ),
                cause=Cause.STARVED,
                log=log,
                waited_seconds=self._place.waited_seconds,
                cpu_seconds=used_seconds,
            )
        death = crew.replace(child)
        on_end()
        cause = outcome.cause_of(death, terms)
        if cause is Cause.TIMEOUT:
            return self._timed_out(terms, log, terms.timeout_seconds)
        if cause is not Cause.KILLED:
            self._means.suspects.add(self._suspect)
        return self._failed(cause, terms, log=log, detail=f"wait status {death.status}")

    def _timed_out(self, terms: AppliedLimits, log: str, used_seconds: float) -> Failed:
        if self._is_suspicious(used_seconds):
            self._means.suspects.add(self._suspect)
        self._learn(used_seconds)
        failed = self._failed(Cause.TIMEOUT, terms, log=log)
        return replace(failed, cpu_seconds=used_seconds)

    def _is_suspicious(self, used_seconds: float) -> bool:
        """Whether a run that came to nothing has cost much, by the operator's measure."""
        return used_seconds > self._means.terms.timeout_seconds * _SUSPICIOUS_SHARE

    def _read(self, child: WorkerProcess, frame: bytes) -> Reply:
        crew = self._means.crew
        used_seconds = child.used_seconds()
        self._learn(used_seconds)
        try:
            receipt = Receipt.unpack(frame)
            response, text = child.payload(receipt)
            reply = self._to_reply(response, report.from_json(text), used_seconds)
        except ValueError as error:
            crew.replace_later(child)
            detail = f"its worker answered with {error}"
            return self._failed(Cause.CRASH, self._terms, detail=detail)
        if isinstance(reply, Answered) and not reply.diagnostics:
            self._means.suspects.forgive(self._suspect)
            self._means.pace.learn(used_seconds)
        elif isinstance(reply, Failed) or self._is_suspicious(used_seconds):
            self._means.suspects.add(self._suspect)
        child.finish(max(len(self._data), receipt.payload_length + receipt.report_length))
        if isinstance(reply, Failed):
            crew.replace_later(child)
        elif receipt.is_last or not child.is_reusable:
            crew.retire(child)
        else:
            crew.give_back(child)
        return reply

    def _to_reply(self, response: bytes, told: report.WorkerReport, used_seconds: float) -> Reply:
        if told.cause is None:
            return Answered(
                response=response,
                diagnostics=told.diagnostics,
                info=told.info,
                log=told.log,
                waited_seconds=self._place.waited_seconds,
                cpu_seconds=used_seconds,
            )
        return Failed(
            error=outcome.explain(told.cause, _narrowed(self._terms, self._child), told.detail),
            cause=told.cause,
            log=told.log,
            detail=told.trace,
            waited_seconds=self._place.waited_seconds,
            cpu_seconds=used_seconds,
        )

    def _suspect(self) -> Hashable:
        return self._means.suspect_of(self._data)

    def _program(self) -> Hashable:
        return self._means.program_of(self._data)

    def _learn(self, used_seconds: float) -> None:
        self._means.costs.learn(self._program, self._suspect, used_seconds)

    def _limit_seconds(self) -> float:
        """The time in force; a worker can only narrow it."""
        return _narrowed(self._terms, self._child).timeout_seconds

    def _failed(
        self, cause: Cause, terms: AppliedLimits, *, log: str = "", detail: str = ""
    ) -> Failed:
        return Failed(
            error=outcome.explain(cause, terms),
            cause=cause,
            log=log,
            detail=detail,
            waited_seconds=self._place.waited_seconds,
        )


def _narrowed(terms: AppliedLimits, child: WorkerProcess) -> AppliedLimits:
    """The terms after the input had its say."""
    timeout_seconds, memory_bytes = child.limits_in_force()
    if 0 < timeout_seconds < terms.timeout_seconds:
        terms = replace(terms, timeout_seconds=timeout_seconds, timeout_set_by="limits.timeout")
    if 0 < memory_bytes < terms.memory_bytes:
        terms = replace(terms, memory_bytes=memory_bytes, memory_set_by="limits.memory")
    return terms

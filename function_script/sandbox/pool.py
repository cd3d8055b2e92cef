"""The pool: one request to one worker, under limits, with an explanation for each that is lost.

The server and the local tools call ``run``, from any thread. A pool knows limits and processes;
it reads neither requests nor responses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from function_script.errors import SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import machine, outcome, report
from function_script.sandbox.crew import Crew
from function_script.sandbox.frames import Receipt
from function_script.sandbox.nursery import Nursery
from function_script.sandbox.outcome import Answered, Cause, Failed, Reply, Terms
from function_script.sandbox.pace import Pace
from function_script.sandbox.places import Places
from function_script.sandbox.settings import Settings
from function_script.sandbox.speech import to_text

if TYPE_CHECKING:
    from types import TracebackType

    from function_script.sandbox.child import Child
    from function_script.sandbox.places import Place

_LOOK_SECONDS = 0.0125
# On a crowded machine a run can get nowhere: it gives way after this share of its time as well.
_GIVE_WAY_SHARE = 0.5
# The worker's own alarm comes first; this one is for when it does not.
_GRACE_SECONDS = 0.1
# Nobody waits longer for a worker: Crossplane gives a whole pipeline two minutes.
_PATIENCE_SECONDS = 600.0
_MAX_PICKS = 3
# A response is at most the desired state that came with the request, and what the step adds.
_ROOM_FOR_OUTPUT_BYTES = 16 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How a pool is run.

    ``workers`` run programs at the same time, ``slow_workers`` more may be busy with long ones
    (None: as many as the machine bears); ``spare`` idle ones are kept ready when others are lost.
    ``module``, ``preload`` and ``rehearsals`` make workers warm at birth (see Settings).
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=machine.quick_workers)
    slow_workers: int | None = None
    spare: int = 1
    max_waiting: int = 1_000
    max_request_bytes: int = 64 * MIB
    max_runs: int = 10_000
    module: str = "function_script.function"
    preload: tuple[str, ...] = ()
    rehearsals: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A worker that did not answer within ``seconds``: it has ended, or is to be ended."""

    child: Child
    seconds: float


class Pool:
    """Starts on construction, ends with the ``with`` block or ``close``."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
        slow = options.slow_workers
        if slow is None:
            slow = machine.slow_workers(options.limits.memory_bytes, options.workers)
        self._places = Places(quick=options.workers, slow=slow, waiting=options.max_waiting)
        self._pace = Pace(options.limits.timeout_seconds)
        settings = Settings(
            module=options.module,
            preload=options.preload,
            rehearsals=options.rehearsals,
            limits=options.limits,
            max_runs=options.max_runs,
        )
        nursery = Nursery(settings, options.max_request_bytes + _ROOM_FOR_OUTPUT_BYTES)
        self._crew = Crew(nursery, max_idle=options.workers + options.spare, spare=options.spare)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def fill(self) -> None:
        """Have workers ready before the first request; raises SandboxError when it cannot be."""
        self._crew.hire(self._options.workers)

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request in a worker.

        ``timeout_seconds`` is what is left of the caller's time, waiting for a worker included;
        None: no other limit than the step's own. Never raises for what a program did.
        """
        if len(data) > self._options.max_request_bytes:
            return outcome.too_large(len(data), self._options.max_request_bytes)
        left = _PATIENCE_SECONDS if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + min(left, _PATIENCE_SECONDS)
        place = self._places.enter(deadline)
        if isinstance(place, Failed):
            return place
        terms = self._terms(deadline)
        with place:
            reply = self._run_at(place, data, terms)
        if isinstance(reply, Loss):
            # The next one may run meanwhile: a large process takes its time to end.
            reply = self._explain(reply, terms)
        return replace(reply, waited_seconds=place.waited_seconds)

    def close(self) -> None:
        """End all processes."""
        self._crew.close()

    def _terms(self, deadline: float) -> Terms:
        limits = self._options.limits
        terms = Terms(timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes)
        left = max(deadline - time.monotonic(), 0.0)
        if left < terms.timeout_seconds:
            terms = replace(terms, timeout_seconds=left, timeout_set_by="the call's deadline")
        return terms

    def _run_at(self, place: Place, data: bytes, terms: Terms) -> Reply | Loss:
        """Evaluate in the next worker that lives to begin; one may be dying when it is picked."""
        for _ in range(_MAX_PICKS):
            try:
                child = self._crew.take()
            except SandboxError as error:
                return Failed(error=error, cause=Cause.KILLED)
            started = time.monotonic()
            child.begin(data, terms.timeout_seconds)
            frame = self._await_receipt(child, place, terms.timeout_seconds)
            if frame:
                return self._read(child, frame, terms, len(data))
            if frame is None or child.has_begun():
                return Loss(child=child, seconds=time.monotonic() - started)
            self._crew.replace(child)
        return _failed(Cause.KILLED, terms, detail="workers end before they begin")

    def _await_receipt(self, child: Child, place: Place, timeout_seconds: float) -> bytes | None:
        """The next frame (see Child.receipt), while a long run is moved out of the others' way."""
        started = time.monotonic()
        end = started + timeout_seconds + _GRACE_SECONDS
        while not place.is_slow:
            left = end - time.monotonic()
            frame = child.receipt(min(left, _LOOK_SECONDS))
            if frame is not None or left <= _LOOK_SECONDS:
                return frame
            is_long = child.used_seconds() > self._pace.long_seconds()
            is_late = time.monotonic() - started > timeout_seconds * _GIVE_WAY_SHARE
            if (is_long or is_late) and place.give_way() and is_long:
                child.slow_down()
        return child.receipt(end - time.monotonic())

    def _read(self, child: Child, frame: bytes, terms: Terms, request_bytes: int) -> Reply:
        try:
            receipt = Receipt.unpack(frame)
            reply = _to_reply(*child.payload(receipt), _narrowed(terms, child))
        except ValueError as error:
            self._crew.replace_later(child)
            return _failed(Cause.CRASH, terms, detail=f"its worker answered with {error}")
        if isinstance(reply, Answered) and not reply.diagnostics:
            self._pace.learn(child.used_seconds())
        child.finish(max(request_bytes, receipt.payload_length + receipt.report_length))
        if receipt.is_last or not child.is_reusable:
            self._crew.replace_later(child)
        else:
            self._crew.give_back(child)
        return reply

    def _explain(self, loss: Loss, terms: Terms) -> Failed:
        """Find out what a worker died of; one that is late is not waited for."""
        child, terms = loss.child, _narrowed(terms, loss.child)
        log = to_text(child.last_words())
        if loss.seconds >= terms.timeout_seconds:
            self._crew.replace_later(child)
            return _failed(Cause.TIMEOUT, terms, log=log)
        death = self._crew.replace(child)
        cause = outcome.cause_of(death, terms)
        return _failed(cause, terms, log=log, detail=f"wait status {death.status}")


def _to_reply(response: bytes, text: bytes, terms: Terms) -> Reply:
    told = report.from_json(text)
    if told.cause is None:
        return Answered(
            response=response, diagnostics=told.diagnostics, facts=told.facts, log=told.log
        )
    error = outcome.explain(told.cause, terms, told.detail)
    return Failed(error=error, cause=told.cause, log=told.log, detail=told.trace)


def _failed(cause: Cause, terms: Terms, *, log: str = "", detail: str = "") -> Failed:
    return Failed(error=outcome.explain(cause, terms), cause=cause, log=log, detail=detail)


def _narrowed(terms: Terms, child: Child) -> Terms:
    """The terms after the input had its say."""
    timeout_seconds, memory_bytes = child.limits_in_force()
    if 0 < timeout_seconds < terms.timeout_seconds:
        terms = replace(terms, timeout_seconds=timeout_seconds, timeout_set_by="limits.timeout")
    if 0 < memory_bytes < terms.memory_bytes:
        terms = replace(terms, memory_bytes=memory_bytes, memory_set_by="limits.memory")
    return terms

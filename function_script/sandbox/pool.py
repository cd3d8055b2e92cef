"""The pool: warm workers, one request each at a time, and another worker for each that is lost.

The server and the local tools call ``run``, from any thread. A pool knows limits and processes;
it reads neither requests nor responses.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from function_script.errors import SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import machine, outcome, report
from function_script.sandbox.frames import Receipt
from function_script.sandbox.nursery import Nursery
from function_script.sandbox.outcome import Answered, Cause, Death, Failed, Reply, Terms
from function_script.sandbox.places import Place, Places
from function_script.sandbox.settings import Settings
from function_script.sandbox.speech import to_text

if TYPE_CHECKING:
    from types import TracebackType

    from function_script.sandbox.child import Child

# After this a run no longer holds up the next in the queue …
_GIVE_WAY_SECONDS = 0.05
# … and after this it no longer competes with it for the CPU.
_SLOW_DOWN_SECONDS = 0.25
_MAX_PICKS = 3
# Nobody waits longer for a worker: Crossplane gives a whole pipeline two minutes.
_PATIENCE_SECONDS = 600.0
# The worker's own alarm comes first; this one is for when it does not.
_GRACE_SECONDS = 0.1
# A response is at most the desired state that came with the request, and what the step adds.
_ROOM_FOR_OUTPUT_BYTES = 16 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How a pool is run.

    ``workers`` run short programs at the same time, ``slow_workers`` more may be busy with long
    ones; ``spare`` idle workers are kept ready. ``module`` names the handler (see Settings).
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=machine.cpus)
    slow_workers: int | None = None
    spare: int = 1
    max_waiting: int = 1_000
    max_request_bytes: int = 64 * MIB
    max_runs: int = 10_000
    module: str = "function_script.function"
    preload: tuple[str, ...] = ()


class Pool:
    """Starts on construction, ends with the ``with`` block or ``close``."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
        slow = options.slow_workers
        if slow is None:
            slow = machine.slow_workers(options.limits.memory_bytes, options.workers)
        self._places = Places(quick=options.workers, slow=slow, waiting=options.max_waiting)
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._is_closed = False
        settings = Settings(
            module=options.module,
            preload=options.preload,
            limits=options.limits,
            max_runs=options.max_runs,
        )
        capacity_bytes = options.max_request_bytes + _ROOM_FOR_OUTPUT_BYTES
        self._nursery = Nursery(settings, capacity_bytes)

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
        for _ in range(self._options.workers):
            self._give_back(self._nursery.fork())

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
        with place:
            return self._evaluate_somewhere(data, place, deadline)

    def close(self) -> None:
        """End the idle workers and the zygote, and with it every other worker."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            self._end(child)
        self._nursery.close()

    def _evaluate_somewhere(self, data: bytes, place: Place, deadline: float) -> Reply:
        """Evaluate in the next worker that lives to begin; one may be dying when it is picked."""
        for _ in range(_MAX_PICKS):
            try:
                child = self._take()
            except SandboxError as error:
                return Failed(error=error, cause=Cause.KILLED)
            reply = self._evaluate(child, data, place, deadline)
            if reply is not None:
                return reply
        terms = _terms(self._options.limits, deadline - time.monotonic())
        return _failed(Cause.KILLED, terms, detail="workers end before they begin")

    def _evaluate(self, child: Child, data: bytes, place: Place, deadline: float) -> Reply | None:
        """The reply; None when the worker ended before it had looked at the request."""
        started = time.monotonic()
        terms = _terms(self._options.limits, deadline - started)
        child.begin(data, terms.timeout_seconds)
        frame = _await_receipt(child, place, started, terms.timeout_seconds)
        timeout_seconds, memory_bytes = child.limits_in_force()
        if frame == b"" and not timeout_seconds:
            self._replace(child)
            return None
        terms = _narrowed(terms, timeout_seconds, memory_bytes)
        if not frame:
            return self._post_mortem(child, terms, is_late=frame is None)
        try:
            receipt = Receipt.unpack(frame)
            reply = _read(child, receipt, terms)
        except ValueError as error:
            self._replace(child)
            return _failed(Cause.CRASH, terms, detail=f"its worker answered with {error}")
        child.finish(max(len(data), receipt.payload_length + receipt.report_length))
        if receipt.is_last or not child.is_reusable:
            self._replace(child)
        else:
            self._give_back(child)
        return reply

    def _post_mortem(self, child: Child, terms: Terms, *, is_late: bool) -> Failed:
        """Find out what a worker died of, having killed it first when it ``is_late``."""
        child.kill()
        printed = child.last_words()
        death = self._replace(child)
        cause = Cause.TIMEOUT if is_late else outcome.cause_of(death, terms)
        return _failed(cause, terms, log=to_text(printed), detail=f"wait status {death.status}")

    def _take(self) -> Child:
        """The worker that was busy last, for its caches are warmest; or a new one."""
        while True:
            with self._lock:
                if not self._idle:
                    break
                child = self._idle.pop()
            if child.is_alive():
                return child
            self._end(child)
        return self._nursery.fork()

    def _give_back(self, child: Child) -> None:
        with self._lock:
            is_wanted = len(self._idle) < self._options.workers + self._options.spare
            if is_wanted and not self._is_closed:
                self._idle.append(child)
                return
        self._end(child)

    def _replace(self, child: Child) -> Death:
        """End a worker, and have another ready when few are."""
        death = self._end(child)
        with self._lock:
            is_needed = len(self._idle) < self._options.spare and not self._is_closed
        if is_needed:
            with suppress(SandboxError):
                self._give_back(self._nursery.fork())
        return death

    def _end(self, child: Child) -> Death:
        child.kill()
        death = self._nursery.reap(child.pid)
        child.close()
        return death


def _await_receipt(
    child: Child, place: Place, started: float, timeout_seconds: float
) -> bytes | None:
    """The frame; the longer it takes, the less this run may hold up the others."""
    end = started + timeout_seconds + _GRACE_SECONDS
    frame = child.receipt(min(started + _GIVE_WAY_SECONDS, end) - time.monotonic())
    if frame is None:
        place.give_way()
        frame = child.receipt(min(started + _SLOW_DOWN_SECONDS, end) - time.monotonic())
    if frame is None:
        if place.is_slow:
            child.slow_down()
        frame = child.receipt(end - time.monotonic())
    return frame


def _read(child: Child, receipt: Receipt, terms: Terms) -> Reply:
    response, text = child.payload(receipt)
    told = report.from_json(text)
    if told.cause is None:
        return Answered(
            response=response, diagnostics=told.diagnostics, facts=told.facts, log=told.log
        )
    error = outcome.explain(told.cause, terms, told.detail)
    return Failed(error=error, cause=told.cause, log=told.log, detail=told.trace)


def _failed(cause: Cause, terms: Terms, *, log: str = "", detail: str = "") -> Failed:
    return Failed(error=outcome.explain(cause, terms), cause=cause, log=log, detail=detail)


def _terms(limits: Limits, left_seconds: float) -> Terms:
    if left_seconds < limits.timeout_seconds:
        return Terms(
            timeout_seconds=max(left_seconds, 0.0),
            memory_bytes=limits.memory_bytes,
            timeout_set_by="the call's deadline",
        )
    return Terms(timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes)


def _narrowed(terms: Terms, timeout_seconds: float, memory_bytes: int) -> Terms:
    """The terms after the input had its say."""
    if 0 < timeout_seconds < terms.timeout_seconds:
        terms = replace(terms, timeout_seconds=timeout_seconds, timeout_set_by="limits.timeout")
    if 0 < memory_bytes < terms.memory_bytes:
        terms = replace(terms, memory_bytes=memory_bytes, memory_set_by="limits.memory")
    return terms

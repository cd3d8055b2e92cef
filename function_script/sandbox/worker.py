"""The life of a worker process: take a request, evaluate it under its limits, answer, again.

A fresh process calls ``serve``. Nothing of one request is kept for the next, except what the
handler caches by content.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from function_script import redaction
from function_script.limits import MIB, Limits
from function_script.sandbox import report
from function_script.sandbox.ipc import Receipt
from function_script.sandbox.outcome import MAX_LOG_BYTES, Cause
from function_script.sandbox.report import WorkerReport
from function_script.sandbox.speech import sanitize_stderr

if TYPE_CHECKING:
    from function_script.diagnostics import Diagnostic
    from function_script.sandbox.channel import Channel
    from function_script.sandbox.ipc import Request
    from function_script.sandbox.rlimits import Watchdog
    from function_script.telemetry import RequestInfo

# Caches may grow a worker up to here; then a fresh one takes over.
_MAX_GROWTH_BYTES = 64 * MIB
_STDERR = 2


class HandlerResult(Protocol):
    """What a handler returns."""

    @property
    def response(self) -> bytes:
        """The RunFunctionResponse."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems in the response, for the operator's log."""

    @property
    def info(self) -> RequestInfo:
        """Identity, counts and limit of the request, for the log."""


Handle: TypeAlias = Callable[[bytes, Limits, Callable[[Limits], None]], HandlerResult]


class Memory(Protocol):
    """The memory that a worker has added since it was idle."""

    def limit(self, max_bytes: int) -> None:
        """Let the worker add at most ``max_bytes`` from now on."""

    def grown_bytes(self) -> int:
        """Count what the worker holds beyond what it had when it was idle."""


class Worker:
    """One end of a pair; ``memory`` was taken when the process was still idle."""

    def __init__(
        self,
        *,
        channel: Channel,
        handle: Handle,
        limits: Limits,
        memory: Memory,
        alarm: Watchdog,
    ) -> None:
        self._channel = channel
        self._handle = handle
        self._limits = limits
        self._memory = memory
        self._alarm = alarm

    def serve(self, max_runs: int) -> None:
        """Answer requests until the pool hangs up, at most ``max_runs`` of them."""
        for runs_left in range(max_runs - 1, -1, -1):
            request = self._channel.receive()
            if request is None:
                return
            if self._answer(request, is_last=runs_left == 0):
                return

    def _answer(self, request: Request, *, is_last: bool) -> bool:
        self._alarm.set(self._limits.timeout_seconds)
        response, told = self._evaluate(request)
        text = report.to_bounded_json(told)
        if len(response) + len(text) > self._channel.capacity_bytes:
            response, text = b"", report.to_json(WorkerReport(cause=Cause.OUTPUT))
            told = WorkerReport(cause=Cause.OUTPUT)
        receipt = Receipt(
            is_answer=told.cause is None,
            is_last=is_last or self._is_spent(told),
            payload_length=len(response),
            report_length=len(text),
        )
        # The pool keeps a worker that has answered, so none may die of an alarm after that.
        self._alarm.call_off()
        self._channel.send(receipt, response, text)
        return receipt.is_last

    def _evaluate(self, request: Request) -> tuple[bytes, WorkerReport]:
        data = self._channel.read(request.length)
        limits = self._limits
        self._channel.put_limits(limits.timeout_seconds, limits.memory_bytes)
        try:
            answer = self._handle(data, limits, self._narrow(limits))
        except BaseException as error:  # noqa: BLE001 # panics are BaseExceptions, and so are tricks
            self._memory.limit(self._limits.memory_bytes)
            failure = _failure(error, data)
            return b"", replace(failure, log=_take_log())
        self._memory.limit(self._limits.memory_bytes)
        told = WorkerReport(diagnostics=answer.diagnostics, info=answer.info, log=_take_log())
        return answer.response, told

    def _narrow(self, limits: Limits) -> Callable[[Limits], None]:
        started = self._alarm.now()

        def on_limits(narrowed: Limits) -> None:
            self._channel.put_limits(narrowed.timeout_seconds, narrowed.memory_bytes)
            self._memory.limit(narrowed.memory_bytes)
            if narrowed.timeout_seconds < limits.timeout_seconds:
                self._alarm.set(started + narrowed.timeout_seconds - self._alarm.now())

        return on_limits

    def _is_spent(self, told: WorkerReport) -> bool:
        return told.cause is not None or self._memory.grown_bytes() > _MAX_GROWTH_BYTES


def _take_log() -> str:
    """What was printed since the last call."""
    with suppress(OSError):
        sys.stderr.flush()
    if os.lseek(_STDERR, 0, os.SEEK_CUR) == 0:
        return ""
    printed = os.pread(_STDERR, MAX_LOG_BYTES, 0)
    os.ftruncate(_STDERR, 0)
    os.lseek(_STDERR, 0, os.SEEK_SET)
    return sanitize_stderr(printed)


def _failure(error: BaseException, data: bytes) -> WorkerReport:
    """Sort what a handler let through: exhausted memory, native panics, our own bugs."""
    if isinstance(error, MemoryError):
        return WorkerReport(cause=Cause.MEMORY)
    if isinstance(error, RecursionError):
        return WorkerReport(cause=Cause.CRASH, detail="too many nested calls")
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return WorkerReport(cause=Cause.OUTPUT)
    if type(error).__name__ == "PanicException":
        return _panic(str(error), data)
    # The exception's own text stays out: it may quote what the request holds.
    places = "".join(traceback.format_tb(error.__traceback__))
    return WorkerReport(cause=Cause.BUG, trace=f"{places}{type(error).__name__}")


def _panic(text: str, data: bytes) -> WorkerReport:
    """Sort a panic by its text, which may quote what the request in ``data`` holds."""
    for sign, cause in _PANICS:
        if sign in text:
            return WorkerReport(cause=cause)
    return WorkerReport(cause=Cause.CRASH, detail=redaction.redact_text(text, data))


# How Rust code says it: starlark allocates without asking and prints without looking, and its
# binding takes for granted that Python has room for a text.
_PANICS = (
    ("PyObject pointer is null", Cause.MEMORY),
    ("out of memory", Cause.MEMORY),
    ("AlignedSize", Cause.MEMORY),
    ("failed printing to stderr", Cause.OUTPUT),
)

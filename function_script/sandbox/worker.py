"""The loop of a worker process: receive a batch, evaluate its requests under limits, reply.

Nothing of one request is kept for the next, except what the handler caches by content.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from function_script.request.limits import MIB, EffectiveLimits, Limits
from function_script.sandbox import outcome, report
from function_script.sandbox.ipc import ReplyHeader, RequestHeader
from function_script.sandbox.outcome import MAX_LOG_BYTES, Cause, Failed, Reply
from function_script.sandbox.shared_memory import REGION_BYTES, SharedMemoryChannel
from function_script.step.telemetry import Answered
from function_script.texts import redaction

if TYPE_CHECKING:
    from function_script.sandbox.plain_worker import PeakMemory
    from function_script.sandbox.rlimits import MemoryLimit, Watchdog

# A worker that has grown by more, through its caches, is replaced by a fresh one.
_MAX_GROWTH_BYTES = 64 * MIB
_STDERR = 2


Handle: TypeAlias = Callable[[bytes, Limits, Callable[[Limits], None], bytes], Answered]


class Worker:
    """Evaluates the requests of a channel; ``memory`` was measured while the process was idle."""

    def __init__(
        self,
        *,
        channel: SharedMemoryChannel,
        handle: Handle,
        limits: Limits,
        memory: MemoryLimit | PeakMemory,
        watchdog: Watchdog,
    ) -> None:
        self._channel = channel
        self._handle = handle
        self._limits = limits
        self._memory = memory
        self._watchdog = watchdog

    def serve(self, max_runs: int) -> None:
        """Answer requests until the pool closes the channel, at most ``max_runs`` of them."""
        runs_left = max_runs
        while (requests := self._channel.receive()) is not None:
            headers = self._answer(requests)
            runs_left -= len(headers)
            is_worn = runs_left <= 0 or self._memory.grown_bytes() > _MAX_GROWTH_BYTES
            # The pool looks at the last reply of a batch only.
            if is_worn and not headers[-1].is_last:
                headers[-1] = headers[-1]._replace(is_last=True)
            # The pool uses a worker again that has answered: the timer must not kill it afterwards.
            self._watchdog.cancel()
            self._channel.send_replies(headers)
            if headers[-1].is_last:
                return

    def _answer(self, requests: list[RequestHeader]) -> list[ReplyHeader]:
        """Evaluate requests until one fails or the pool takes the rest back; store the replies."""
        start = self._watchdog.now()
        # Alone it has the whole memory, and the pool reads its CPU time from the clock of the
        # process.
        if len(requests) == 1:
            self._channel.begin(0)
            return [self._answer_request(requests[0], 0, self._channel.capacity_bytes, start)]
        headers: list[ReplyHeader] = []
        for index, request in enumerate(requests):
            if not self._channel.begin(index):
                break
            header = self._answer_request(request, index, REGION_BYTES, start)
            end = self._watchdog.now()
            headers.append(header._replace(cpu_microseconds=int((end - start) * 1e6)))
            start = end
            if header.is_last:
                break
        return headers

    def _answer_request(
        self, request: RequestHeader, index: int, capacity_bytes: int, start: float
    ) -> ReplyHeader:
        """Evaluate one request and store its reply; ``is_last`` when it has failed.

        The watchdog's clock shows ``start``: reading it is a system call.
        """
        self._watchdog.set(self._limits.timeout_seconds, start)
        reply = self._evaluate(request, index, start)
        response = reply.response if isinstance(reply, Answered) else b""
        text = report.to_bounded_json(reply)
        if len(response) + len(text) > capacity_bytes:
            if capacity_bytes < self._channel.capacity_bytes:
                # It has room alone.
                return ReplyHeader(is_last=False, payload_length=0, report_length=0)
            reply = outcome.response_too_large_error(len(response), capacity_bytes)
            response, text = b"", report.to_json(reply)
        self._channel.write(response, text, index=index)
        # A failed run may leave anything behind, so this process does not get another request.
        return ReplyHeader(
            is_last=isinstance(reply, Failed),
            payload_length=len(response),
            report_length=len(text),
        )

    def _evaluate(self, request: RequestHeader, index: int, start: float) -> Reply:
        data = self._channel.read(request.length, index=index)
        limits = EffectiveLimits(self._limits, partial(self._apply_limits, index, start))
        try:
            reply = self._handle(data, self._limits, limits.narrow, request.seed)
        except BaseException as error:  # noqa: BLE001 # panics are BaseExceptions, and so are tricks
            # To report the failure takes memory that the input may have denied itself.
            self._memory.limit(self._limits.memory_bytes)
            return _explain_failure(error, limits, data)
        self._memory.limit(self._limits.memory_bytes)
        log = _take_stderr()
        return replace(reply, log=log) if log else reply

    def _apply_limits(self, index: int, start: float, narrowed: Limits) -> None:
        """Apply the limits of the input of the request at ``index``, which began at ``start``."""
        is_shorter = narrowed.timeout_seconds < self._limits.timeout_seconds
        if is_shorter or narrowed.memory_bytes < self._limits.memory_bytes:
            self._channel.narrow(index, narrowed.timeout_seconds, narrowed.memory_bytes)
        self._memory.limit(narrowed.memory_bytes)
        if is_shorter:
            now = self._watchdog.now()
            self._watchdog.set(start + narrowed.timeout_seconds - now, now)


def run_until_exit(serve: Callable[[], None]) -> NoReturn:
    """Call ``serve`` in the process of a worker, and exit."""
    code = 1
    try:
        serve()
        code = 0
    except MemoryError:
        # Not even the report could be written; the signal tells the pool why.
        os.abort()
    except BaseException as error:  # noqa: BLE001 - the process exits in any case
        # The pool logs this when it finds that the worker has exited.
        os.write(2, f"{_exception_site(error)}\n".encode())
    finally:
        # Without the cleanup of the interpreter, whose files and callbacks may be a zygote's.
        os._exit(code)


def _exception_site(error: BaseException) -> str:
    """Return the frames and the type of an exception.

    Its own text is left out: it may quote the request.
    """
    return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__


def _take_stderr() -> str:
    """Return and remove the text that was printed since the last call."""
    with suppress(OSError):
        sys.stderr.flush()
    # Hardly any run prints, and this is one cheap call.
    if os.lseek(_STDERR, 0, os.SEEK_CUR) == 0:
        return ""
    printed = os.pread(_STDERR, MAX_LOG_BYTES, 0)
    os.ftruncate(_STDERR, 0)
    os.lseek(_STDERR, 0, os.SEEK_SET)
    return outcome.sanitize_stderr(printed)


def _explain_failure(error: BaseException, limits: EffectiveLimits, data: bytes) -> Failed:
    """Distinguish memory, output and nesting limits, native panics and our own bugs."""
    detail = trace = ""
    if isinstance(error, MemoryError):
        cause = Cause.MEMORY
    elif isinstance(error, RecursionError):
        cause, detail = Cause.CRASH, "too many nested calls"
    # The limit of file sizes is that of the log; Python ignores its signal, so the write fails.
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        cause = Cause.OUTPUT
    # By its name: PyO3 makes a class of its own for each binding, and no module exports it.
    elif type(error).__name__ == "PanicException":
        cause = outcome.panic_cause(str(error)) or Cause.CRASH
        if cause is Cause.CRASH:
            # It may quote the request.
            detail = redaction.redact_text(str(error), data)
    else:
        cause, trace = Cause.BUG, _exception_site(error)
    fatal = outcome.explain(cause, limits, detail)
    return Failed(error=fatal, cause=cause, log=_take_stderr(), detail=trace)

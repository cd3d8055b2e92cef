"""The log: one JSON object per line on standard error, or readable text with --debug.

A line carries the identity of an XR and the outcome of its request, and never the contents of the
request. A thread writes the lines from a bounded queue, so a reader of standard error that stalls
does not delay responses: lines are dropped and counted when the queue is full.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from function_script.request.limits import MIB
from function_script.server.background import Background
from function_script.server.request_record import FATAL, RequestRecord
from function_script.step.telemetry import IDENTITY
from function_script.texts import diagnostics, redaction
from function_script.texts.diagnostics import Diagnostic

Fields: TypeAlias = Mapping[str, str | int | float]

MAX_PRINTED_REQUEST_BYTES: Final = 4 * MIB
"""The printed text of a larger request is withheld, because requests in the queue use memory."""

WITHHELD: Final = (
    "the text is withheld: too many others wait to be searched for secrets, or its request has "
    f"more than {MAX_PRINTED_REQUEST_BYTES // MIB} MiB"
)

_PACKAGE = "function_script"
_STDERR: Final = 2
_MAX_QUEUED_BYTES: Final = 3 * MIB
# Of the record of a request, without its texts.
_RECORD_BYTES: Final = 700
_DRAIN_SECONDS: Final = 2.0
_GATHERING_SECONDS: Final = 0.01
# For each value. --debug allows more, because its values are what the operator looks for.
_MAX_BYTES = 2 * 1024
_MAX_DEBUG_BYTES = 64 * 1024
_MAX_BYTES_PER_CHARACTER = 4
# The thread sleeps this multiple of the time that a text took, which leaves the CPU to requests.
_PRINTED_REST: Final = 3
# The messages are constants of this package, so they are not cut.
_MESSAGE = "msg"
_LOG = logging.getLogger(__name__)
_ROOT = logging.getLogger(_PACKAGE)


def start(*, debug: bool) -> None:
    """Send the log, and warnings of libraries, to standard error; as text with ``debug``."""
    handler = LineHandler()
    handler.setFormatter(_TextFormatter() if debug else _JsonFormatter())
    for name, level in (
        (_PACKAGE, logging.DEBUG if debug else logging.INFO),
        *((library, logging.WARNING) for library in ("asyncio", "grpc", "opentelemetry")),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def dropped_lines() -> int:
    """Return the number of lines that were dropped because the log's reader had stalled."""
    return sum(handler.dropped for handler in _line_handlers())


def fields(**values: str | float) -> dict[str, Fields]:
    """Return values for the ``extra`` of a log call; they become keys of the line."""
    return {"fields": values}


def write(record: RequestRecord, problems: Sequence[Diagnostic] = ()) -> None:
    """Log the line of a request; with --debug also the problems of a step that failed.

    ``problems`` may quote values of the request.
    """
    if _LOG.isEnabledFor(logging.DEBUG):
        level = logging.getLevelNamesMapping()[record.level.upper()]
        _LOG.log(level, _message(record), extra={"fields": fields_of(record)})
        if record.outcome == FATAL:
            frames = "\n".join(diagnostics.to_frame(problem) for problem in problems)
            _LOG.debug("the problems", extra=fields(problems=frames + "\n"))
        return
    # A logging call would take several times as long.
    for handler in _line_handlers():
        handler.write(record)


def fields_of(record: RequestRecord) -> Fields:
    """Return the keys of a request's line without those that every line has."""
    info = record.info
    values: dict[str, str | int | float] = {
        "outcome": record.outcome,
        **info.identity(),
        "milliseconds": round(record.seconds * 1000, 2),
        "waited_milliseconds": round(record.waited_seconds * 1000, 2),
        "cpu_milliseconds": round(record.cpu_seconds * 1000, 2),
    }
    if info.program_microseconds is not None:
        values["program_milliseconds"] = round(info.program_microseconds / 1000, 2)
    values["request_bytes"] = record.request_bytes
    values["response_bytes"] = record.response_bytes
    values.update(info.counts())
    if info.limit:
        values["limit"] = info.limit
    if record.error:
        values["error"] = record.error
    if record.detail:
        values["detail"] = record.detail
    return values


class PrintedTextLogger:
    """Logs the texts that programs print, without the secrets of their requests, for --debug.

    A thread searches the texts for secrets, so no response waits for the search. A text that
    arrives while the queue is full is withheld.
    """

    def __init__(self) -> None:
        self._background = Background("printing", _search_printed, _PRINTED_REST)
        self.close = self._background.close
        """Log the texts in the queue, for a few seconds at most."""

    def submit(self, text: str, identity: Mapping[str, str], request: bytes) -> None:
        """Enqueue a text that the program of ``request`` printed; never block."""
        is_small = len(request) <= MAX_PRINTED_REQUEST_BYTES
        if not (is_small and self._background.submit(text, identity, request)):
            _write_printed(WITHHELD, identity)


def _search_printed(text: str, identity: Mapping[str, str], request: bytes) -> None:
    _write_printed(redaction.redact_text(text, request), identity)


def _write_printed(text: str, identity: Mapping[str, str]) -> None:
    _LOG.debug("the program printed", extra=fields(**identity, printed=text + "\n"))


class LineHandler(logging.Handler):
    """Writes lines to a file descriptor in a thread of its own, and never blocks its caller.

    The thread waits a moment after the first line, so that it is woken once for many, and formats
    those of requests one after the other.
    """

    def __init__(self, descriptor: int = _STDERR) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._queue: deque[str | tuple[float, RequestRecord]] = deque()
        self._queued_bytes = 0
        self._changed = threading.Condition()
        self._is_closed = False
        self.dropped = 0
        """The number of lines that were dropped because the queue was full."""
        # The dropped lines that a line of the log has told.
        self._reported = 0
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record."""
        line = self.format(record)
        self._enqueue(line, line.__sizeof__())

    def write(self, record: RequestRecord) -> None:
        """Write the line of a request that ends now."""
        info = record.info
        texts = *info[: len(IDENTITY)], info.bug, record.error, record.detail, record.parent
        size = _RECORD_BYTES + sum(map(str.__sizeof__, texts))
        self._enqueue((time.time(), record), size)

    def _enqueue(self, line: str | tuple[float, RequestRecord], size: int) -> None:
        """Enqueue a line that takes ``size`` bytes of memory; drop it if the queue is full."""
        with self._changed:
            if self._queued_bytes + size > _MAX_QUEUED_BYTES:
                self.dropped += 1
                return
            if not self._queue:
                self._changed.notify_all()
            self._queue.append(line)
            self._queued_bytes += size
            dropped, self._reported = self.dropped - self._reported, self.dropped
        if dropped:
            text = f"{dropped} lines of the log were dropped: its reader did not take them"
            self.emit(logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, None, None))

    def drain(self) -> None:
        """Wait until all lines are written, or for two seconds if the reader has stalled."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queued_bytes, _DRAIN_SECONDS)

    def close(self) -> None:
        """Write the remaining lines, as far as the reader takes them."""
        self.drain()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        super().close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._is_closed)
                if not self._queue:
                    return
            time.sleep(_GATHERING_SECONDS)
            with self._changed:
                queue, self._queue = self._queue, deque()
                size = self._queued_bytes
            lines: list[str] = []
            while queue:
                # A record goes with its line: orjson has added the UTF-8 to its texts.
                each = queue.popleft()
                lines.append(each if isinstance(each, str) else _to_text(*each))
            # Without the lock: a reader that has stalled blocks this for as long as it likes.
            self._write_all(lines)
            with self._changed:
                # Only now, so that lines which are being written count for the bound and for
                # `drain`.
                self._queued_bytes -= size
                self._changed.notify_all()

    def _write_all(self, lines: list[str]) -> None:
        # A text of a library may have a lone surrogate, which UTF-8 cannot hold.
        rest = memoryview("\n".join([*lines, ""]).encode("utf-8", "backslashreplace"))
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            # The reader has closed its end, and there is no other place for the lines.
            return


class _JsonFormatter(logging.Formatter):
    """``{"ts": ..., "level": ..., "msg": ..., and the fields}``, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        values = dict(_read_fields(record))
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        level = record.levelname.lower()
        fixed = {"ts": _timestamp(record.created), "level": level, _MESSAGE: record.getMessage()}
        # The fixed keys come first, and a field of the same name does not replace them.
        return _to_line({**fixed, **values, **fixed})


class _TextFormatter(logging.Formatter):
    """``12:00:00.123 INFO msg key=value``, with the fields of several lines below."""

    def format(self, record: logging.LogRecord) -> str:
        timestamp = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        values = {key: _clean(str(value)) for key, value in _read_fields(record).items()}
        short = [f"{key}={value}" for key, value in values.items() if "\n" not in value]
        long = [value.rstrip("\n") for value in values.values() if "\n" in value]
        text = " ".join([timestamp, f"{record.levelname:7}", _clean(record.getMessage()), *short])
        if record.exc_info:
            long.append(self.formatException(record.exc_info))
        return "\n".join([text, *("    " + block.replace("\n", "\n    ") for block in long)])


def _line_handlers() -> list[LineHandler]:
    return [handler for handler in _ROOT.handlers if isinstance(handler, LineHandler)]


def _read_fields(record: logging.LogRecord) -> Fields:
    values: Fields = getattr(record, "fields", {})
    return values


def _to_text(end: float, record: RequestRecord) -> str:
    """Return the line of a request that ended at a time, in seconds since 1970."""
    fixed = {"ts": _timestamp(end), "level": record.level, _MESSAGE: _message(record)}
    return _to_line({**fixed, **fields_of(record)})


def _message(record: RequestRecord) -> str:
    return "answered" if record.outcome in {"ok", "fatal"} else "not answered"


def _to_line(values: Fields) -> str:
    line = _to_json(values)
    if len(line) <= _MAX_BYTES:
        return line
    return _to_json({key: _cut(key, value) for key, value in values.items()})


def _cut(key: str, value: str | float) -> str | int | float:
    if key == _MESSAGE or not isinstance(value, str):
        return value
    is_long = len(value) * _MAX_BYTES_PER_CHARACTER > _MAX_BYTES
    return diagnostics.cut(value, _MAX_BYTES) if is_long else value


def _to_json(line: Fields) -> str:
    try:
        text = orjson.dumps(line)
    except TypeError:
        # orjson does not encode a lone surrogate.
        return json.dumps(line)
    # json escapes line separators and control characters beyond ASCII, and orjson does not.
    return text.decode() if text.isascii() else json.dumps(line)


def _timestamp(seconds: float) -> str:
    """Return a time since 1970 as ``2026-11-21T12:00:00.123Z``."""
    second = int(seconds)
    return f"{_format_second(second)}.{int((seconds - second) * 1000):03}Z"


# The lines of one second share it.
@lru_cache(maxsize=1)
def _format_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def _clean(text: str) -> str:
    """Replace the control characters that a terminal would obey."""
    text = diagnostics.cut(text, _MAX_DEBUG_BYTES)
    return diagnostics.CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)

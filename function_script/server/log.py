"""The log: one JSON object per line, or with --debug text that people read as it passes.

Lines carry an XR's identity and how its request went; never a request's contents.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import orjson

from function_script import diagnostics
from function_script.server.log_writer import BatchingHandler

if TYPE_CHECKING:
    from function_script.server.log_writer import Schedule
    from function_script.server.request_record import RequestRecord

Fields: TypeAlias = Mapping[str, str | int | float]

_PACKAGE = "function_script"
# For each value; lines of --debug may be longer, since people asked for what is in them.
_MAX_BYTES = 2 * 1024
_MAX_DEBUG_BYTES = 64 * 1024
_MAX_BYTES_PER_CHARACTER = 4
# Ours, and not cut.
_MESSAGE = "msg"
_LOG = logging.getLogger(__name__)
_OURS = logging.getLogger(_PACKAGE)


def start(*, debug: bool) -> None:
    """Send the log to standard error, warnings of libraries with it.

    ``debug``: as text for people to read.
    """
    handler = BatchingHandler(_line_of)
    handler.setFormatter(_Text() if debug else _Json())
    for name, level in (
        (_PACKAGE, logging.DEBUG if debug else logging.INFO),
        ("asyncio", logging.WARNING),
        ("grpc", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def batch_lines(schedule_flush: Schedule | None) -> None:
    """Write lines of requests together, when ``schedule_flush`` says; None: each at once."""
    for handler in _handlers():
        handler.flush()
        handler.schedule_flush = schedule_flush


def dropped_lines() -> int:
    """Return how many lines were dropped so far because the log's reader had stalled."""
    return sum(handler.dropped for handler in _handlers())


def fields(**values: str | float) -> dict[str, Fields]:
    """Values for the ``extra`` of a log call; they become keys of the line."""
    return {"fields": values}


def write(record: RequestRecord) -> None:
    """The one line of a request; with --debug also its problems."""
    if _LOG.isEnabledFor(logging.DEBUG):
        level = logging.ERROR if record.is_alarming else logging.INFO
        _LOG.log(level, _message(record), extra={"fields": fields_of(record)})
        _write_problems(record)
        return
    # By way of a logging call, this would take several times as long.
    moment = time.time()
    for handler in _handlers():
        handler.enqueue(moment, record)


def write_printed(text: str, identity: Mapping[str, str]) -> None:
    """A text that the program of a request printed, for --debug; ``identity`` says whose."""
    values = {**identity, **fields(printed=text + "\n")["fields"]}
    _LOG.debug("the program printed", extra={"fields": values})


def _write_problems(record: RequestRecord) -> None:
    if record.problems:
        frames = "\n".join(diagnostics.to_frame(problem) for problem in record.problems)
        _LOG.debug("the problems", extra=fields(problems=frames + "\n"))


def _handlers() -> list[BatchingHandler]:
    return [handler for handler in _OURS.handlers if isinstance(handler, BatchingHandler)]


def _line_of(moment: float, record: RequestRecord) -> str:
    level = "error" if record.is_alarming else "info"
    values: dict[str, str | int | float] = {"ts": _stamp(moment), "level": level}
    values[_MESSAGE] = _message(record)
    return _to_line(_filled(values, record))


def _message(record: RequestRecord) -> str:
    return "answered" if record.outcome in {"ok", "fatal"} else "not answered"


def fields_of(record: RequestRecord) -> Fields:
    """What the line of a request says, without what every line says."""
    return _filled({}, record)


def _filled(values: dict[str, str | int | float], record: RequestRecord) -> Fields:
    values["outcome"] = record.outcome
    values.update(record.identity)
    values["milliseconds"] = round(record.seconds * 1000, 2)
    values["waited_milliseconds"] = round(record.waited_seconds * 1000, 2)
    values["cpu_milliseconds"] = round(record.cpu_seconds * 1000, 2)
    if record.program_seconds is not None:
        values["program_milliseconds"] = round(record.program_seconds * 1000, 2)
    values["request_bytes"] = record.request_bytes
    values["response_bytes"] = record.response_bytes
    values.update(record.counts)
    if record.limit:
        values["limit"] = record.limit
    if record.error:
        values["error"] = record.error
    if record.detail:
        values["detail"] = record.detail
    return values


def _fields_of(record: logging.LogRecord) -> Fields:
    found: Fields = getattr(record, "fields", {})
    return found


class _Json(logging.Formatter):
    """``{"ts": ..., "level": ..., "msg": ..., and the fields}``, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        values = dict(_fields_of(record))
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        level = record.levelname.lower()
        fixed = {"ts": _stamp(record.created), "level": level, _MESSAGE: record.getMessage()}
        # They come first, and no field of the same name takes their place.
        return _to_line({**fixed, **values, **fixed})


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


def _stamp(moment: float) -> str:
    """``2026-11-21T12:00:00.123Z``."""
    second = int(moment)
    return f"{_stamp_of_second(second)}.{int((moment - second) * 1000):03}Z"


@lru_cache(maxsize=1)
def _stamp_of_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def _to_json(line: Fields) -> str:
    try:
        text = orjson.dumps(line)
    except TypeError:
        # A lone surrogate.
        return json.dumps(line)
    # Line separators and control characters beyond ASCII are escaped by this one only.
    return text.decode() if text.isascii() else json.dumps(line)


class _Text(logging.Formatter):
    """``12:00:00.123 INFO msg key=value``; fields of several lines stand below."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        values = {key: _clean(str(value)) for key, value in _fields_of(record).items()}
        short = [f"{key}={value}" for key, value in values.items() if "\n" not in value]
        long = [value.rstrip("\n") for value in values.values() if "\n" in value]
        text = " ".join([stamp, f"{record.levelname:7}", _clean(record.getMessage()), *short])
        if record.exc_info:
            long.append(self.formatException(record.exc_info))
        return "\n".join([text, *("    " + block.replace("\n", "\n    ") for block in long)])


def _clean(text: str) -> str:
    """What a terminal shows and does not obey."""
    text = diagnostics.cut(text, _MAX_DEBUG_BYTES)
    return diagnostics.CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)

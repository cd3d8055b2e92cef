"""The log: one JSON object per line, or with --debug text that people read as it passes.

Lines carry an XR's identity and how its request went; never a request's contents.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

Fields: TypeAlias = Mapping[str, str | int | float]

_PACKAGE = "function_script"


def start(*, debug: bool) -> None:
    """Send the package's log to standard error; ``debug`` for people, else for machines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Text() if debug else _Json())
    logger = logging.getLogger(_PACKAGE)
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    logger.propagate = False


def fields(**values: str | float) -> dict[str, Fields]:
    """Values for the ``extra`` of a log call; they become keys of the line."""
    return {"fields": values}


def _fields_of(record: logging.LogRecord) -> Fields:
    found: Fields = getattr(record, "fields", {})
    return found


class _Json(logging.Formatter):
    """``{"ts": ..., "level": ..., "msg": ..., and the fields}``."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            **_fields_of(record),
            "ts": stamp.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "msg": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class _Text(logging.Formatter):
    """``12:00:00.123 INFO msg key=value``; fields of several lines stand below."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        values = {key: str(value) for key, value in _fields_of(record).items()}
        short = [f"{key}={value}" for key, value in values.items() if "\n" not in value]
        long = [value.rstrip("\n") for value in values.values() if "\n" in value]
        text = " ".join([stamp, f"{record.levelname:7}", record.getMessage(), *short])
        if record.exc_info:
            long.append(self.formatException(record.exc_info))
        return "\n".join([text, *("    " + block.replace("\n", "\n    ") for block in long)])

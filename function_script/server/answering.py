"""From a request's bytes to a response's bytes, by way of the sandbox, with one log line each.

The transport calls ``Desk.answer`` from many threads. Nothing in here knows gRPC.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from function_script import diagnostics, function
from function_script.sandbox import Answered
from function_script.sandbox.outcome import Cause
from function_script.server import log

if TYPE_CHECKING:
    from function_script.sandbox import Failed, Pool, Reply

_LOG = logging.getLogger(__name__)
# These are for the operator to look into; all others are the user's business.
_ALARMING = {Cause.BUG, Cause.FORBIDDEN, Cause.KILLED}


class Desk:
    """Takes requests, always gives a response, and keeps the record."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def answer(self, data: bytes, timeout_seconds: float) -> bytes:
        """The response, within ``timeout_seconds``; a FATAL when the sandbox has none."""
        started = time.perf_counter()
        reply = self._pool.run(data, timeout_seconds)
        if isinstance(reply, Answered):
            response = reply.response
        else:
            response = function.pass_through(data, reply.error)
        milliseconds = (time.perf_counter() - started) * 1000
        _record(reply, len(data), len(response), milliseconds)
        return response


def _record(reply: Reply, request_bytes: int, response_bytes: int, milliseconds: float) -> None:
    sizes = {
        "request_bytes": request_bytes,
        "response_bytes": response_bytes,
        "milliseconds": round(milliseconds, 1),
        "waited_milliseconds": round(reply.waited_seconds * 1000, 1),
    }
    if isinstance(reply, Answered):
        _record_answer(reply, sizes)
    else:
        _record_failure(reply, sizes)
    if reply.log and _LOG.isEnabledFor(logging.DEBUG):
        _LOG.debug("the program printed", extra=log.fields(printed=reply.log + "\n"))


def _record_answer(reply: Answered, sizes: dict[str, float]) -> None:
    values: dict[str, str | float] = {**reply.facts, **sizes}
    if not reply.diagnostics:
        _LOG.info("answered", extra=log.fields(**values, outcome="ok"))
        return
    error = diagnostics.to_line(reply.diagnostics)
    level = logging.ERROR if "bug" in reply.facts else logging.INFO
    _LOG.log(level, "answered", extra=log.fields(**values, outcome="fatal", error=error))
    if _LOG.isEnabledFor(logging.DEBUG):
        frames = "\n".join(diagnostics.to_frame(problem) for problem in reply.diagnostics)
        _LOG.debug("the problems", extra=log.fields(problems=frames + "\n"))


def _record_failure(reply: Failed, sizes: dict[str, float]) -> None:
    level = logging.ERROR if reply.cause in _ALARMING else logging.INFO
    values: dict[str, str | float] = {**sizes, "outcome": reply.cause.value}
    values["error"] = str(reply.error)
    if reply.detail:
        values["detail"] = reply.detail
    _LOG.log(level, "not answered", extra=log.fields(**values))

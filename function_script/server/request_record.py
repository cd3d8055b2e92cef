"""The record of one finished request, for the log, the metrics and the traces.

A record holds the identity of the XR, times and sizes, and never the contents of the request.
"""

from typing import NamedTuple

from function_script.request.limits import PRINTED
from function_script.sandbox.outcome import Cause, Reply
from function_script.step import telemetry
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts import diagnostics

OK = "ok"
FATAL = "fatal"
OUTCOMES = (OK, FATAL, *(cause.value for cause in Cause))
"""All values of a record's ``outcome``."""

# The causes that the operator must look into. The others are mistakes of programs.
_ALARMING = {cause.value for cause in (Cause.BUG, Cause.FORBIDDEN, Cause.KILLED)}


class RequestRecord(NamedTuple):
    """A finished request. Times are in seconds; ``cpu_seconds`` is the worker's CPU time.

    ``info`` has its identity, counts and limit; ``error`` is for users and ``detail`` for the
    operator. ``parent`` is the caller's trace context.
    """

    outcome: str
    info: RequestInfo
    request_bytes: int
    response_bytes: int
    seconds: float
    waited_seconds: float
    cpu_seconds: float = 0.0
    error: str = ""
    detail: str = ""
    parent: str = ""

    @property
    def level(self) -> str:
        """Return the level of the log's line: ``info`` for a request that succeeded."""
        if self.info.bug or self.outcome in _ALARMING:
            return "error"
        return "info" if self.outcome == OK else "warning"


def build_record(reply: Reply, data: bytes, response_bytes: int, seconds: float) -> RequestRecord:
    """Return the record of a request of ``data`` and its ``reply``, which took ``seconds``."""
    if isinstance(reply, Answered):
        outcome = FATAL if reply.diagnostics else OK
        info, detail = reply.info, reply.info.bug
    else:
        limit = reply.error.limit or (PRINTED if reply.cause is Cause.OUTPUT else "")
        outcome = reply.cause.value
        info, detail = telemetry.read(data)._replace(limit=limit), reply.detail
    return RequestRecord(
        outcome,
        info,
        len(data),
        response_bytes,
        seconds,
        reply.waited_seconds,
        reply.cpu_seconds,
        diagnostics.to_line(reply.diagnostics) if reply.diagnostics else "",
        detail,
    )

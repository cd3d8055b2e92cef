"""The record of one finished request, for the log, the metrics and the traces.

A record holds the identity of the XR, times and sizes, and never the contents of the request.
"""

from typing import NamedTuple

from function_script.sandbox.outcome import Answered, Cause, Reply
from function_script.step import telemetry
from function_script.step.telemetry import RequestInfo
from function_script.texts import diagnostics

OK = "ok"
FATAL = "fatal"
OUTCOMES = (OK, FATAL, *(cause.value for cause in Cause))
"""All values of a record's ``outcome``."""

# The causes that the operator must look into. The others are mistakes of programs.
_ALARMING = {Cause.BUG, Cause.FORBIDDEN, Cause.KILLED}
_LIMITS = {Cause.TIMEOUT: "time", Cause.MEMORY: "memory", Cause.OUTPUT: "printed"}


class RequestRecord(NamedTuple):
    """A finished request. Times are in seconds; ``cpu_seconds`` is the worker's CPU time.

    ``info`` has its identity, counts and limit; ``error`` is for users and ``detail`` for the
    operator. ``parent`` is the caller's trace context.
    """

    outcome: str
    is_alarming: bool
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
        if self.is_alarming:
            return "error"
        return "info" if self.outcome == OK else "warning"


def build_record(reply: Reply, data: bytes, response_bytes: int, seconds: float) -> RequestRecord:
    """Return the record of a request of ``data`` and its ``reply``, which took ``seconds``."""
    if isinstance(reply, Answered):
        problems, info = reply.diagnostics, reply.info
        return RequestRecord(
            FATAL if problems else OK,
            bool(info.bug),
            info,
            len(data),
            response_bytes,
            seconds,
            reply.waited_seconds,
            reply.cpu_seconds,
            diagnostics.to_line(problems) if problems else "",
            info.bug,
        )
    return RequestRecord(
        outcome=reply.cause.value,
        is_alarming=reply.cause in _ALARMING,
        info=telemetry.read(data)._replace(limit=_LIMITS.get(reply.cause, "")),
        request_bytes=len(data),
        response_bytes=response_bytes,
        seconds=seconds,
        waited_seconds=reply.waited_seconds,
        cpu_seconds=reply.cpu_seconds,
        error=str(reply.error),
        detail=reply.detail,
    )

"""The record of one finished request, for the log, the metrics and the traces.

A record holds the identity of the XR, times and sizes, and never the contents of the request.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from function_script import diagnostics, telemetry
from function_script.sandbox import Answered, Reply
from function_script.sandbox.outcome import Cause

OK = "ok"
FATAL = "fatal"
OUTCOMES = (OK, FATAL, *(cause.value for cause in Cause))
"""All values of a record's ``outcome``."""

# The causes that the operator must look into. The others are mistakes of programs.
_ALARMING = {Cause.BUG, Cause.FORBIDDEN, Cause.KILLED}
_LIMITS = {Cause.TIMEOUT: "time", Cause.MEMORY: "memory", Cause.OUTPUT: "printed"}

# An alias, because the compiled class needs the type when it is defined.
Identity: TypeAlias = Mapping[str, str]


class RequestRecord(NamedTuple):
    """A finished request. Times are in seconds; ``cpu_seconds`` is the worker's CPU time.

    ``counts`` are the worker's counters, ``fingerprint`` is what the step added to desired state;
    ``error`` is for users and ``detail`` for the operator.
    ``problems`` may quote values of the request, so they are for --debug only. ``parent`` is the
    caller's trace context.
    """

    outcome: str
    is_alarming: bool
    identity: Identity
    request_bytes: int
    response_bytes: int
    seconds: float
    waited_seconds: float
    cpu_seconds: float = 0.0
    program_seconds: float | None = None
    counts: Mapping[str, int] = {}
    fingerprint: str = ""
    limit: str = ""
    error: str = ""
    detail: str = ""
    problems: tuple[diagnostics.Diagnostic, ...] = ()
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
        return _build_answered(reply, len(data), response_bytes, seconds)
    return RequestRecord(
        outcome=reply.cause.value,
        is_alarming=reply.cause in _ALARMING,
        identity=telemetry.read(data).identity(),
        request_bytes=len(data),
        response_bytes=response_bytes,
        seconds=seconds,
        waited_seconds=reply.waited_seconds,
        cpu_seconds=reply.cpu_seconds,
        limit=_LIMITS.get(reply.cause, ""),
        error=str(reply.error),
        detail=reply.detail,
    )


def _build_answered(
    reply: Answered, request_bytes: int, response_bytes: int, seconds: float
) -> RequestRecord:
    info = reply.info
    microseconds = info.program_microseconds
    return RequestRecord(
        outcome=FATAL if reply.diagnostics else OK,
        is_alarming=bool(info.bug),
        identity=info.identity(),
        request_bytes=request_bytes,
        response_bytes=response_bytes,
        seconds=seconds,
        waited_seconds=reply.waited_seconds,
        cpu_seconds=reply.cpu_seconds,
        program_seconds=None if microseconds is None else microseconds * 1e-6,
        counts=info.counts(),
        fingerprint=info.fingerprint,
        limit=info.limit,
        error=diagnostics.to_line(reply.diagnostics) if reply.diagnostics else "",
        detail=info.bug,
        problems=reply.diagnostics,
    )

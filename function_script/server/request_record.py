"""One finished request, as the log, the metrics and the traces tell it.

Answering makes one record for each request. A record says how it went, never what was in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from function_script import diagnostics, telemetry
from function_script.sandbox import Answered
from function_script.sandbox.outcome import Cause

if TYPE_CHECKING:
    from function_script.sandbox import Reply

OK = "ok"
FATAL = "fatal"
OUTCOMES = (OK, FATAL, *(cause.value for cause in Cause))
"""Everything a record's ``outcome`` can be."""

# These are for the operator to look into; all others are the user's business.
_ALARMING = {Cause.BUG, Cause.FORBIDDEN, Cause.KILLED}
_LIMITS = {Cause.TIMEOUT: "time", Cause.MEMORY: "memory", Cause.OUTPUT: "printed"}

_Identity: TypeAlias = Mapping[str, str]


class RequestRecord(NamedTuple):
    """Times in seconds; ``cpu_seconds`` are of the worker's CPU time.

    ``counts`` are whole numbers a worker reports; ``error`` is for users.

    ``problems`` may quote what a program has seen: for --debug only. ``parent`` is the caller's
    trace context.
    """

    outcome: str
    is_alarming: bool
    identity: _Identity
    request_bytes: int
    response_bytes: int
    seconds: float
    waited_seconds: float
    cpu_seconds: float = 0.0
    program_seconds: float | None = None
    counts: Mapping[str, int] = {}
    limit: str = ""
    error: str = ""
    detail: str = ""
    problems: tuple[diagnostics.Diagnostic, ...] = ()
    parent: str = ""


def build_record(reply: Reply, data: bytes, response_bytes: int, seconds: float) -> RequestRecord:
    """The record of a request that was answered, in one way or another."""
    if isinstance(reply, Answered):
        return _of_answer(reply, len(data), response_bytes, seconds)
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


def _of_answer(
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
        limit=info.limit,
        error=diagnostics.to_line(reply.diagnostics) if reply.diagnostics else "",
        detail=info.bug,
        problems=reply.diagnostics,
    )

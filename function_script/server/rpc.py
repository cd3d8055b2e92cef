"""Requests, errors and status codes between the gRPC server and the request handler.

This module does not import grpc, because workers of the pool start before that library is loaded.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from function_script.request.limits import MIB
from function_script.server import log

_LOG = logging.getLogger(__name__)
SERVICES = tuple(
    f"apiextensions.fn.proto.{version}.FunctionRunnerService" for version in ("v1", "v1beta1")
)
METHOD = "RunFunction"
# The default of clients written in Go, which Crossplane does not change.
_CLIENT_LIMIT_BYTES = 4 * MIB
# The part of the caller's time that is reserved for building and sending the response.
_MARGIN_SECONDS = 0.1
_MARGIN_SHARE = 0.2


class Status(IntEnum):
    """The status codes of gRPC that this server sends."""

    INVALID_ARGUMENT = 3
    RESOURCE_EXHAUSTED = 8
    INTERNAL = 13
    UNAVAILABLE = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequest:
    """The bytes of a request, the seconds until its answer is due, and the trace context.

    ``traceparent`` is empty if the caller sent none, or the handler is not traced.
    """

    data: bytes
    seconds: float
    traceparent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcError:
    """A status with its details, sent instead of a response."""

    status: Status
    text: str


rejected_by_status: Counter[str] = Counter()
"""The calls that were rejected before a worker saw them, by the name of their status."""

Outcome: TypeAlias = bytes | RpcError
Cancel: TypeAlias = Callable[[], None]


def usable_seconds(remaining: float | None) -> float:
    """Return the part of the time until a caller's deadline that an evaluation may use.

    None and 0 are no limit. gRPC cancels a call after its deadline by a monotonic clock, so 0 only
    means that the system's clock was set.
    """
    if not remaining:
        return float("inf")
    return remaining - min(_MARGIN_SECONDS, remaining * _MARGIN_SHARE)


def record_rejection(error: RpcError) -> RpcError:
    """Count and log a call that was rejected before the handler, and so has no request record."""
    rejected_by_status[error.status.name] += 1
    values = log.fields(status=error.status.name, error=error.text)
    _LOG.info("refused by the transport", extra=values)
    return error


def check_response_size(response: bytes) -> Outcome:
    """Return ``response``, or an error if it exceeds the size that clients accept."""
    if len(response) <= _CLIENT_LIMIT_BYTES:
        return response
    text = (
        f"the response would have {len(response) / MIB:.1f} MiB, of which most is desired "
        f"state of earlier steps; callers accept {_CLIENT_LIMIT_BYTES // MIB} MiB"
    )
    return record_rejection(RpcError(status=Status.RESOURCE_EXHAUSTED, text=text))

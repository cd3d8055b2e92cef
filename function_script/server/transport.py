"""What a transport hands in and takes out, whichever it is.

``http2`` is our own and ``threaded`` is grpcio's; both serve ``Service`` and nothing else of it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, TypeAlias

from function_script.errors import InputError
from function_script.limits import MIB
from function_script.server import log

_LOG = logging.getLogger(__name__)
SERVICES = tuple(
    f"apiextensions.fn.proto.{version}.FunctionRunnerService" for version in ("v1", "v1beta1")
)
METHOD = "RunFunction"
# More are refused at once with RESOURCE_EXHAUSTED, which Crossplane tries again.
MAX_CALLS = 1_000
# What callers in Go accept, unless they ask for more; Crossplane does not.
_CALLERS_LIMIT_BYTES = 4 * MIB
# Kept of the caller's time to build the answer and send it.
_MARGIN_SECONDS = 0.1
_MARGIN_SHARE = 0.2


class Status(IntEnum):
    """The status codes of gRPC that are used here."""

    OK = 0
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A call: the request's bytes, the seconds there are to answer, and the caller's metadata."""

    data: bytes
    seconds: float
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """No response: the call itself fails, with words for people."""

    status: Status
    text: str


REFUSED: Counter[str] = Counter()
"""Calls that the transport of this process refused by itself, by the name of their status."""

Outcome: TypeAlias = bytes | Refusal
Cancel: TypeAlias = Callable[[], None]


class Service(Protocol):
    """What is served, seen from a transport."""

    def answer(self, call: Incoming) -> Outcome:
        """Answer while the calling thread waits."""

    def start(self, call: Incoming, respond: Callable[[Outcome], None]) -> Cancel:
        """Answer later, in the event loop; the caller may lose interest by what is returned."""


class Front(Protocol):
    """A transport with its ports."""

    def listen(self, address: str) -> int:
        """Bind the service's port; the port. Raises InputError."""

    def listen_for_probes(self, address: str) -> int:
        """Bind a port for the health service alone, in plain text."""

    def serve(self, *, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        """Serve until ``stop``; then finish what was begun."""

    def stop(self) -> None:
        """Have ``serve`` end; from any thread, or a signal's handler."""

    def close(self) -> None:
        """End what is left."""


def cannot_listen(address: str) -> InputError:
    """Why a port cannot be bound."""
    return InputError.of(
        f'cannot listen on "{address}": it is in use, not allowed or not an address of this host',
        hint="choose another with --address or --health-address",
    )


def time_to_answer(remaining: float) -> float:
    """Of the seconds until a caller's deadline, those that an evaluation may use."""
    return remaining - min(_MARGIN_SECONDS, remaining * _MARGIN_SHARE)


def too_late() -> Refusal:
    """The call's deadline had passed before anything was done."""
    return count(
        Refusal(status=Status.DEADLINE_EXCEEDED, text="the deadline had passed on arrival")
    )


def count(refusal: Refusal) -> Refusal:
    """The same, counted and logged: it is the transport's own, so that no record tells of it."""
    REFUSED[refusal.status.name] += 1
    values = log.fields(status=refusal.status.name, error=refusal.text)
    _LOG.info("refused by the transport", extra=values)
    return refusal


def sized(response: bytes) -> Outcome:
    """``response``, or in words what the caller would otherwise meet as a broken call."""
    if len(response) <= _CALLERS_LIMIT_BYTES:
        return response
    text = (
        f"the response would have {len(response) / MIB:.1f} MiB, of which most is desired "
        f"state of earlier steps; callers accept {_CALLERS_LIMIT_BYTES // MIB} MiB"
    )
    return count(Refusal(status=Status.RESOURCE_EXHAUSTED, text=text))

"""The health protocol of gRPC (grpc.health.v1.Health): Check and Watch.

Its two messages have one field each, so they are read and written here by hand.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from function_script.server.transport import Incoming, Refusal, Status
from function_script.wire.fields import LENGTH, Fields, WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from function_script.server.http2.stream import Stream
    from function_script.server.transport import Outcome

SERVICE: Final = "grpc.health.v1.Health"
_MAX_WATCHERS: Final = 100


class Serving(IntEnum):
    """How a service is."""

    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


class Health:
    """All ``services`` are as the server is, and so is the one without a name."""

    def __init__(self, services: Iterable[str]) -> None:
        self._services = frozenset(("", *services))
        self._state = Serving.NOT_SERVING
        self._watchers: dict[Stream, str] = {}

    def set(self, state: Serving) -> None:
        """Say so from now on, to who asks and to who watches."""
        self._state = state
        for stream, service in self._watchers.items():
            stream.add(self._message(service))

    def end_watches(self) -> None:
        """Let nobody wait for news that will not come."""
        watchers, self._watchers = self._watchers, {}
        for stream in watchers:
            stream.finish(Status.UNAVAILABLE, "shutting down")

    def answer(self, call: Incoming) -> Outcome:
        """Check."""
        service = _service(call.data)
        if service not in self._services:
            return Refusal(status=Status.NOT_FOUND, text="this service is not served here")
        return self._message(service)

    def start(self, call: Incoming, respond: Callable[[Outcome], None]) -> Callable[[], None]:
        """Check, at once."""
        respond(self.answer(call))
        return _nothing

    def watch(self, message: bytes, stream: Stream) -> Callable[[], None] | None:
        """Watch: tell now, and again at each change."""
        if len(self._watchers) >= _MAX_WATCHERS or stream in self._watchers:
            stream.finish(Status.RESOURCE_EXHAUSTED, "too many watch already")
            return None
        service = _service(message)
        self._watchers[stream] = service
        stream.add(self._message(service))

        def ending() -> None:
            self._watchers.pop(stream, None)

        return ending

    def _message(self, service: str) -> bytes:
        known = service in self._services
        return bytes((0x08, self._state if known else Serving.SERVICE_UNKNOWN))


def _service(message: bytes) -> str:
    fields = Fields(message, 0, len(message))
    service = ""
    try:
        while fields.next():
            if fields.is_field(1, LENGTH):
                service = fields.text()
    except WireError:
        return "\0"
    return service


def _nothing() -> None:
    return

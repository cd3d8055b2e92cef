"""Which call stands behind a stream, by its path.

The listener gives each connection one: for the service with all that belongs to it, and for
probes with nothing but health.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from function_script.server import transport
from function_script.server.http2 import health, reflection
from function_script.server.http2.calls import Budget, Refused, Unary
from function_script.server.http2.talks import Talk
from function_script.server.transport import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.http2.heads import Head
    from function_script.server.http2.health import Health
    from function_script.server.http2.stream import Call, Stream
    from function_script.server.transport import Service

_PROBE_BYTES = 4_096
# Of requests at the same time, in the largest that is allowed.
_HELD_REQUESTS = 4


class Router:
    """Opens calls."""

    def __init__(self, health_service: Health) -> None:
        self._routes: dict[bytes, Callable[[Head, Stream], Call]] = {}
        budget = Budget(_PROBE_BYTES * transport.MAX_CALLS)
        self._add_unary(health.SERVICE, "Check", health_service, _PROBE_BYTES, budget)
        self._routes[_path(health.SERVICE, "Watch")] = lambda _, stream: Talk(
            health_service.watch, stream, ends_with_request=False
        )

    def add_service(self, service: Service, max_bytes: int) -> None:
        """Serve the function, and tell about it."""
        budget = Budget(_HELD_REQUESTS * max_bytes)
        for name in transport.SERVICES:
            self._add_unary(name, transport.METHOD, service, max_bytes, budget)
        for name in reflection.SERVICES:
            self._routes[_path(name, "ServerReflectionInfo")] = lambda _, stream: Talk(
                reflection.hear, stream, ends_with_request=True
            )

    def open(self, head: Head, stream: Stream) -> Call:
        """The call that a request's head asks for, or one that will be refused."""
        if head[b":method"] != b"POST":
            return Refused(partial(stream.reply, 405, "this is a gRPC server\n"))
        kind = head.get(b"content-type", b"")
        if kind[:16] != b"application/grpc" or kind[16:17] not in {b"", b"+", b";"}:
            return Refused(partial(stream.reply, 415, "this is a gRPC server\n"))
        route = self._routes.get(head[b":path"])
        if route is None:
            text = "this method is not served here"
            return Refused(partial(stream.finish, Status.UNIMPLEMENTED, text))
        return route(head, stream)

    def _add_unary(
        self, name: str, method: str, service: Service, max_bytes: int, budget: Budget
    ) -> None:
        self._routes[_path(name, method)] = lambda head, stream: Unary(
            service, head, stream, max_bytes=max_bytes, budget=budget
        )


def _path(service: str, method: str) -> bytes:
    return f"/{service}/{method}".encode()

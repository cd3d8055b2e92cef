"""Ports: bound before anything else, opened when all is ready, and closed without losing a call.

``Http2`` is the transport as the lifecycle sees it. It owns the event loop and everything in it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from function_script.server import transport
from function_script.server.http2.connection import Connection
from function_script.server.http2.health import Health, Serving
from function_script.server.http2.intake import BUFFER_BYTES, Intake
from function_script.server.http2.router import Router

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.http2.heads import Head
    from function_script.server.http2.intake import Inner
    from function_script.server.http2.stream import Call, Stream
    from function_script.server.tls import Certificates
    from function_script.server.transport import Service

_LOG = logging.getLogger(__name__)
# Below the 30 seconds that Kubernetes grants; a call takes seconds at most.
_GRACE_SECONDS: Final = 20.0
# Each replica of Crossplane has one, and each probe.
_MAX_CONNECTIONS: Final = 512
_BACKLOG: Final = 512
_ACCEPTED_AT_ONCE: Final = 16
_PAUSE_SECONDS: Final = 0.5


class Port:
    """One address: sockets that listen, and the connections that came in by them."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        router: Router,
        security: Callable[[Connection], Inner] | None,
    ) -> None:
        self._loop = loop
        self._router = router
        self._security = security
        self._buffer = memoryview(bytearray(BUFFER_BYTES))
        self._is_draining = False
        self._sockets: list[socket.socket] = []
        self._connections: set[Connection] = set()
        self._arriving: set[asyncio.Task[None]] = set()
        self._transports: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()
        self.emptied = asyncio.Event()
        """Set when the last connection has ended after ``drain``."""

    def bind(self, address: str) -> int:
        """Take the address; the port. Raises InputError."""
        host, _, number = address.rpartition(":")
        port = int(number)
        try:
            found = socket.getaddrinfo(
                host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            for family, _, _, _, where in found:
                self._sockets.append(_listening(family, (str(where[0]), port)))
                port = self._sockets[-1].getsockname()[1]
        except OSError as error:
            self.close()
            raise transport.cannot_listen(address) from error
        return port

    def open(self) -> None:
        """Let clients in from now on."""
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    def close(self) -> None:
        """Let nobody in any more."""
        for listening in self._sockets:
            self._loop.remove_reader(listening)
            listening.close()
        self._sockets = []

    def drain(self) -> None:
        """Have every connection end with the calls it has."""
        self._is_draining = True
        for connection in list(self._connections):
            connection.drain()
        self._tell_when_empty()

    def abort(self) -> None:
        """End what is left."""
        for connection in list(self._connections):
            connection.abort()

    def open_call(self, head: Head, stream: Stream) -> Call:
        """What stands behind a new stream."""
        return self._router.open(head, stream)

    def join(self, connection: Connection) -> None:
        """A connection is there."""
        self._connections.add(connection)

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        self._connections.discard(connection)
        self._tell_when_empty()

    def _tell_when_empty(self) -> None:
        if self._is_draining and not self._connections:
            self.emptied.set()

    def _is_full(self) -> bool:
        """Whether there are too many clients, also counting those that have yet to say a word."""
        if len(self._transports) + len(self._arriving) < _MAX_CONNECTIONS:
            return False
        open_ones = sum(not transport.is_closing() for transport in self._transports)
        return open_ones + len(self._arriving) >= _MAX_CONNECTIONS

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                client, _ = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # Out of descriptors or memory. The clients that are here must not suffer for it.
                _LOG.warning("cannot accept a connection: %s", error)
                self._loop.remove_reader(listening)
                self._loop.call_later(_PAUSE_SECONDS, self.open)
                return
            if self._is_full():
                client.close()
                continue
            client.setblocking(False)  # noqa: FBT003 - the name of the method says what is set
            task = self._loop.create_task(self._welcome(client))
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    async def _welcome(self, client: socket.socket) -> None:
        try:
            transport, _ = await self._loop.connect_accepted_socket(self._protocol, client)
            self._transports.add(transport)
        except OSError:
            # It has gone already.
            client.close()

    def _protocol(self) -> Intake:
        connection = Connection(self, self._loop)
        inner = connection if self._security is None else self._security(connection)
        return Intake(inner, self._buffer)


def _listening(family: int, where: tuple[str, int]) -> socket.socket:
    # With its protocol named, asyncio knows it for TCP and sends small frames without delay.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(where)
        made.listen(_BACKLOG)
        made.setblocking(False)  # noqa: FBT003 - the name of the method says what is set
    except OSError:
        made.close()
        raise
    return made


class Http2:
    """The transport. In plain text without ``certificates``."""

    def __init__(
        self, service: Service, max_request_bytes: int, certificates: Certificates | None
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._health = Health(transport.SERVICES)
        router = Router(self._health)
        router.add_service(service, max_request_bytes)
        security = None if certificates is None else _security(certificates, self._loop)
        self._main = Port(self._loop, router, security)
        self._probes = Port(self._loop, Router(self._health), None)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where everything happens."""
        return self._loop

    def listen(self, address: str) -> int:
        """Bind the service's port; the port. Raises InputError."""
        return self._main.bind(address)

    def listen_for_probes(self, address: str) -> int:
        """Bind a port for the health service alone, in plain text."""
        return self._probes.bind(address)

    def serve(self, *, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        """Serve until ``stop``; then finish what was begun."""
        self._loop.run_until_complete(self._serve(on_serving, on_stopping))

    def stop(self) -> None:
        """Have ``serve`` end; from any thread, or a signal's handler."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    def close(self) -> None:
        """End what is left."""
        for port in (self._main, self._probes):
            port.close()
            port.abort()
        # Connections that were ended tell their calls in the loop's next turn.
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        self._health.set(Serving.SERVING)
        self._main.open()
        self._probes.open()
        on_serving()
        await self._stopping.wait()
        on_stopping()
        self._health.set(Serving.NOT_SERVING)
        self._health.end_watches()
        self._main.close()
        self._main.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._main.emptied.wait()


def _security(
    certificates: Certificates, loop: asyncio.AbstractEventLoop
) -> Callable[[Connection], Inner]:
    """What puts TLS before a connection, always with the newest certificates."""
    from function_script.server.http2 import secure  # noqa: PLC0415 - slow to import

    context = secure.context(certificates.content)

    def protect(connection: Connection) -> Inner:
        nonlocal context
        if certificates.renew():
            context = secure.context(certificates.content)
        return secure.Secure(connection, context, loop)

    return protect

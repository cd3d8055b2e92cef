"""Relay connections of a listening socket to a port of the namespace."""

import selectors
import socket
import struct
from typing import Final

_CHUNK_BYTES: Final = 1 << 16
_MAX_BUFFER_BYTES: Final = 1 << 20
_MAX_CONNECTIONS: Final = 64
# Loopback by both protocols: a server may listen on one of them only.
_HOSTS: Final = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_CONNECT_SECONDS: Final = 1.0


class _Direction:
    """One direction of a connection: bytes that were read from ``source`` and not yet sent."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source = source
        self.target = target
        self.buffer = bytearray()
        self.is_open = True

    @property
    def is_over(self) -> bool:
        """Report whether the source has ended and all of its bytes are sent."""
        return not self.is_open and not self.buffer

    def read(self) -> None:
        """Read what there is."""
        try:
            data = self.source.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        self.is_open = bool(data)
        self.buffer += data
        self.write()

    def write(self) -> None:
        """Send as much as the target takes, and then the end of the source."""
        try:
            while self.buffer:
                del self.buffer[: self.target.send(self.buffer)]
        except BlockingIOError:
            return
        if not self.is_open:
            self.target.shutdown(socket.SHUT_WR)


class Relay:
    """Accepts connections of processes of the user ``peer`` while its ``selector`` is polled."""

    def __init__(
        self, listener: socket.socket, port: int, peer: int, selector: selectors.BaseSelector
    ) -> None:
        self._listener = listener
        self._port = port
        self._peer = peer
        self._selector = selector
        self._pairs: dict[socket.socket, tuple[_Direction, _Direction]] = {}

    def start(self) -> None:
        """Accept connections from now on."""
        self._listener.settimeout(0.0)
        self._selector.register(self._listener, selectors.EVENT_READ, self.accept)

    def connect(self) -> socket.socket | None:
        """Connect to the port; None if nothing listens there."""
        for family, host in _HOSTS:
            try:
                connection = socket.socket(family, socket.SOCK_STREAM)
            except OSError:
                continue
            connection.settimeout(_CONNECT_SECONDS)
            try:
                connection.connect((host, self._port))
            except OSError:
                connection.close()
            else:
                return connection
        return None

    def accept(self, _events: int) -> None:
        """Accept a connection, and connect it to the port."""
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        # struct ucred: process, user, group.
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        _, user, _ = struct.unpack("iII", credentials)
        # Each connection has two entries, one for either end.
        is_allowed = user == self._peer and len(self._pairs) < 2 * _MAX_CONNECTIONS
        server = self.connect() if is_allowed else None
        if server is None:
            client.close()
            return
        for connection in (client, server):
            connection.settimeout(0.0)
        # The kernel would hold back the small frames of HTTP/2 to join them.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        directions = _Direction(client, server), _Direction(server, client)
        for direction in directions:
            self._pairs[direction.source] = directions
            self._register(direction.source)

    def _register(self, connection: socket.socket) -> None:
        self._selector.register(
            connection,
            selectors.EVENT_READ,
            lambda events: self._relay(connection, events),
        )

    def _relay(self, connection: socket.socket, events: int) -> None:
        directions = self._pairs.get(connection)
        if directions is None:
            return
        try:
            for direction in directions:
                if direction.source is connection and events & selectors.EVENT_READ:
                    direction.read()
                if direction.target is connection and events & selectors.EVENT_WRITE:
                    direction.write()
        except OSError:
            self._close(directions)
            return
        if all(direction.is_over for direction in directions):
            self._close(directions)
        else:
            self._update(directions)

    def _update(self, directions: tuple[_Direction, _Direction]) -> None:
        """Wait for what each of the two sockets can do next."""
        for outgoing, incoming in (directions, directions[::-1]):
            connection = outgoing.source
            # A target that takes nothing must not fill the memory.
            can_read = outgoing.is_open and len(outgoing.buffer) < _MAX_BUFFER_BYTES
            events = selectors.EVENT_READ if can_read else 0
            events |= selectors.EVENT_WRITE if incoming.buffer else 0
            is_registered = connection in self._selector.get_map()
            if is_registered and not events:
                self._selector.unregister(connection)
            elif events:
                if not is_registered:
                    self._register(connection)
                key = self._selector.get_key(connection)
                if key.events != events:
                    self._selector.modify(connection, events, key.data)

    def _close(self, directions: tuple[_Direction, _Direction]) -> None:
        for direction in directions:
            connection = direction.source
            if connection in self._selector.get_map():
                self._selector.unregister(connection)
            del self._pairs[connection]
            connection.close()

"""Relay connections of a listening socket to a port of the namespace."""

import selectors
import socket
import struct
import threading
from contextlib import suppress
from typing import Final

_CHUNK_BYTES: Final = 1 << 16
_MAX_CONNECTIONS: Final = 64
# Loopback by both protocols: a server may listen on one of them only.
_HOSTS: Final = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_CONNECT_SECONDS: Final = 1.0


class Relay:
    """Accepts connections of processes of the user ``peer`` while its ``selector`` is polled.

    Threads pass their bytes: a target that takes nothing stops its source, and no memory fills.
    """

    def __init__(
        self, listener: socket.socket, port: int, peer: int, selector: selectors.BaseSelector
    ) -> None:
        self._listener = listener
        self._port = port
        self._peer = peer
        self._selector = selector
        self._places = threading.Semaphore(_MAX_CONNECTIONS)

    def start(self) -> None:
        """Accept connections from now on."""
        self._listener.settimeout(0.0)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

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

    def _accept(self, _events: int) -> None:
        """Accept a connection, and connect it to the port."""
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        # struct ucred: process, user, group.
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        _, user, _ = struct.unpack("iII", credentials)
        if user != self._peer or not self._places.acquire(blocking=False):
            client.close()
            return
        server = self.connect()
        if server is None:
            client.close()
            self._places.release()
            return
        server.settimeout(None)
        # The kernel would hold back the small frames of HTTP/2 to join them.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._relay, args=(client, server), daemon=True).start()

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        """Pass bytes until both ends have closed, or one has failed."""
        with client, server:
            answers = threading.Thread(target=_pass, args=(server, client), daemon=True)
            answers.start()
            _pass(client, server)
            answers.join()
        self._places.release()


def _pass(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes to the target, and then the end of the source."""
    try:
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # Ends the other direction, too, whose thread may wait for bytes.
        for connection in (source, target):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

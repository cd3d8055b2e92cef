"""A connection of our HTTP/2 without a network or a running loop, to be fed with any bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raw_http2 import Recorder

from function_script.server.http2.connection import Connection
from function_script.server.http2.health import Health
from function_script.server.http2.router import Router

if TYPE_CHECKING:
    import asyncio

    from function_script.server.http2.heads import Head
    from function_script.server.http2.stream import Call, Stream

MAX_REQUEST_BYTES = 4_096


class Sink:
    """A transport that counts what it is given."""

    def __init__(self) -> None:
        self.sent = 0
        self.is_closed = False

    def set_write_buffer_limits(self, high: int) -> None:
        """There is no buffer."""

    def write(self, data: bytes) -> None:
        """Count."""
        self.sent += len(data)

    def close(self) -> None:
        """Remember."""
        self.is_closed = True

    abort = close


class House:
    """What a connection belongs to."""

    def __init__(self) -> None:
        self._router = Router(Health(()))
        self._router.add_service(Recorder(), MAX_REQUEST_BYTES)

    def open_call(self, head: Head, stream: Stream) -> Call:
        """A call to the recorder."""
        return self._router.open(head, stream)

    def join(self, connection: Connection) -> None:
        """Nobody counts."""

    leave = join


def feed(loop: asyncio.AbstractEventLoop, data: bytes, size: int) -> tuple[Connection, Sink]:
    """A connection that was sent ``data`` in pieces, each in memory that is used again."""
    connection, sink = Connection(House(), loop), Sink()
    connection.connection_made(sink)  # type: ignore[arg-type] # as much of a transport as it needs
    for at in range(0, len(data), size):
        piece = bytearray(data[at : at + size])
        connection.data_received(memoryview(piece))
        piece[:] = bytes(len(piece))
    return connection, sink

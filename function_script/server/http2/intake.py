"""Between a socket and its connection: reads into memory that is there already.

The listener puts one before every connection, all with the same buffer.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

BUFFER_BYTES: Final = 256 * 1024


class Inner(Protocol):
    """An asyncio.Protocol that keeps nothing of what it is given but copies."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As asyncio calls it."""

    def data_received(self, data: memoryview) -> None:
        """As asyncio calls it, with memory that the next read changes."""

    def take_rest(self) -> bytes:
        """What of the last data it could not use yet: the next begins with it."""

    def connection_lost(self, error: Exception | None) -> None:
        """As asyncio calls it."""

    def pause_writing(self) -> None:
        """As asyncio calls it."""

    def resume_writing(self) -> None:
        """As asyncio calls it."""


class Intake(asyncio.BufferedProtocol):
    """A protocol's reader.

    Without it asyncio makes room for the largest read before each, 256 KiB that the C library maps
    and unmaps again: three system calls and as many page faults for every request.
    """

    def __init__(self, inner: Inner, buffer: memoryview) -> None:
        self._inner = inner
        self._buffer = buffer
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass it on."""
        self._inner.connection_made(transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the protocol
        """Room for what comes; it is read and taken before any other connection's turn."""
        # When nothing comes, there is another turn for the same rest.
        self._rest = rest = self._rest or self._inner.take_rest()
        self._buffer[: len(rest)] = rest
        return self._buffer[len(rest) :]

    def buffer_updated(self, nbytes: int) -> None:
        """Pass on what was left and what came; to join them would copy a large request again."""
        size, self._rest = len(self._rest) + nbytes, b""
        self._inner.data_received(self._buffer[:size])

    def connection_lost(self, error: Exception | None) -> None:
        """Pass it on."""
        self._inner.connection_lost(error)

    def pause_writing(self) -> None:
        """Pass it on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._inner.resume_writing()

"""One call on a connection: its windows, and what is still to be sent.

The connection reads and writes for it; the call behind it answers through it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from function_script.server.http2 import heads
from function_script.server.http2.frames import Code, ResetError

if TYPE_CHECKING:
    from function_script.server.transport import Status

_OK_HEAD = b"\x88" + heads.literal("content-type", "application/grpc")
_OK_TRAILERS = heads.literal("grpc-status", "0")
_ACCEPTED = heads.literal("grpc-accept-encoding", "identity,gzip")
# For a request to come in whole, and for an answer to be taken.
_PATIENCE_SECONDS = 60.0
_MAX_TEXT_BYTES = 2_048
# Printable ASCII, less the percent sign.
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("%")}
_PREFIX_BYTES = 4


class Call(Protocol):
    """What stands behind a stream. It answers once, through the stream."""

    def receive(self, piece: memoryview) -> None:
        """Some bytes of the request's body."""

    def end(self) -> None:
        """The request is complete."""

    def cancel(self) -> None:
        """The caller or the connection is gone, or has had its answer early."""


class Sender(Protocol):
    """The connection, as streams see it."""

    def send(self, stream: Stream, head: bytes, body: bytes, trailers: bytes) -> None:
        """Send header block, body and last header block, each if there is any, in this order."""


class Stream:
    """``receive_window`` and ``send_window`` count bytes that may still come and go."""

    __slots__ = (
        "_blocked_until",
        "_late_at",
        "_length_left",
        "_sender",
        "call",
        "has_head",
        "id",
        "is_half_closed",
        "outbox",
        "receive_window",
        "send_window",
        "sent",
        "trailers",
    )

    def __init__(
        self, sender: Sender, number: int, *, receive_window: int, send_window: int, now: float
    ) -> None:
        self._sender = sender
        self._late_at = now + _PATIENCE_SECONDS
        self._blocked_until: float | None = None
        self._length_left: int | None = None
        self.id = number
        self.call: Call
        self.receive_window = receive_window
        self.send_window = send_window
        self.is_half_closed = False
        """Whether the request is complete."""
        self.has_head = False
        self.outbox: deque[memoryview] = deque()
        self.sent = 0
        self.trailers = b""

    def let_go(self) -> None:
        """Forget the call, which holds this stream: a cycle, and the request, would live long."""
        self.call = _NOBODY

    def expect(self, length: bytes | None) -> None:
        """Hold the request to its content-length; raises ResetError."""
        if length is not None:
            if not length.isdigit():
                raise ResetError(Code.PROTOCOL_ERROR)
            self._length_left = int(length)

    def receive(self, piece: memoryview) -> None:
        """Some bytes of the request's body."""
        if self._length_left is not None:
            self._length_left -= len(piece)
            if self._length_left < 0:
                raise ResetError(Code.PROTOCOL_ERROR)
        self.call.receive(piece)

    def end(self) -> None:
        """The request is complete; raises ResetError when that cannot be."""
        if self._length_left:
            raise ResetError(Code.PROTOCOL_ERROR)
        self.is_half_closed = True
        self.call.end()

    def is_late(self, now: float) -> bool:
        """Whether the client has been too slow, sending its request or taking the answer."""
        if self.outbox and self._blocked_until is None:
            self._blocked_until = now + _PATIENCE_SECONDS
        until = self._late_at if not self.is_half_closed else self._blocked_until
        return until is not None and now > until

    def respond(self, message: bytes) -> None:
        """The one and only message, and all is well."""
        self._sender.send(self, _OK_HEAD, _framed(message), _OK_TRAILERS)

    def add(self, message: bytes) -> None:
        """One of several messages."""
        self._sender.send(self, b"" if self.has_head else _OK_HEAD, _framed(message), b"")

    def finish(self, status: Status, text: str = "") -> None:
        """End without another message. ``text`` is for people."""
        trailers = heads.literal("grpc-status", str(int(status)))
        if text:
            trailers += heads.literal("grpc-message", _percent_encoded(text))
        self._sender.send(
            self, b"", b"", trailers if self.has_head else _OK_HEAD + _ACCEPTED + trailers
        )

    def reply(self, http_status: int, text: str) -> None:
        """Answer somebody who does not speak gRPC."""
        head = heads.literal(":status", str(http_status)) + heads.literal(
            "content-type", "text/plain"
        )
        self._sender.send(self, head, text.encode(), heads.literal("grpc-status", "12"))


class _Nobody:
    """Stands behind a stream that is over."""

    def receive(self, piece: memoryview) -> None:
        """It is too late."""

    def end(self) -> None:
        """It is too late."""

    def cancel(self) -> None:
        """Nobody is there to hear it."""


_NOBODY = _Nobody()


def _framed(message: bytes) -> bytes:
    return b"\0" + len(message).to_bytes(_PREFIX_BYTES, "big") + message


def _percent_encoded(text: str) -> str:
    """As gRPC sends texts: printable ASCII, all else and % as %XX."""
    data = text.encode("utf-8", "replace")[:_MAX_TEXT_BYTES]
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in data)

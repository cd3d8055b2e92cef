"""Frames on a stream of bytes, for systems without SOCK_SEQPACKET and shared memory.

The first byte is the kind of a frame. The bytes that a header announces follow it.
"""

import socket
import struct
import time

from function_script.sandbox.ipc import (
    REPLY_BYTES,
    REQUEST_BYTES,
    Begun,
    ReplyHeader,
    RequestHeader,
)

READY, LIMITS, REPLY, GARBAGE = b"\1", b"\2", b"\3", b"?"
_LIMITS = struct.Struct("<dQ")
_BODY_BYTES = {READY: 0, LIMITS: _LIMITS.size, REPLY: REPLY_BYTES}
_CHUNK_BYTES = 1 << 18


class StreamChannel:
    """The worker's end of a stream."""

    batch_capacity_bytes = 0

    def __init__(self, connection: socket.socket, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self._connection = connection
        self._file = connection.makefile("rb")
        self._payload = b""

    def announce(self) -> None:
        """Report to the pool that the worker is ready."""
        self._connection.sendall(READY)

    def receive(self) -> list[RequestHeader] | None:
        """Wait for the next request; return None when the pool has closed the connection."""
        try:
            frame = self._file.read(REQUEST_BYTES)
        except ConnectionResetError:
            return None
        return RequestHeader.unpack_batch(frame) if len(frame) == REQUEST_BYTES else None

    def read(self, length: int, *, index: int) -> bytes:  # noqa: ARG002 # always 0
        """Return the ``length`` bytes that a header has announced; raise EOFError."""
        data = self._file.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def begin(self, index: int) -> bool:
        """Begin the only request: its limits are those of the pool so far."""
        self.narrow(index, 0.0, 0)
        return True

    def narrow(self, index: int, timeout_seconds: float, memory_bytes: int) -> None:  # noqa: ARG002 # always 0
        """Publish the limits of the request that has begun, which the pool reads after a crash."""
        self._connection.sendall(LIMITS + _LIMITS.pack(timeout_seconds, memory_bytes))

    def write(self, *parts: bytes, index: int) -> None:  # noqa: ARG002 # always 0
        """Store a response and its report, which fit into the capacity."""
        self._payload = b"".join(parts)

    def send_replies(self, headers: list[ReplyHeader]) -> None:
        """Send the stored reply."""
        payload, self._payload = self._payload, b""
        self._connection.sendall(b"".join((REPLY, headers[0].pack(), payload)))


class FrameReader:
    """The pool's end of a worker's stream. Input is untrusted.

    The contents of the last frame of each kind are in ``begun``, ``reply`` and ``payload``.
    """

    def __init__(self, connection: socket.socket, capacity_bytes: int) -> None:
        self._connection = connection
        self._capacity_bytes = capacity_bytes
        self._buffer = bytearray()
        self.begun: Begun | None = None
        self.reply = b""
        self.payload = b"", b""

    def next(self, deadline: float) -> bytes | None:
        """Read a frame and return its kind.

        The kind is GARBAGE for bytes that are not a frame. Return b"" when the worker is gone, and
        None when nothing came until ``deadline`` (monotonic seconds).
        """
        while True:
            if kind := self._parse_frame():
                return kind
            # A timeout of zero makes the socket non-blocking, and its error would look like a lost
            # worker.
            self._connection.settimeout(max(deadline - time.monotonic(), 1e-6))
            try:
                data = self._connection.recv(_CHUNK_BYTES)
            except TimeoutError:
                return None
            except OSError:
                return b""
            if not data:
                return b""
            self._buffer += data

    def is_silent(self) -> bool:
        """Report whether the worker lives and has sent no frame that was not requested."""
        self._connection.settimeout(0)
        try:
            # Nothing was asked of it, so that any byte, like the end, shows a worker not to use.
            self._connection.recv(1)
        except BlockingIOError:
            return not self._buffer
        except OSError:
            return False
        return False

    def _parse_frame(self) -> bytes:
        """Remove a frame from the buffer and return its kind; b"" when it is incomplete."""
        kind = bytes(self._buffer[:1])
        if kind and kind not in _BODY_BYTES:
            return GARBAGE
        length = 1 + _BODY_BYTES.get(kind, 0)
        if not kind or len(self._buffer) < length:
            return b""
        body = bytes(self._buffer[1:length])
        if kind == LIMITS:
            self.begun = Begun(0, *_LIMITS.unpack(body))
        elif kind == REPLY:
            try:
                header = ReplyHeader.unpack(body)
            except ValueError:
                return GARBAGE
            announced = header.payload_length + header.report_length
            if announced > self._capacity_bytes:
                return GARBAGE
            if len(self._buffer) < length + announced:
                return b""
            middle = length + header.payload_length
            # Released before the deletion below: a bytearray with a view on it cannot shrink.
            with memoryview(self._buffer) as view:
                payload = bytes(view[length:middle]), bytes(view[middle : length + announced])
            self.reply, self.payload = body, payload
            length += announced
        del self._buffer[:length]
        return kind

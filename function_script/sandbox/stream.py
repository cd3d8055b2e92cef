"""Frames on a stream of bytes, for systems without sockets of packets and shared memory.

A byte says which frame it is; a request and a receipt are followed by the bytes they announce.
"""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

from function_script.sandbox.channel import Channel
from function_script.sandbox.ipc import RECEIPT_BYTES, REQUEST_BYTES, Receipt, Request

if TYPE_CHECKING:
    import socket

READY, LIMITS, RECEIPT, GARBAGE = b"\1", b"\2", b"\3", b"?"
_LIMITS = struct.Struct("<dQ")
_BODY_BYTES = {READY: 0, LIMITS: _LIMITS.size, RECEIPT: RECEIPT_BYTES}
_CHUNK_BYTES = 1 << 18


class StreamChannel(Channel):
    """The worker's end."""

    def __init__(self, connection: socket.socket, capacity_bytes: int) -> None:
        super().__init__(capacity_bytes)
        self._connection = connection
        self._incoming = connection.makefile("rb")

    def announce(self) -> None:
        """Tell the pool that the worker is ready."""
        self._connection.sendall(READY)

    def receive(self) -> Request | None:
        """Wait for the next request; None: the pool has hung up."""
        try:
            frame = self._incoming.read(REQUEST_BYTES)
        except ConnectionResetError:
            return None
        return Request.unpack(frame) if len(frame) == REQUEST_BYTES else None

    def read(self, length: int) -> bytes:
        """Return the ``length`` bytes that a request has announced; raises EOFError."""
        data = self._incoming.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def put_limits(self, timeout_seconds: float, memory_bytes: int) -> None:
        """Tell the pool the limits in force, which it reads when the worker has died."""
        self._connection.sendall(LIMITS + _LIMITS.pack(timeout_seconds, memory_bytes))

    def send(self, receipt: Receipt, response: bytes, report: bytes) -> None:
        """Answer the request; the caller has compared the lengths with the capacity."""
        self._connection.sendall(b"".join((RECEIPT, receipt.pack(), response, report)))


class Incoming:
    """The pool's end of what a worker sends; nothing in it is believed."""

    def __init__(self, connection: socket.socket, capacity_bytes: int) -> None:
        self._connection = connection
        self._capacity_bytes = capacity_bytes
        self._buffer = bytearray()
        self.limits = (0.0, 0)
        self.receipt = b""
        self.payload = b"", b""

    def next(self, end: float) -> bytes | None:
        """Return the next frame's first byte, and keep what it says.

        GARBAGE is no frame; no bytes: the worker is gone; None: nothing came until ``end``.
        """
        while True:
            if kind := self._take():
                return kind
            self._connection.settimeout(max(end - time.monotonic(), 1e-6))
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
        """Tell whether the worker lives, and has sent nothing that was not asked for."""
        self._connection.settimeout(0)
        try:
            self._connection.recv(1)
        except BlockingIOError:
            return not self._buffer
        except OSError:
            return False
        return False

    def _take(self) -> bytes:
        """Cut a frame off the buffer; no bytes: it is not complete."""
        kind = bytes(self._buffer[:1])
        if kind and kind not in _BODY_BYTES:
            return GARBAGE
        length = 1 + _BODY_BYTES.get(kind, 0)
        if not kind or len(self._buffer) < length:
            return b""
        body = bytes(self._buffer[1:length])
        if kind == LIMITS:
            self.limits = _LIMITS.unpack(body)
        elif kind == RECEIPT:
            try:
                receipt = Receipt.unpack(body)
            except ValueError:
                return GARBAGE
            following = receipt.payload_length + receipt.report_length
            if following > self._capacity_bytes:
                return GARBAGE
            if len(self._buffer) < length + following:
                return b""
            middle = length + receipt.payload_length
            with memoryview(self._buffer) as view:
                payload = bytes(view[length:middle]), bytes(view[middle : length + following])
            self.receipt, self.payload = body, payload
            length += following
        del self._buffer[:length]
        return kind

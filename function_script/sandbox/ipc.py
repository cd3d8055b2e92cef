"""What a pool and a worker say to each other: small frames of fixed size.

Both ends use this module. The bytes that a frame announces lie in the pair's ``Box``, or follow it
on the same stream in a plain pool.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import socket

# A report is parsed in the server's loop, and a worker that went astray may fill all its memory.
MAX_REPORT_BYTES = 1 << 20
_REQUEST = struct.Struct("<Q")
_REPLY = struct.Struct("<??QQ")
REQUEST_BYTES = _REQUEST.size
RECEIPT_BYTES = _REPLY.size
_MAX_FRAME_BYTES = 64


class Request(NamedTuple):
    """Evaluate ``length`` bytes."""

    length: int

    def pack(self) -> bytes:
        """The frame's bytes."""
        return _REQUEST.pack(*self)

    @classmethod
    def unpack(cls, frame: bytes) -> Request:
        """The request in a frame that came from the pool."""
        return cls(*_REQUEST.unpack(frame))


class Receipt(NamedTuple):
    """There are ``payload_length`` bytes of response, then ``report_length`` of report.

    ``is_answer`` False: the program took the evaluation down, only the report is there.
    ``is_last``: the worker is about to leave and must not be given another request.
    """

    is_answer: bool
    is_last: bool
    payload_length: int
    report_length: int

    def pack(self) -> bytes:
        """The frame's bytes."""
        return _REPLY.pack(*self)

    @classmethod
    def unpack(cls, frame: bytes) -> Receipt:
        """The receipt in a frame; raises ValueError for anything a sound worker does not send."""
        if len(frame) != _REPLY.size:
            raise ValueError(f"a frame of {len(frame)} bytes")
        receipt = cls(*_REPLY.unpack(frame))
        if receipt.report_length > MAX_REPORT_BYTES:
            raise ValueError(f"a report of {receipt.report_length} bytes")
        return receipt


def receive(connection: socket.socket, flags: int = 0) -> bytes:
    """The next frame, or no bytes when the other end is gone; raises what recv raises to wait."""
    try:
        return connection.recv(_MAX_FRAME_BYTES, flags)
    except ConnectionResetError:
        return b""

"""What a pool and a worker say to each other: small frames on a socket, payloads in shared memory.

Both ends use this module. A frame is one packet of fixed size; the bytes it announces lie in the
pair's ``Box``. Copying through a socket would cost 15 times more for a request of 2 MB.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import socket

_REQUEST = struct.Struct("<Qd")
_REPLY = struct.Struct("<??QQ")
_LIMITS = struct.Struct("<dQ")

_HEADER_BYTES = mmap.PAGESIZE
# Pages beyond this are given back after each request; below it, keeping them is faster.
_KEPT_BYTES = 4 << 20
_MAX_FRAME_BYTES = 64


class Request(NamedTuple):
    """Evaluate the ``length`` bytes in the box within ``budget_seconds``."""

    length: int
    budget_seconds: float

    def pack(self) -> bytes:
        """The frame's bytes."""
        return _REQUEST.pack(*self)

    @classmethod
    def unpack(cls, frame: bytes) -> Request:
        """The request in a frame that came from the pool."""
        return cls(*_REQUEST.unpack(frame))


class Receipt(NamedTuple):
    """The box holds ``payload_length`` bytes of response, then ``report_length`` of report.

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
        return cls(*_REPLY.unpack(frame))


def receive(connection: socket.socket, flags: int = 0) -> bytes:
    """The next frame, or no bytes when the other end is gone; raises what recv raises to wait."""
    try:
        return connection.recv(_MAX_FRAME_BYTES, flags)
    except ConnectionResetError:
        return b""


class Box:
    """Memory that one worker and its pool share: the limits in force, then the payload.

    The file behind it is sealed, so that a worker that went astray cannot shrink it under the
    pool's feet. Only touched pages cost memory.
    """

    def __init__(self, descriptor: int) -> None:
        self._size = os.fstat(descriptor).st_size
        self._map = mmap.mmap(descriptor, self._size)

    @staticmethod
    def build(capacity_bytes: int) -> int:
        """A descriptor to build the two ends of a box from; the caller closes it."""
        flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
        descriptor = os.memfd_create("function-script-box", flags)
        os.ftruncate(descriptor, _HEADER_BYTES + capacity_bytes)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        return descriptor

    @property
    def capacity_bytes(self) -> int:
        """How much payload fits."""
        return self._size - _HEADER_BYTES

    def put(self, *parts: bytes) -> None:
        """Write ``parts`` one after the other; the caller has compared with the capacity."""
        start = _HEADER_BYTES
        for part in parts:
            self._map[start : start + len(part)] = part
            start += len(part)

    def get(self, length: int, *, after: int = 0) -> bytes:
        """A copy of ``length`` bytes of payload; raises ValueError when the box is smaller."""
        start = _HEADER_BYTES + after
        if length + after > self.capacity_bytes:
            raise ValueError(f"{length} bytes announced, {self.capacity_bytes} fit")
        return self._map[start : start + length]

    def put_limits(self, timeout_seconds: float, memory_bytes: int) -> None:
        """Leave word of the limits in force, for the pool to read when the worker has died."""
        _LIMITS.pack_into(self._map, 0, timeout_seconds, memory_bytes)

    def get_limits(self) -> tuple[float, int]:
        """Timeout in seconds and memory in bytes, as last put."""
        timeout_seconds, memory_bytes = _LIMITS.unpack_from(self._map, 0)
        return timeout_seconds, memory_bytes

    def trim(self, used_bytes: int) -> None:
        """Give the pages of a large payload back to the system."""
        if used_bytes > _KEPT_BYTES:
            start = _HEADER_BYTES + _KEPT_BYTES
            self._map.madvise(mmap.MADV_REMOVE, start, used_bytes - _KEPT_BYTES)

    def close(self) -> None:
        """Unmap."""
        self._map.close()

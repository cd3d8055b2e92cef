"""Memory that a worker and its pool share, on Linux.

A frame announces how many of its bytes count. Copying them through a socket would cost 15 times
more for a request of 2 MB.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct

_LIMITS = struct.Struct("<dQ")
_HEADER_BYTES = mmap.PAGESIZE
# Pages beyond this are given back after each request; below it, keeping them is faster.
_KEPT_BYTES = 4 << 20


class SharedMemory:
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

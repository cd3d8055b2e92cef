"""The memory that a worker and its pool share, both ends of their connection, and the log.

A frame on a socket announces how many bytes of the memory count. Copying them through the socket
would cost 15 times more for a request of 2 MB.
"""

import fcntl
import mmap
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

from function_script.sandbox.ipc import (
    MAX_BATCH,
    Begun,
    ReplyHeader,
    RequestHeader,
    receive,
)
from function_script.sandbox.spawn_errors import Call, system_call

# Only Linux has files that are nothing but memory, and seals for them.
_HAS_MEMFD: Final = hasattr(os, "memfd_create")
# One byte says which request the worker has begun, and whether the record of that request is
# complete: 0 for none, 1 and 2 for the first request without and with its record, 3 and 4 for the
# second. Nobody can read half of a byte, and no request has the record of another.
_BEGUN_BYTE = 0
# The pool's word that it has taken back the requests that follow.
_TAKEN_BACK_BYTE = 1
_LIMITS = struct.Struct("<dQ")
_RECORDS = _LIMITS.size
_HEADER_BYTES = mmap.PAGESIZE
# Pages beyond this are returned after each request; below it, keeping them is faster.
_RESIDENT_BYTES = 4 << 20
REGION_BYTES = _RESIDENT_BYTES // MAX_BATCH
"""The part of the memory that each request of a batch of several has, and later its reply."""


class SharedMemory:
    """A mapping that one worker and its pool share: the request that has begun, then the payload.

    On Linux the file behind it is sealed: a compromised worker cannot shrink it while the pool
    reads. Only touched pages use memory.
    """

    def __init__(self, descriptor: int) -> None:
        self._size = os.fstat(descriptor).st_size
        self._map = mmap.mmap(descriptor, self._size)

    @staticmethod
    def create(capacity_bytes: int) -> int:
        """Return a descriptor for the mappings of both ends; the caller closes it."""
        descriptor = _create_file("memory")
        # Before the seals, which fix the size for good.
        os.ftruncate(descriptor, _HEADER_BYTES + capacity_bytes)
        if _HAS_MEMFD:
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        return descriptor

    @property
    def capacity_bytes(self) -> int:
        """The largest payload."""
        return self._size - _HEADER_BYTES

    def write(self, *parts: bytes, index: int = 0) -> None:
        """Write a payload of concatenated ``parts``, which fit, to the region at ``index``."""
        start = _HEADER_BYTES + index * REGION_BYTES
        for part in parts:
            self._map[start : start + len(part)] = part
            start += len(part)

    def read(self, length: int, *, index: int = 0, offset: int = 0) -> bytes:
        """Copy ``length`` bytes of the payload at ``index``; raise ValueError beyond its end."""
        start = index * REGION_BYTES + offset
        if length + start > self.capacity_bytes:
            raise ValueError(f"{length} bytes announced, {self.capacity_bytes} fit")
        start += _HEADER_BYTES
        return self._map[start : start + length]

    def start_batch(self) -> None:
        """Forget what the worker and the pool have noted about the last batch."""
        self._map[_BEGUN_BYTE] = self._map[_TAKEN_BACK_BYTE] = 0

    def begin(self, index: int) -> bool:
        """Note that the worker begins a request; return False when the pool has taken it back."""
        # The pool writes and reads in the other order, so one of both sees what the other wrote.
        self._map[_BEGUN_BYTE] = 2 * index + 1
        return not (index and self._map[_TAKEN_BACK_BYTE])

    def narrow(self, index: int, timeout_seconds: float, memory_bytes: int) -> None:
        """Store the limits of the request that has begun where the pool can read them."""
        # Without its record while that is written, so that the pool reads no half of it.
        self._map[_BEGUN_BYTE] = 2 * index + 1
        _LIMITS.pack_into(self._map, _RECORDS + index * _LIMITS.size, timeout_seconds, memory_bytes)
        self._map[_BEGUN_BYTE] = 2 * index + 2

    def take_back(self) -> None:
        """Note that the worker must not begin any more requests of its batch."""
        self._map[_TAKEN_BACK_BYTE] = 1

    def begun(self) -> Begun | None:
        """Return what the worker has begun last, as it claims; None before the first request."""
        mark = self._map[_BEGUN_BYTE]
        if not 0 < mark <= 2 * MAX_BATCH:
            return None
        index = (mark - 1) // 2
        if mark % 2:
            return Begun(index)
        start = _RECORDS + index * _LIMITS.size
        timeout_seconds, memory_bytes = _LIMITS.unpack_from(self._map, start)
        return Begun(index, timeout_seconds, memory_bytes)

    def trim(self, used_bytes: int) -> None:
        """Return the pages of a large payload to the system."""
        if used_bytes > _RESIDENT_BYTES:
            start = _HEADER_BYTES + _RESIDENT_BYTES
            # MADV_DONTNEED would only unmap the pages here, and the file would keep them.
            self._map.madvise(mmap.MADV_REMOVE, start, used_bytes - _RESIDENT_BYTES)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


class SharedMemoryChannel(SharedMemory):
    """The worker's end of its connection to the pool, for one batch at a time.

    Frames come on a socket, payloads in the shared memory.
    """

    def __init__(self, connection: socket.socket, descriptor: int) -> None:
        super().__init__(descriptor)
        self._connection = connection

    def receive(self) -> list[RequestHeader] | None:
        """Wait for the next batch; return None when the pool has closed the connection."""
        frame = receive(self._connection)
        return RequestHeader.unpack_batch(frame) if frame else None

    def send_replies(self, headers: list[ReplyHeader]) -> None:
        """Announce the stored replies of a batch."""
        self._connection.send(b"".join([header.pack() for header in headers]))


class Link(NamedTuple):
    """The pool's end of what it shares with one worker; ``log`` is what the worker prints to."""

    connection: socket.socket
    memory: SharedMemory
    log: int

    def close(self) -> None:
        """Release it."""
        self.connection.close()
        self.memory.close()
        os.close(self.log)


@contextmanager
def open_link(kind: socket.SocketKind, capacity_bytes: int) -> Iterator[tuple[Link, list[int]]]:
    """Yield a link, and the descriptors of connection, memory and log for a process of the block.

    An error of the block closes it. Raise CallRefusedError.
    """
    # The descriptors are closed here in any case: with a copy left, nobody would notice an end.
    with ExitStack() as on_failure, ExitStack() as handed_over:
        with system_call(Call.SOCKETPAIR):
            connection, peer = socket.socketpair(socket.AF_UNIX, kind)
        on_failure.enter_context(connection)
        handed_over.enter_context(peer)
        with system_call(Call.MEMFD_CREATE if _HAS_MEMFD else Call.OPEN):
            log = _create_file("log")
            on_failure.callback(os.close, log)
            memory_fd = SharedMemory.create(capacity_bytes)
            handed_over.callback(os.close, memory_fd)
        with system_call(Call.MMAP):
            memory = SharedMemory(memory_fd)
        on_failure.callback(memory.close)
        yield Link(connection, memory, log), [peer.fileno(), memory_fd, log]
        on_failure.pop_all()


def _create_file(name: str) -> int:
    """Return the descriptor of an empty file without a place in a directory."""
    if _HAS_MEMFD:
        return os.memfd_create(f"function-script-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    import tempfile  # noqa: PLC0415 - slow to import, and not needed on Linux

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())

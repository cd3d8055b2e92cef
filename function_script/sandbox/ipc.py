"""The messages between the processes of a pool: pool and worker, pool and zygote.

Pool and worker exchange frames of fixed size, a ``RequestHeader`` one way and a ``ReplyHeader``
back. The bytes that a header announces lie in the worker's ``SharedMemory``, or follow it on the
same stream in a plain pool.

Pool and zygote exchange one packet each way. An order with descriptors (connection, shared memory,
log) asks for a fork; the answer is the worker's process id with a pidfd, or the refused system
call. An order without descriptors asks for the exit status of the worker with that process id.
Each answer repeats the number of its order.
"""

from __future__ import annotations

import socket
import struct
from abc import ABC, abstractmethod
from typing import NamedTuple

from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.spawn_errors import Call, CallRefusedError

# A report is parsed in the server's event loop, and a compromised worker may send any length.
MAX_REPORT_BYTES = 1 << 20
SEED_BYTES = 32
_REQUEST = struct.Struct(f"<Q{SEED_BYTES}s")
_REPLY = struct.Struct("<??QQ")
_NO_SEED = bytes(SEED_BYTES)
REQUEST_BYTES = _REQUEST.size
REPLY_BYTES = _REPLY.size
_MAX_FRAME_BYTES = 64

ZYGOTE_READY = b"ready"
FORK_FDS = 3
MAX_ORDER_BYTES = 64
_NUMBER = struct.Struct("<Q")
_ORDER = struct.Struct("<Qq")
_FORKED = struct.Struct("<QqBi")
_EXIT_STATUS = struct.Struct("<Q?iQ")


class RequestHeader(NamedTuple):
    """Asks a worker to evaluate a request of ``length`` bytes.

    ``seed`` is the secret of its XR from which random values derive; b"" without a salt.
    """

    length: int
    seed: bytes = b""

    def pack(self) -> bytes:
        """Return the frame."""
        return _REQUEST.pack(*self)

    @classmethod
    def unpack(cls, frame: bytes) -> RequestHeader:
        """Parse a frame of the pool."""
        length, seed = _REQUEST.unpack(frame)
        return cls(length, b"" if seed == _NO_SEED else seed)


class ReplyHeader(NamedTuple):
    """Announces ``payload_length`` bytes of response, then ``report_length`` of report.

    ``is_answer`` is False when the program ended the evaluation: there is only a report.
    ``is_last``: the worker is about to exit and must not get another request.
    """

    is_answer: bool
    is_last: bool
    payload_length: int
    report_length: int

    def pack(self) -> bytes:
        """Return the frame."""
        return _REPLY.pack(*self)

    @classmethod
    def unpack(cls, frame: bytes) -> ReplyHeader:
        """Parse a frame of a worker; raise ValueError for one that no sound worker sends."""
        if len(frame) != _REPLY.size:
            raise ValueError(f"a frame of {len(frame)} bytes")
        header = cls(*_REPLY.unpack(frame))
        if header.report_length > MAX_REPORT_BYTES:
            raise ValueError(f"a report of {header.report_length} bytes")
        return header


def receive(connection: socket.socket) -> bytes:
    """Return the next frame, or b"" when the other end is closed.

    Raise BlockingIOError or TimeoutError as the socket's timeout demands.
    """
    try:
        return connection.recv(_MAX_FRAME_BYTES)
    except ConnectionResetError:
        return b""


class Channel(ABC):
    """The worker's end of its connection to the pool, for one request at a time.

    A response and its report together may have ``capacity_bytes``.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes

    @abstractmethod
    def receive(self) -> RequestHeader | None:
        """Wait for the next request; return None when the pool has closed the connection."""

    @abstractmethod
    def read_request(self, length: int) -> bytes:
        """Return the ``length`` bytes that a header has announced."""

    @abstractmethod
    def write_limits(self, timeout_seconds: float, memory_bytes: int) -> None:
        """Publish the effective limits, which the pool reads after a crash."""

    @abstractmethod
    def send_reply(self, header: ReplyHeader, response: bytes, report: bytes) -> None:
        """Send a response and its report, which fit into the capacity."""


def pack_order(number: int, pid: int = 0) -> bytes:
    """Return an order for a fork, or for the exit status of the worker ``pid``."""
    return _ORDER.pack(number, pid)


def unpack_order(packet: bytes) -> tuple[int, int]:
    """Return the number and the process id of an order."""
    number, pid = _ORDER.unpack(packet)
    return number, pid


def read_number(packet: bytes) -> int:
    """Return the number of the order that an answer belongs to."""
    number: int = _NUMBER.unpack_from(packet)[0]
    return number


def pack_fork(number: int, pid: int) -> bytes:
    """Return the answer with the process id of a new worker."""
    return _FORKED.pack(number, pid, 0, 0)


def pack_refused_fork(number: int, refusal: CallRefusedError) -> bytes:
    """Return the answer for a worker that could not be forked."""
    return _FORKED.pack(number, 0, refusal.call, refusal.errno)


def unpack_fork(packet: bytes) -> int:
    """Return the process id of a new worker; raise CallRefusedError when there is none."""
    _, pid, call, errno = _FORKED.unpack(packet)
    if call:
        raise CallRefusedError(Call(call), errno)
    return int(pid)


def pack_exit_status(number: int, status: int | None, peak_bytes: int) -> bytes:
    """Return the answer with a worker's exit status.

    ``status`` is None for a process that has not exited or is not a child of this zygote.
    """
    return _EXIT_STATUS.pack(number, status is not None, status or 0, peak_bytes)


def unpack_exit_status(packet: bytes) -> ExitStatus:
    """Return the exit status of an answer."""
    _, is_known, status, peak_bytes = _EXIT_STATUS.unpack(packet)
    return ExitStatus(status=status if is_known else None, peak_bytes=peak_bytes)

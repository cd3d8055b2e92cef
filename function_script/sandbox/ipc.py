"""The messages between the processes of a pool: pool and worker, pool and zygote.

Pool and worker exchange one frame each way: the ``RequestHeader`` of each request of a batch, and
the ``ReplyHeader`` of each reply, in the same order. The bytes that a header announces lie in the
worker's ``SharedMemory``. In a plain pool, a batch is one request.

Pool and zygote exchange one packet of numbers each way. An order is its own number and a process
id. With descriptors (connection, shared memory, log) it asks for a fork; the answer is the worker's
process id, and a pidfd, or 0, the refused system call and its errno. Without descriptors it asks
for the exit status of the worker with that process id; the answer is the status and the largest
resident size, or nothing for a process that has not exited or is not a child of this zygote. Each
answer begins with the number of its order.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import NamedTuple

# A report is parsed in the server's event loop, and a compromised worker may send any length.
MAX_REPORT_BYTES = 1 << 20
SEED_BYTES = 32
# A batch of more saves little: two of its eight context switches.
MAX_BATCH = 4
_REQUEST = struct.Struct(f"<Q{SEED_BYTES}s")
_REPLY = struct.Struct("<?QQQ")
_NO_SEED = bytes(SEED_BYTES)
REQUEST_BYTES = _REQUEST.size
REPLY_BYTES = _REPLY.size
# One more than a frame may have: a longer one is cut, and then refused.
_RECEIVED_BYTES = MAX_BATCH * max(REQUEST_BYTES, REPLY_BYTES) + 1

READY = b"ready"
FORK_FDS = 3
MAX_PACKET_BYTES = 256


class Begun(NamedTuple):
    """The request at ``position`` of a batch, which its worker has begun last.

    The limits are those that its input narrowed, 0 if it has not, or not yet.
    """

    position: int = 0
    timeout_seconds: float = 0.0
    memory_bytes: int = 0


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
    def unpack_batch(cls, frame: bytes) -> list[RequestHeader]:
        """Parse a frame of the pool."""
        headers: list[RequestHeader] = []
        for length, seed in _REQUEST.iter_unpack(frame):
            headers.append(cls(length, b"" if seed == _NO_SEED else seed))
        return headers


class ReplyHeader(NamedTuple):
    """Announces ``payload_length`` bytes of response, then ``report_length`` of report.

    ``is_last``: the worker is about to exit and must not get another request. The reply of a batch
    has the CPU time of its evaluation. It has no report if it was too large for a batch.
    """

    is_last: bool
    payload_length: int
    report_length: int
    cpu_microseconds: int = 0

    def pack(self) -> bytes:
        """Return the frame."""
        return _REPLY.pack(*self)

    @classmethod
    def unpack_batch(cls, frame: bytes, size: int) -> list[ReplyHeader]:
        """Parse the frame for ``size`` requests; raise ValueError if no sound worker sends it."""
        if len(frame) % REPLY_BYTES or len(frame) > size * REPLY_BYTES:
            raise ValueError(f"a frame of {len(frame)} bytes for {size} requests")
        headers = [cls(*numbers) for numbers in _REPLY.iter_unpack(frame)]
        for header in headers:
            if header.report_length > MAX_REPORT_BYTES:
                raise ValueError(f"a report of {header.report_length} bytes")
        return headers


def receive(connection: socket.socket) -> bytes:
    """Return the next frame, or b"" when the other end is closed.

    Raise BlockingIOError or TimeoutError as the socket's timeout demands.
    """
    try:
        return connection.recv(_RECEIVED_BYTES)
    except ConnectionResetError:
        # The other end was closed with a frame that it had not read.
        return b""


def pack_numbers(*numbers: int) -> bytes:
    """Return the packet of an order, or of an answer."""
    return json.dumps(numbers).encode()


def unpack_numbers(packet: bytes) -> list[int]:
    """Return the numbers of a packet."""
    numbers: list[int] = json.loads(packet)
    return numbers

"""What a pool and its zygote say to each other: one packet each way, pool first.

An order with descriptors (connection, box, log) asks for a fork; the answer is the worker's
process id with a pidfd, or the system call that was refused. An order without descriptors asks
how the worker of that process id ended. Each answer has the number of its order.
"""

from __future__ import annotations

import struct

from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.refusals import Call, CallRefusedError

READY = b"ready"
FORK_FDS = 3
MAX_BYTES = 64

_NUMBER = struct.Struct("<Q")
_ORDER = struct.Struct("<Qq")
_FORKED = struct.Struct("<QqBi")
_DEATH = struct.Struct("<Q?iQ")


def pack_order(number: int, pid: int = 0) -> bytes:
    """Return order ``number``, about the worker ``pid`` unless it asks for a new one."""
    return _ORDER.pack(number, pid)


def unpack_order(packet: bytes) -> tuple[int, int]:
    """Return the number and the process id in ``packet``."""
    number, pid = _ORDER.unpack(packet)
    return number, pid


def read_number(packet: bytes) -> int:
    """Return the number of the order that ``packet`` answers."""
    number: int = _NUMBER.unpack_from(packet)[0]
    return number


def pack_fork(number: int, pid: int) -> bytes:
    """Return the answer for a worker that was forked."""
    return _FORKED.pack(number, pid, 0, 0)


def pack_refusal(number: int, refusal: CallRefusedError) -> bytes:
    """Return the answer when there was no way to fork."""
    return _FORKED.pack(number, 0, refusal.call, refusal.errno)


def unpack_fork(packet: bytes) -> int:
    """Return the process id of a new worker; raises CallRefusedError when there is none."""
    _, pid, call, errno = _FORKED.unpack(packet)
    if call:
        raise CallRefusedError(Call(call), errno)
    return int(pid)


def pack_exit_status(number: int, status: int | None, peak_bytes: int) -> bytes:
    """Return how a worker ended; None: it is not, or no longer, a child of this zygote."""
    return _DEATH.pack(number, status is not None, status or 0, peak_bytes)


def unpack_death(packet: bytes) -> ExitStatus:
    """Return the death in ``packet``."""
    _, is_known, status, peak_bytes = _DEATH.unpack(packet)
    return ExitStatus(status=status if is_known else None, peak_bytes=peak_bytes)

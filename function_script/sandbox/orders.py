"""What a pool and its zygote say to each other: one packet each way, pool first.

An order with descriptors (connection, box, log) asks for a fork; the answer is the worker's
process id, with a pidfd (none: there was no way to fork). An order without descriptors asks how
the worker of that process id ended.
"""

from __future__ import annotations

import struct

from function_script.sandbox.outcome import Death

READY = b"ready"
FORK = b"fork"
FORK_FDS = 3
MAX_BYTES = 64

_PID = struct.Struct("<q")
_DEATH = struct.Struct("<?iQ")


def pack_pid(pid: int) -> bytes:
    """A process id."""
    return _PID.pack(pid)


def unpack_pid(packet: bytes) -> int:
    """The process id in ``packet``."""
    pid: int = _PID.unpack(packet)[0]
    return pid


def pack_death(status: int | None, peak_bytes: int) -> bytes:
    """How a worker ended; None: it is not, or no longer, a child of this zygote."""
    return _DEATH.pack(status is not None, status or 0, peak_bytes)


def unpack_death(packet: bytes) -> Death:
    """The death in ``packet``."""
    is_known, status, peak_bytes = _DEATH.unpack(packet)
    return Death(status=status if is_known else None, peak_bytes=peak_bytes)

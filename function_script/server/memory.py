"""Memory of this process: its size, and giving back what is free."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_STATM = Path("/proc/self/statm")
# Of malloc.h.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_MMAP_BYTES = 256 * 1024
_ARENAS = 2


def resident_bytes() -> int:
    """Return the memory that this process has and does not share with files or workers."""
    _, resident, shared, *_ = _STATM.read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def trim() -> None:
    """Give free memory back to the system, which glibc keeps otherwise; musl need not be asked."""
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function is not None:
        function(0)


def keep_heap_small() -> None:
    """Have glibc give large buffers back at once, and share its heaps between threads.

    Otherwise it learns from the first large request to keep such buffers, once for each thread.
    """
    function = getattr(ctypes.CDLL(None), "mallopt", None)
    if function is not None:
        function(_M_ARENA_MAX, _ARENAS)
        function(_M_MMAP_THRESHOLD, _MMAP_BYTES)

"""Memory of this process: its size, and the return of free memory to the system."""

import ctypes
import gc
import os
import time
from pathlib import Path
from typing import Final

_STATM = Path("/proc/self/statm")
# From glibc's malloc.h.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_MMAP_BYTES = 256 * 1024
_ARENAS = 2
# The time between two trims: when the process has grown or is idle, and otherwise.
_TRIM_SECONDS: Final = 5.0
_ROUTINE_TRIM_SECONDS: Final = 60.0
_GROWTH: Final = 1.1


def resident_bytes() -> int:
    """Return the resident memory of this process, without files and memory shared with workers."""
    _, resident, shared, *_ = _STATM.read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def trim() -> None:
    """Return free memory of the heap to the system: glibc keeps it otherwise, musl does not.

    Calls that were cancelled leave reference cycles, which the collector would find much later.
    """
    gc.collect()
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function is not None:
        function(0)


def limit_heap() -> None:
    """Make glibc map large buffers, which return to the system when freed, and share its heaps.

    By default glibc raises its threshold after the first large buffer, and keeps a heap for each
    thread.
    """
    function = getattr(ctypes.CDLL(None), "mallopt", None)
    if function is not None:
        function(_M_ARENA_MAX, _ARENAS)
        function(_M_MMAP_THRESHOLD, _MMAP_BYTES)


class HeapTrimmer:
    """Trims the heap of a server: soon after growth or when it is idle, else once a minute.

    Memory that calls hold is not free while they last, so growth since the last trim is not the
    only reason: the heap is trimmed after calls, and from time to time between them.
    """

    def __init__(self) -> None:
        self._trimmed_bytes = resident_bytes()
        self._trim_time = 0.0
        self._active_time = 0.0

    def trim_if_due(self, resident: int, *, has_calls: bool) -> None:
        """Trim the heap of a process that has ``resident`` bytes, if it is time.

        ``has_calls``: there was one since the last time.
        """
        now = time.monotonic()
        if has_calls:
            self._active_time = now
        is_idle = now - self._active_time >= _TRIM_SECONDS
        has_grown = resident > self._trimmed_bytes * _GROWTH
        delay = _TRIM_SECONDS if is_idle or has_grown else _ROUTINE_TRIM_SECONDS
        if now - self._trim_time >= delay:
            self._trim_time = now
            trim()
            self._trimmed_bytes = resident_bytes()

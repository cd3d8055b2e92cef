"""What this container has: processors and memory, as its control group allows them."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MIN_WORKERS = 2
_MIN_SLOW_WORKERS = 4
_MAX_SLOW_WORKERS = 64
# The rest is for the server, the zygote and what all workers share.
_SHARE_OF_MEMORY = 0.8


def quick_workers() -> int:
    """Short programs to run at once: as many as there are CPUs, for long ones give way."""
    return max(_MIN_WORKERS, _cpus())


def slow_workers(memory_bytes: int, workers: int) -> int:
    """Workers more that may each use up to ``memory_bytes`` without hurting the container."""
    fitting = int(_memory_bytes() * _SHARE_OF_MEMORY) // memory_bytes - workers
    return min(max(fitting, _MIN_SLOW_WORKERS), _MAX_SLOW_WORKERS)


def count_cpus() -> int:
    """Count the CPUs that this process may run on; all there are, where no system says it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpus() -> int:
    allowed = count_cpus()
    quota, _, period = _read("cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        allowed = min(allowed, math.ceil(int(quota) / int(period)))
    return allowed


def _memory_bytes() -> int:
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        # POSIX has no name for it, and Windows no such call.
        installed = 0
    allowed = _read("memory.max")
    return min(installed, int(allowed)) if allowed.isdigit() else installed


def _read(name: str) -> str:
    try:
        return (_CGROUP / name).read_text().strip()
    except OSError:
        return ""

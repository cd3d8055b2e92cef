"""How long tests wait, so that a slow or busy machine fails none of them.

For tests that look at a clock. What must come is waited for with ``wait_until``; what must not
come later than a limit may be late by ``SLACK_SECONDS``; bounds of CPU time belong to one quiet
machine, and are stretched for others.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 60.0
SLACK_SECONDS = 10.0
# A worker that has used so much has more to do than to begin.
_BUSY_SECONDS = 0.1
# CPU seconds of the yardstick on the machine where the bounds were measured.
_YARDSTICK_SECONDS = 0.025
# What neighbours on the same cores and caches cost, beyond what the yardstick meets.
_NEIGHBOURS = 3.0


def wait_until(holds: Callable[[], object]) -> None:
    """Return as soon as that is true; AssertionError when it does not come true."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"not true within {PATIENCE_SECONDS:g} s"
        time.sleep(0.005)


def wait_until_busy(processes: Callable[[], list[int]], count: int = 1) -> None:
    """Return when so many of the processes are in the midst of work that takes long."""
    before = {pid: _cpu_seconds(pid) for pid in processes()}

    def are_busy() -> bool:
        used = [_cpu_seconds(pid) - before.get(pid, 0.0) for pid in processes()]
        return sum(seconds > _BUSY_SECONDS for seconds in used) >= count

    wait_until(are_busy)


def _cpu_seconds(pid: int) -> float:
    """What a process has used so far; 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stretched(seconds: float) -> float:
    """The bound for a test beside others, of what takes less CPU time than that alone."""
    return seconds * slower() * _NEIGHBOURS


@cache
def slower() -> float:
    """How many times longer this machine takes for a piece of work; 1 at the least."""
    return max(1.0, min(_work() for _ in range(5)) / _YARDSTICK_SECONDS)


def _work() -> float:
    """CPU seconds of what programs mostly do: dicts, text and calls."""
    began = time.process_time()
    for _ in range(100):
        found = {f"key-{number}": str(number).rjust(9) for number in range(1_000)}
        "".join(sorted(found.values(), key=str.strip)).encode()
    return time.process_time() - began

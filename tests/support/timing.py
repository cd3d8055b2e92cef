"""How long tests wait, so that a slow or busy machine fails none of them.

For tests that look at a clock. What must come is waited for with ``wait_until``; what must not
come later than a limit may be late by ``SLACK_SECONDS``; bounds of CPU time belong to one quiet
machine, and are stretched for others.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

PATIENCE_SECONDS = 60.0
SLACK_SECONDS = 10.0
# A worker that has used so much has more to do than to begin.
_BUSY_SECONDS = 0.1
# CPU seconds of the yardstick on the machine where the bounds were measured.
_YARDSTICK_SECONDS = 0.025
# What neighbours on the same cores and caches cost, beyond what the yardstick meets.
_NEIGHBOURS = 3.0
# What starts, imports and exits, as a command does; its CPU seconds on that same machine.
_YARDSTICK_PROCESS = ("-I", "-c", "import asyncio, ctypes, decimal, doctest, ssl, tarfile")
_YARDSTICK_PROCESS_SECONDS = 0.085
# On a virtual machine with neighbours, equal runs differ by so much. What a command imports is
# bounded exactly by other tests; this bound is for what they do not see.
_NOISE = 1.75
# A bound holds when it is kept once in so many rounds: others can only lengthen what they meet.
_ROUNDS = 20
_PAIRS = 9


def wait_until(holds: Callable[[], object], *, pause_seconds: float = 0.005) -> None:
    """Return as soon as that is true, tried with pauses; AssertionError when it does not come."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"not true within {PATIENCE_SECONDS:g} s"
        time.sleep(pause_seconds)


def wait_until_busy(processes: Callable[[], list[int]], count: int = 1) -> None:
    """Return when so many of the processes are in the midst of work that takes long."""
    before = {pid: cpu_seconds(pid) for pid in processes()}

    def are_busy() -> bool:
        used = [cpu_seconds(pid) - before.get(pid, 0.0) for pid in processes()]
        return sum(seconds > _BUSY_SECONDS for seconds in used) >= count

    wait_until(are_busy)


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used so far; 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stretched(seconds: float) -> float:
    """The bound for a test beside others, of what takes less CPU time than that alone."""
    return seconds * slower() * _NEIGHBOURS


@contextmanager
def taking_less(seconds: float) -> Iterator[None]:
    """Fail when the block takes more CPU time than that, stretched."""
    began = time.process_time()
    yield
    assert time.process_time() - began < stretched(seconds)


def is_within(most: float, call: Callable[[], object], *, of: Callable[[], object]) -> bool:
    """Tell whether a call takes less than so many times the CPU time of another.

    Both are made in turns until it does: others can only lengthen what they meet.
    """
    return any(_call_seconds(call) < most * _call_seconds(of) for _ in range(_PAIRS))


def _call_seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def takes_less(command: Sequence[str], limit_seconds: float) -> bool:
    """Tell whether this Python, run with these arguments, takes less CPU time than that.

    Children of the process are included. A yardstick process runs before each: what slows the
    machine down in these very moments stretches the limit, and so does noise.
    """
    least = yardstick = float("inf")
    for _ in range(_ROUNDS):
        yardstick = min(yardstick, _process_seconds(_YARDSTICK_PROCESS))
        least = min(least, _process_seconds(command))
        if least < limit_seconds * _NOISE * max(1.0, yardstick / _YARDSTICK_PROCESS_SECONDS):
            return True
    return False


def _process_seconds(arguments: Sequence[str]) -> float:
    """CPU seconds of one run of Python, which must succeed."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime


@cache
def slower() -> float:
    """How many times longer this machine takes for a piece of work; 1 at the least."""
    return max(1.0, min(_work() for _ in range(5)) / _YARDSTICK_SECONDS)


def _work() -> float:
    """CPU seconds of what programs mostly do: dicts, text and calls."""
    began = time.process_time()
    for _ in range(100):
        table = {f"key-{number}": str(number).rjust(9) for number in range(1_000)}
        "".join(sorted(table.values(), key=str.strip)).encode()
    return time.process_time() - began

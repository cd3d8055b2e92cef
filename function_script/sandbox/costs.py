"""The CPU time that heavy programs needed lately, so that a heavy run is known before it begins.

A run notes what it needed; whoever lets runs begin asks. Knows keys, and nothing of what they mean.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

HEAVY_SECONDS = 0.05
"""A run that needs more CPU time than this is heavy: others need not wait behind it."""
# An estimate that nothing confirms is forgotten, lest it keep a program from ever running.
_SECONDS = 60.0
_MOST_PROGRAMS = 1_000
_MOST_RUNS = 10_000

K = TypeVar("K")


class Costs:
    """Estimates in CPU seconds. Thread-safe.

    A run is a program with an XR. Programs count whose runs were heavy of late; a run of such a
    program that is not known yet is expected to need what its program needs for other XRs.
    Keys are functions, since finding one out costs more than the answer while there are none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._programs: _Estimates[Hashable] = _Estimates(_MOST_PROGRAMS)
        self._runs: _Estimates[Hashable] = _Estimates(_MOST_RUNS)

    def learn(
        self,
        program_of: Callable[[], Hashable],
        run_of: Callable[[], Hashable],
        cpu_seconds: float,
    ) -> None:
        """A run has needed so much."""
        if cpu_seconds <= HEAVY_SECONDS and not self._programs:
            return
        program = program_of()
        with self._lock:
            if program is None or (cpu_seconds <= HEAVY_SECONDS and program not in self._programs):
                return
            self._runs.learn(run_of(), cpu_seconds)
            if self._programs.learn(program, cpu_seconds) < HEAVY_SECONDS / 2:
                self._programs.forget(program)

    def note(self, program_of: Callable[[], Hashable], cpu_seconds: float) -> None:
        """A run of the program goes on, and has used so much already."""
        program = program_of()
        with self._lock:
            if program is not None and (self._programs.find(program) or 0.0) < cpu_seconds:
                self._programs.put(program, cpu_seconds)

    def expect(self, program_of: Callable[[], Hashable], run_of: Callable[[], Hashable]) -> float:
        """What a run will need; 0.0 unless that is known, and heavy."""
        if not self._programs:
            return 0.0
        with self._lock:
            of_program = self._programs.find(program_of())
            if of_program is None:
                return 0.0
            of_run = self._runs.find(run_of())
        seconds = of_program if of_run is None else of_run
        return seconds if seconds > HEAVY_SECONDS else 0.0


class _Estimates(Generic[K]):
    """The latest estimates: each is the mean of what was needed last and the estimate before."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[K, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def find(self, key: K) -> float | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry[1] < time.monotonic():
            del self._entries[key]
            return None
        return entry[0]

    def learn(self, key: K, cpu_seconds: float) -> float:
        """Note what was needed; returns the new estimate."""
        before = self.find(key)
        estimate = cpu_seconds if before is None else (before + cpu_seconds) / 2
        self.put(key, estimate)
        return estimate

    def put(self, key: K, cpu_seconds: float) -> None:
        """Have an estimate from now on."""
        self._entries[key] = (cpu_seconds, time.monotonic() + _SECONDS)
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def forget(self, key: K) -> None:
        del self._entries[key]

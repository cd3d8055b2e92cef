"""The history of runs: the CPU time that programs needed lately, and the keys that lost a worker.

The scheduler decides by it which run is short, which is heavy, and which is penalized.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

HEAVY_SECONDS = 0.05
"""A run that needs more CPU time than this is heavy: others need not wait behind it."""
# The estimate follows the longest of the last hundred or so runs: long programs may be rare.
_DECAY = 0.98
# While programs need no more than this, a run waits so long before another worker is woken: a
# worker that goes on is up to a third cheaper than two that find their CPU caches cold.
_SHORT_SECONDS = 0.002
_BATCH_DELAY_SECONDS = 0.015
# Until runs have completed, programs are taken for long.
_UNKNOWN_SECONDS = 1.0
# A penalized run that gets no CPU can neither crash nor complete, and a program that is refused
# for its cost never shows that it became cheap: both kinds of entries expire.
_EXPIRY_SECONDS = 60.0
_MAX_PENALTIES = 1_000
_MAX_PROGRAMS = 1_000
_MAX_RUNS = 10_000

K = TypeVar("K")


class RuntimeEstimate:
    """The CPU time that programs usually need, from which the batch delay follows.

    Only completed runs count. Threads may use it without a lock: a lost update does no harm.
    """

    def __init__(self) -> None:
        self._usual_seconds = _UNKNOWN_SECONDS

    def reset(self) -> None:
        """Forget the completed runs."""
        self._usual_seconds = _UNKNOWN_SECONDS

    def observe(self, cpu_seconds: float) -> None:
        """Take a completed run into account."""
        self._usual_seconds = max(cpu_seconds, self._usual_seconds * _DECAY)

    def batch_delay(self) -> float:
        """Return the seconds that a run waits for a running worker before another is woken."""
        return _BATCH_DELAY_SECONDS if self._usual_seconds <= _SHORT_SECONDS else 0.0


class PenaltyBox:
    """Keys that lost a worker lately and have not completed a run since. Thread-safe.

    The next run of such a key gets the worker that is missed least. Keys are passed as functions,
    since computing one costs more than the answer while the box is empty.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expiry_by_key: OrderedDict[Hashable, float] = OrderedDict()

    def add(self, key_of: Callable[[], Hashable]) -> None:
        """Penalize a key, unless it is None."""
        key = key_of()
        if key is None:
            return
        with self._lock:
            self._expiry_by_key[key] = time.monotonic() + _EXPIRY_SECONDS
            self._expiry_by_key.move_to_end(key)
            if len(self._expiry_by_key) > _MAX_PENALTIES:
                self._expiry_by_key.popitem(last=False)

    def clear(self, key_of: Callable[[], Hashable]) -> None:
        """End the penalty of a key."""
        if self._expiry_by_key:
            key = key_of()
            with self._lock:
                self._expiry_by_key.pop(key, None)

    def contains(self, key_of: Callable[[], Hashable]) -> bool:
        """Report whether a key is penalized."""
        if not self._expiry_by_key:
            return False
        return self._expiry_by_key.get(key_of(), 0.0) > time.monotonic()


class CostEstimates:
    """The CPU seconds that heavy programs needed lately. Thread-safe.

    A run is identified by its program and its XR. Only programs with heavy runs are remembered; a
    new XR is expected to cost what its program costs for other XRs. Keys are passed as functions,
    since computing one costs more than the answer while no program is heavy.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._programs: _Averages[Hashable] = _Averages(_MAX_PROGRAMS)
        self._runs: _Averages[Hashable] = _Averages(_MAX_RUNS)

    def observe(
        self,
        program_of: Callable[[], Hashable],
        run_of: Callable[[], Hashable],
        cpu_seconds: float,
    ) -> None:
        """Take a run into account that has ended."""
        if cpu_seconds <= HEAVY_SECONDS and not self._programs:
            return
        program = program_of()
        with self._lock:
            if program is None or (cpu_seconds <= HEAVY_SECONDS and program not in self._programs):
                return
            self._runs.add(run_of(), cpu_seconds)
            if self._programs.add(program, cpu_seconds) < HEAVY_SECONDS / 2:
                self._programs.remove(program)

    def raise_to(self, program_of: Callable[[], Hashable], cpu_seconds: float) -> None:
        """Take a run into account that has used so much already and goes on."""
        program = program_of()
        with self._lock:
            if program is not None and (self._programs.get(program) or 0.0) < cpu_seconds:
                self._programs.set(program, cpu_seconds)

    def estimate(self, program_of: Callable[[], Hashable], run_of: Callable[[], Hashable]) -> float:
        """Return the expected CPU seconds of a run, 0.0 unless it is known to be heavy."""
        if not self._programs:
            return 0.0
        with self._lock:
            program_seconds = self._programs.get(program_of())
            if program_seconds is None:
                return 0.0
            run_seconds = self._runs.get(run_of())
        seconds = program_seconds if run_seconds is None else run_seconds
        return seconds if seconds > HEAVY_SECONDS else 0.0


class _Averages(Generic[K]):
    """The most recent ``max_keys`` averages; each is the mean of the last value and itself."""

    def __init__(self, max_keys: int) -> None:
        self._max_keys = max_keys
        # The average with its expiry time.
        self._entries: OrderedDict[K, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> float | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        average, expiry = entry
        if expiry < time.monotonic():
            del self._entries[key]
            return None
        return average

    def add(self, key: K, seconds: float) -> float:
        """Take a value into account; return the new average."""
        previous = self.get(key)
        average = seconds if previous is None else (previous + seconds) / 2
        self.set(key, average)
        return average

    def set(self, key: K, seconds: float) -> None:
        self._entries[key] = (seconds, time.monotonic() + _EXPIRY_SECONDS)
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_keys:
            self._entries.popitem(last=False)

    def remove(self, key: K) -> None:
        del self._entries[key]

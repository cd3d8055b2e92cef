"""The history of runs: the CPU time that programs needed and got, and those that lost a worker.

The scheduler decides by it which run is short, heavy or penalized, and which cannot end in time.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from function_script.sandbox.batch import RequestIdentity

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
# The share of a CPU follows what heavy runs got in the last ten seconds or so, and is the usual one
# again half a minute after the last of them. A part of a run is mostly as long as a poll.
_HALF_LIFE_SECONDS = 5.0
_USUAL_SECONDS = 0.2
_MAX_PART_SECONDS = 0.5
_MIN_SHARE = 0.001
_MAX_PENALTIES = 1_000
_MAX_PROGRAMS = 1_000
_MAX_RUNS = 10_000


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


class CpuShare:
    """The share of a CPU that heavy runs got lately while they were not paused.

    It is the ``usual`` one until some have run, and again when none has for some time: who is
    refused for a small share cannot show that it has grown.
    """

    def __init__(self, usual: float = 1.0) -> None:
        self._usual = usual
        self._lock = threading.Lock()
        self._cpu_seconds = self._seconds = 0.0
        self._changed_at = time.monotonic()

    def observe(self, cpu_seconds: float, seconds: float) -> None:
        """Take a part of a run into account, which took so long on the clock."""
        # One that is much longer shows that the pool itself did not run.
        seconds = min(seconds, _MAX_PART_SECONDS)
        with self._lock:
            self._fade()
            self._cpu_seconds += min(cpu_seconds, seconds)
            self._seconds += seconds

    def value(self) -> float:
        """Return the share, more than 0 and at most 1."""
        with self._lock:
            self._fade()
            cpu_seconds = self._cpu_seconds + self._usual * _USUAL_SECONDS
            return max(cpu_seconds / (self._seconds + _USUAL_SECONDS), _MIN_SHARE)

    def _fade(self) -> None:
        now = time.monotonic()
        weight = 0.5 ** ((now - self._changed_at) / _HALF_LIFE_SECONDS)
        self._cpu_seconds *= weight
        self._seconds *= weight
        self._changed_at = now


class PenaltyBox:
    """Keys that lost a worker lately and have not completed a run since. Thread-safe.

    The next run of such a key gets the worker that is missed least. None is never penalized.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Of the averages only the keys count, and that they expire.
        self._keys: _Averages = _Averages(_MAX_PENALTIES)

    def add(self, key: Hashable) -> None:
        """Penalize a key, unless it is None."""
        if key is not None:
            with self._lock:
                self._keys.set(key, 0.0)

    def clear(self, key: Hashable) -> None:
        """End the penalty of a key."""
        if self._keys:
            with self._lock:
                self._keys.remove(key)

    def __bool__(self) -> bool:
        """Report whether any key may be penalized."""
        return bool(self._keys)

    def contains(self, key: Hashable) -> bool:
        """Report whether a key is penalized."""
        with self._lock:
            return self._keys.get(key) is not None


class CostEstimates:
    """The CPU seconds that heavy programs needed lately. Thread-safe.

    Only programs with heavy runs are remembered, and what they needed for each owner; a new owner
    is expected to cost what its program costs for others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._programs: _Averages = _Averages(_MAX_PROGRAMS)
        self._runs: _Averages = _Averages(_MAX_RUNS)

    def __bool__(self) -> bool:
        """Report whether any program is remembered."""
        return bool(self._programs)

    def observe(self, identity: RequestIdentity, cpu_seconds: float) -> None:
        """Take a run into account that has ended."""
        program, is_heavy = identity.program, cpu_seconds > HEAVY_SECONDS
        if program is None or not (is_heavy or self._programs):
            return
        with self._lock:
            if not is_heavy and program not in self._programs:
                return
            self._runs.add(identity.key, cpu_seconds)
            # Half of it: a program at the border is not forgotten and learned again by turns.
            if self._programs.add(program, cpu_seconds) < HEAVY_SECONDS / 2:
                self._programs.remove(program)

    def raise_to(self, identity: RequestIdentity, cpu_seconds: float) -> None:
        """Take a run into account that has used so much, and goes on or was lost."""
        program = identity.program
        if program is None or cpu_seconds <= HEAVY_SECONDS:
            return
        with self._lock:
            if (self._programs.get(program) or 0.0) < cpu_seconds:
                self._programs.set(program, cpu_seconds)

    def estimate(self, identity: RequestIdentity) -> float:
        """Return the expected CPU seconds of a run, 0.0 unless it is known to be heavy."""
        if not self._programs:
            return 0.0
        with self._lock:
            program_seconds = self._programs.get(identity.program)
            if program_seconds is None:
                return 0.0
            run_seconds = self._runs.get(identity.key)
        seconds = program_seconds if run_seconds is None else run_seconds
        return seconds if seconds > HEAVY_SECONDS else 0.0


class _Averages:
    """The most recent ``max_keys`` averages; each is the mean of the last value and itself."""

    def __init__(self, max_keys: int) -> None:
        self._max_keys = max_keys
        # The average with its expiry time.
        self._entries: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._last_expiry = 0.0

    def __bool__(self) -> bool:
        """Report whether an entry may be in force. Needs no lock."""
        return bool(self._entries) and self._last_expiry >= time.monotonic()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable) -> float | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        average, expiry = entry
        if expiry < time.monotonic():
            del self._entries[key]
            return None
        return average

    def add(self, key: Hashable, seconds: float) -> float:
        """Take a value into account; return the new average."""
        previous = self.get(key)
        average = seconds if previous is None else (previous + seconds) / 2
        self.set(key, average)
        return average

    def set(self, key: Hashable, seconds: float) -> None:
        self._last_expiry = time.monotonic() + _EXPIRY_SECONDS
        self._entries[key] = (seconds, self._last_expiry)
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_keys:
            self._entries.popitem(last=False)

    def remove(self, key: Hashable) -> None:
        self._entries.pop(key, None)


class History:
    """All that a pool has learned of its runs; ``usual_share`` is that of `CpuShare`."""

    def __init__(self, usual_share: float = 1.0) -> None:
        self.runtimes: Final = RuntimeEstimate()
        self.share: Final = CpuShare(usual_share)
        self.penalties: Final = PenaltyBox()
        self.costs: Final = CostEstimates()

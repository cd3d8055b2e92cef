"""Who may run now: a few quick places, more slow ones, and a bounded queue before them.

A run starts in a quick place. When it turns out to be long it moves to a slow one, so that the
next in the queue can start. Knows nothing of workers and processes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from function_script.sandbox import outcome

if TYPE_CHECKING:
    from types import TracebackType

    from function_script.sandbox.outcome import Failed


class Place:
    """The right to run, for the time of a ``with`` block."""

    def __init__(self, places: Places, waited_seconds: float) -> None:
        self._places = places
        self.waited_seconds = waited_seconds
        self.is_slow = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._places.leave(self)

    def give_way(self) -> bool:
        """Move to a slow place, so that another run can have the quick one; False: none is left."""
        return self._places.give_way(self)


class Places:
    """``quick`` and ``slow`` runs at the same time, ``waiting`` requests before them, in order."""

    def __init__(self, *, quick: int, slow: int, waiting: int) -> None:
        self._lock = threading.Lock()
        self._free_quick = quick
        self._max_slow = slow
        self._max_waiting = waiting
        self._queue: deque[threading.Event] = deque()
        self.slow = 0
        """How many runs have turned out to be long and are still there."""

    def enter(self, deadline: float) -> Place | Failed:
        """Wait for a quick place until ``deadline`` (monotonic seconds)."""
        arrival = time.monotonic()
        with self._lock:
            if self._free_quick > 0:
                self._free_quick -= 1
                return Place(self, 0.0)
            if len(self._queue) >= self._max_waiting:
                return outcome.queue_full(len(self._queue))
            turn = threading.Event()
            self._queue.append(turn)
        turn.wait(max(0.0, deadline - arrival))
        waited_seconds = time.monotonic() - arrival
        with self._lock:
            if turn.is_set():
                return Place(self, waited_seconds)
            self._queue.remove(turn)
        return outcome.waited(waited_seconds)

    def give_way(self, place: Place) -> bool:
        """Move ``place`` from quick to slow, if it can be; whether it is slow now."""
        with self._lock:
            if not place.is_slow and self.slow < self._max_slow:
                self.slow += 1
                place.is_slow = True
                self._call_next()
            return place.is_slow

    def leave(self, place: Place) -> None:
        """End a run."""
        with self._lock:
            if place.is_slow:
                self.slow -= 1
            else:
                self._call_next()

    def _call_next(self) -> None:
        """Hand the place straight to the first in the queue, so that no newcomer overtakes it."""
        if self._queue:
            self._queue.popleft().set()
        else:
            self._free_quick += 1

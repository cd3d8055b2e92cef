"""Who may run now: a few quick places, more slow ones, and a bounded queue before them.

A run starts in a quick place. When it takes long it moves to a slow one, so that the next in the
queue can start: a burst of endless loops delays short programs by milliseconds, not by seconds.
Knows nothing of workers and processes.
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
    """The right to run; leaves with the ``with`` block."""

    def __init__(self, places: Places) -> None:
        self._places = places
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

    def give_way(self) -> None:
        """Let another run have this quick place, when there is a slow one left to move to."""
        self._places.give_way(self)


class Places:
    """``quick`` and ``slow`` runs at the same time, ``waiting`` requests before them, in order."""

    def __init__(self, *, quick: int, slow: int, waiting: int) -> None:
        self._lock = threading.Lock()
        self._quick = quick
        self._slow = slow
        self._max_waiting = waiting
        self._queue: deque[threading.Event] = deque()

    def enter(self, deadline: float) -> Place | Failed:
        """Wait for a quick place until ``deadline`` (monotonic seconds)."""
        arrival = time.monotonic()
        with self._lock:
            if self._quick > 0:
                self._quick -= 1
                return Place(self)
            if len(self._queue) >= self._max_waiting:
                return outcome.queue_full(len(self._queue))
            turn = threading.Event()
            self._queue.append(turn)
        turn.wait(max(0.0, deadline - arrival))
        with self._lock:
            if turn.is_set():
                return Place(self)
            self._queue.remove(turn)
        return outcome.waited(time.monotonic() - arrival)

    def give_way(self, place: Place) -> None:
        """Move ``place`` from quick to slow, if it can be."""
        with self._lock:
            if place.is_slow or self._slow == 0:
                return
            self._slow -= 1
            place.is_slow = True
            self._free_quick()

    def leave(self, place: Place) -> None:
        """End a run."""
        with self._lock:
            if place.is_slow:
                self._slow += 1
            else:
                self._free_quick()

    def _free_quick(self) -> None:
        """Hand the place straight to the first in the queue, so that no newcomer overtakes it."""
        if self._queue:
            self._queue.popleft().set()
        else:
            self._quick += 1

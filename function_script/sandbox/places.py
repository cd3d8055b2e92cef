"""Who may run now: a few quick places, more slow ones, and a bounded queue before them.

A run starts in a quick place. When it turns out to be long it moves to a slow one, so that the
next in the queue can start. Those who wait take turns by key, and one key has at most half of
the slow places. While one runs, another may be asked to wait a moment rather than wake a second
worker. Knows nothing of workers and processes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

from function_script.sandbox import outcome
from function_script.sandbox.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import TracebackType

    from function_script.sandbox.outcome import Failed

# Of the queue, for one key: a flood of one XR must leave room for the others.
_SHARE_OF_QUEUE = 4
_SHARE_OF_SLOW = 2
# When no run has begun for so long, those that are there are not as short as was thought.
_STALL_SECONDS = 0.004


class Place:
    """The right to run, for the time of a ``with`` block; at first perhaps only a place in line."""

    def __init__(
        self, places: Places, key_of: Callable[[], Hashable], on_turn: Callable[[], None]
    ) -> None:
        self._places = places
        self._key_of: Callable[[], Hashable] | None = key_of
        self._key: Hashable = None
        self._arrival = time.monotonic()
        self._on_turn: Callable[[], None] | None = on_turn
        self.is_waiting = False
        self.is_slow = False
        self.waited_seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def key(self) -> Hashable:
        """Whose run it is; found out when first asked for, since mostly nobody asks."""
        if self._key_of is not None:
            self._key, self._key_of = self._key_of(), None
        return self._key

    def turn(self) -> None:
        """It is this one's turn: it waits no more."""
        self.is_waiting = False
        self.waited_seconds = self.age_seconds()

    def tell(self) -> None:
        """Call whoever waited, once."""
        on_turn = self.forget()
        if on_turn is not None:
            on_turn()

    def forget(self) -> Callable[[], None] | None:
        """Let go of whoever waits: it holds the place, and a cycle would live for long."""
        on_turn, self._on_turn = self._on_turn, None
        return on_turn

    def age_seconds(self) -> float:
        """The time since it was asked for."""
        return time.monotonic() - self._arrival

    def is_crowding(self) -> bool:
        """Whether others wait, and behind more of the same key."""
        return self._places.is_crowding(self)

    def give_way(self) -> bool:
        """Move to a slow place, so that another run can have the quick one; False: none is left."""
        return self._places.give_way(self)

    def give_up(self) -> bool:
        """Wait no longer; False: the turn has come meanwhile."""
        return self._places.give_up(self)

    def leave(self) -> None:
        """End the run."""
        self._places.leave(self)


class Places:
    """``quick`` and ``slow`` runs at the same time, ``waiting`` requests before them.

    Thread-safe. ``on_turn`` is called in the thread that makes room, with no lock held.
    ``gathering_seconds`` says how long a run waits for the place of another although one is free;
    then ``relieve`` must be called from time to time.
    """

    def __init__(
        self,
        *,
        quick: int,
        slow: int,
        waiting: int,
        gathering_seconds: Callable[[], float] = float,
    ) -> None:
        self._lock = threading.Lock()
        self._gathering_seconds = gathering_seconds
        self._quick = quick
        self._free_quick = quick
        self._last_start = 0.0
        self._max_slow = slow
        self._max_slow_of_one = max(slow // _SHARE_OF_SLOW, 1)
        per_key = max(waiting // _SHARE_OF_QUEUE, 1)
        self._queue: Turns[Place] = Turns(total=waiting, per_key=per_key)
        self._slow_of: Counter[Hashable] = Counter()
        self.slow = 0
        """How many runs have turned out to be long and are still there."""

    @property
    def busy(self) -> int:
        """How many quick places are taken."""
        return self._quick - self._free_quick

    @property
    def waiting(self) -> int:
        """How many requests are in line."""
        return len(self._queue)

    def enter(self, key_of: Callable[[], Hashable], on_turn: Callable[[], None]) -> Place | Failed:
        """A quick place, or one in line until ``on_turn`` is called; or why there is neither."""
        place = Place(self, key_of, on_turn)
        with self._lock:
            is_held = bool(self._slow_of) and self._is_held(place.key)
            if self._free_quick > 0 and not is_held and self._is_due(place):
                self._begin()
                place.forget()
                return place
            if self._queue.is_full_for(place.key):
                return outcome.queue_full(self._queue.count(place.key), len(self._queue))
            place.is_waiting = True
            self._queue.add(place.key, place)
        return place

    def give_up(self, place: Place) -> bool:
        """Take ``place`` out of the line; False: it is not in line any more."""
        with self._lock:
            has_left = place.is_waiting and self._queue.remove(place.key, place)
        if has_left:
            place.forget()
        return has_left

    def give_way(self, place: Place) -> bool:
        """Move ``place`` from quick to slow, if it can be; whether it is slow now."""
        called: list[Place] = []
        with self._lock:
            if not place.is_slow and self.slow < self._max_slow:
                self.slow += 1
                self._slow_of[place.key] += 1
                place.is_slow = True
                self._free_quick += 1
                called = self._call()
        _tell(called)
        return place.is_slow

    def is_crowding(self, place: Place) -> bool:
        """Whether others wait, and behind more of this one's key."""
        with self._lock:
            if not self._queue or place.key is None:
                return False
            own = self._queue.count(place.key)
            return 0 < own < len(self._queue)

    def leave(self, place: Place) -> None:
        """End a run."""
        with self._lock:
            if place.is_slow:
                self.slow -= 1
                self._slow_of[place.key] -= 1
                self._slow_of += Counter()  # drops keys that are at zero
            else:
                self._free_quick += 1
            called = self._call()
        _tell(called)

    def relieve(self) -> bool:
        """Call those who have waited enough; whether others wait although a place is free."""
        with self._lock:
            called = self._call()
            is_gathering = self._free_quick > 0 and self._queue.has_any(self._is_held)
        _tell(called)
        return is_gathering

    def _is_due(self, place: Place) -> bool:
        """Whether ``place`` may have a free one now, rather than wait for one that is taken."""
        if self._free_quick == self._quick:
            return True
        seconds = self._gathering_seconds()
        is_stalled = time.monotonic() - self._last_start >= _STALL_SECONDS
        return not seconds or is_stalled or place.age_seconds() >= seconds

    def _begin(self) -> None:
        self._free_quick -= 1
        self._last_start = time.monotonic()

    def _is_held(self, key: Hashable) -> bool:
        """One that has so many long runs already must wait for them, whoever else may run."""
        return key is not None and self._slow_of[key] >= self._max_slow_of_one

    def _call(self) -> list[Place]:
        """Hand free places straight to those whose turn it is, so that no newcomer overtakes."""
        called = []
        while (
            self._free_quick > 0
            and (place := self._queue.next(self._is_held, self._is_due)) is not None
        ):
            self._begin()
            place.turn()
            called.append(place)
        return called


def _tell(called: list[Place]) -> None:
    for place in called:
        place.tell()

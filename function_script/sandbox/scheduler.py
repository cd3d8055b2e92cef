"""Who may run now: places in three lanes, each with a line before it that takes turns by key.

A run begins in the quick lane, unless it is known to be heavy or suspect. One that turns out to be
heavy goes on in the heavy lane, which has as many places as there are CPUs, and is paused until it
has its turn there. Knows nothing of workers and processes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Final, Self

from function_script.sandbox import outcome
from function_script.sandbox.turns import FairQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import TracebackType

    from function_script.sandbox.outcome import Failed

# Of the line, for one key: a flood of one XR must leave room for the others.
_SHARE_OF_LINE = 4
# Of the slow places, for suspects; and of the rest, for one key.
_SHARE_OF_SUSPECTS = 4
_SHARE_OF_HEAVY = 2
# When no run has begun for so long, those that are there are not as short as was thought.
_STALL_SECONDS = 0.004


class Prospects:
    """What can be known of a run before it begins.

    ``expect`` gives the CPU seconds that it needs, 0.0 when they are few or not known; it is asked
    once more when its turn comes. ``left_seconds`` is what the caller's deadline leaves.
    """

    def __init__(
        self,
        expect: Callable[[], float] = float,
        left_seconds: float = float("inf"),
        *,
        is_suspect: bool = False,
    ) -> None:
        self.expect: Final = expect
        self.left_seconds: Final = left_seconds
        self.is_suspect: Final = is_suspect


UNKNOWN: Final = Prospects()


class Lane:
    """So many places, of which some are free, and who waits for one."""

    def __init__(self, places: int) -> None:
        self.places: Final = places
        self.free = places
        self.line: FairQueue[Slot] = FairQueue()


class Slot:
    """The right to run, for the time of a ``with`` block; at first perhaps only a place in line."""

    def __init__(
        self,
        places: Scheduler,
        prospects: Prospects,
        key_of: Callable[[], Hashable],
        on_turn: Callable[[], None],
    ) -> None:
        self._places = places
        self._key_of: Callable[[], Hashable] | None = key_of
        self._key: Hashable = None
        self._arrival = time.monotonic()
        self._on_turn: Callable[[], None] | None = on_turn
        self._stopped = 0.0
        self._expect = prospects.expect
        self.expected_seconds = prospects.expect()
        self.is_suspect = prospects.is_suspect
        self.lane: Lane
        self.is_waiting = False
        self.is_paused = False
        """Whether it has begun and may not go on."""
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

    @property
    def is_slow(self) -> bool:
        """Whether it is in another lane than the quick one."""
        return self._places.is_slow(self)

    def expect(self) -> bool:
        """Find out anew what it needs; whether it is heavy, as far as is known."""
        self.expected_seconds = self._expect()
        return self.expected_seconds > 0.0

    def turn(self) -> None:
        """It is this one's turn: it waits no more."""
        self.is_waiting = False
        self.waited_seconds = self.age_seconds()

    def pause(self) -> None:
        """It may not go on for now."""
        self.is_paused = True
        self._stopped = time.monotonic()

    def resume(self) -> None:
        """It may go on."""
        self.is_paused = False
        self.waited_seconds += time.monotonic() - self._stopped

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

    def give_way(self) -> None:
        """Leave the quick lane, if the heavy one has room for one more; it may be paused then."""
        self._places.give_way(self)

    def give_up(self) -> bool:
        """Wait no longer; False: the turn has come meanwhile."""
        return self._places.give_up(self)

    def leave(self) -> None:
        """End the run."""
        self._places.leave(self)


class Scheduler:
    """``quick`` runs at the same time, ``slow`` more that have begun, ``waiting`` before them.

    A quarter of the slow ones is for suspects. Of the others ``heavy`` run, and the rest is paused.
    Thread-safe. ``on_turn`` is called in the thread that makes room, with no lock held.
    ``gathering_seconds`` says how long a run waits for the place of another although one is free;
    then ``relieve`` must be called from time to time.
    """

    def __init__(
        self,
        *,
        quick: int,
        heavy: int,
        slow: int,
        waiting: int,
        gathering_seconds: Callable[[], float] = float,
    ) -> None:
        self._lock = threading.Lock()
        self._gathering_seconds = gathering_seconds
        self._last_start = 0.0
        aside = slow // _SHARE_OF_SUSPECTS
        # Of heavy runs, with those that are paused.
        self._max_begun = slow - aside
        self._max_begun_of_one = max(self._max_begun // _SHARE_OF_HEAVY, 1)
        self._begun_of: Counter[Hashable] = Counter()
        self._begun = self._paused = 0
        self._quick = Lane(quick)
        self._heavy = Lane(min(heavy, self._max_begun))
        self._aside = Lane(aside)
        self._lanes = (self._quick, self._heavy, self._aside)
        self._max_waiting = waiting
        self._max_waiting_of_one = max(waiting // _SHARE_OF_LINE, 1)

    @property
    def busy(self) -> int:
        """How many quick places are taken."""
        return self._quick.places - self._quick.free

    @property
    def slow(self) -> int:
        """How many runs in the other lanes have begun, those that are paused included."""
        return self._begun + self._aside.places - self._aside.free

    @property
    def waiting(self) -> int:
        """How many requests are in line."""
        return sum(len(lane.line) for lane in self._lanes) - self._paused

    def enter(
        self,
        key_of: Callable[[], Hashable],
        on_turn: Callable[[], None],
        prospects: Prospects = UNKNOWN,
    ) -> Slot | Failed:
        """A place to run, or one in line until ``on_turn`` is called; or why there is neither."""
        place = Slot(self, prospects, key_of, on_turn)
        if place.expected_seconds > prospects.left_seconds:
            return outcome.too_late(place.expected_seconds, prospects.left_seconds)
        with self._lock:
            place.lane = lane = self._lane_of(place)
            if lane.free > 0 and self._is_due(place) and not self._is_held(place):
                self._begin(place)
                place.forget()
                return place
            if failed := self._refusal(place, prospects.left_seconds):
                return failed
            place.is_waiting = True
            lane.line.add(place.key, place)
        return place

    def is_slow(self, place: Slot) -> bool:
        """Whether ``place`` is in another lane than the quick one."""
        return place.lane is not self._quick

    def give_up(self, place: Slot) -> bool:
        """Take ``place`` out of the line; False: it is not in line any more."""
        with self._lock:
            has_left = place.is_waiting and place.lane.line.remove(place.key, place)
        if has_left:
            place.forget()
        return has_left

    def give_way(self, place: Slot) -> None:
        """Move ``place`` from the quick lane to the heavy one, if it has room for one more."""
        called: list[Slot] = []
        with self._lock:
            if place.lane is self._quick and self._begun < self._max_begun:
                self._quick.free += 1
                self._count_begun(place, 1)
                place.lane = self._heavy
                place.pause()
                self._paused += 1
                # Who has begun holds memory, and goes on before others of its key begin.
                self._heavy.line.add_before(place.key, place, _has_not_begun)
                called = self._call()
        _tell(called)

    def leave(self, place: Slot) -> None:
        """End a run."""
        with self._lock:
            if place.is_paused:
                self._heavy.line.remove(place.key, place)
                place.resume()
                self._paused -= 1
            else:
                place.lane.free += 1
            if place.lane is self._heavy:
                self._count_begun(place, -1)
            called = self._call()
        _tell(called)

    def relieve(self) -> bool:
        """Call those who have waited enough; whether others wait although a place is free."""
        with self._lock:
            called = self._call()
            is_gathering = self._quick.free > 0 and self._quick.line.has_any(self._has_its_share)
        _tell(called)
        return is_gathering

    def _lane_of(self, place: Slot) -> Lane:
        if place.is_suspect and self._aside.places:
            return self._aside
        return self._heavy if place.expected_seconds and self._heavy.places else self._quick

    def _refusal(self, place: Slot, left_seconds: float) -> Failed | None:
        """Why ``place`` cannot line up, if so."""
        own = sum(lane.line.count(place.key) for lane in self._lanes)
        is_own_full = place.key is not None and own >= self._max_waiting_of_one
        if is_own_full or self.waiting >= self._max_waiting:
            return outcome.queue_full_error(own, self.waiting)
        if not place.expected_seconds:
            return None
        ahead = sum(other.expected_seconds for other in place.lane.line.ahead(place.key))
        wait_seconds = ahead / place.lane.places
        if wait_seconds + place.expected_seconds <= left_seconds:
            return None
        return outcome.too_busy(wait_seconds, left_seconds)

    def _is_due(self, place: Slot) -> bool:
        """Whether ``place`` may have a free one now, rather than wait for one that is taken."""
        if place.lane is not self._quick or self._quick.free == self._quick.places:
            return True
        seconds = self._gathering_seconds()
        is_stalled = time.monotonic() - self._last_start >= _STALL_SECONDS
        return not seconds or is_stalled or place.age_seconds() >= seconds

    def _is_held(self, place: Slot) -> bool:
        """Whether ``place`` has not begun, and must wait for heavy runs that have."""
        if place.is_paused or not self._begun or place.lane is self._aside:
            return False
        is_full = place.lane is self._heavy and self._begun >= self._max_begun
        return is_full or self._has_its_share(place.key)

    def _has_its_share(self, key: Hashable) -> bool:
        """Whether so many heavy runs of one key have begun that its next one waits for them."""
        return key is not None and self._begun_of[key] >= self._max_begun_of_one

    def _begin(self, place: Slot) -> None:
        place.lane.free -= 1
        if place.lane is self._heavy:
            self._count_begun(place, 1)
        elif place.lane is self._quick:
            self._last_start = time.monotonic()

    def _count_begun(self, place: Slot, count: int) -> None:
        self._begun += count
        self._begun_of[place.key] += count
        self._begun_of += Counter()  # drops keys that are at zero

    def _call(self) -> list[Slot]:
        """Hand free places straight to those whose turn it is, so that no newcomer overtakes."""
        called = []
        for lane in self._lanes:
            while lane.free > 0 and (place := lane.line.next(self._may_begin)) is not None:
                if place.is_paused:
                    lane.free -= 1
                    self._paused -= 1
                    place.resume()
                elif lane is self._quick and self._heavy.places and place.expect():
                    # It has turned out to be heavy in line; the heavy lane is called next.
                    place.lane = self._heavy
                    self._heavy.line.add(place.key, place)
                else:
                    self._begin(place)
                    place.turn()
                    called.append(place)
        return called

    def _may_begin(self, place: Slot) -> bool:
        return self._is_due(place) and not self._is_held(place)


def _has_not_begun(place: Slot) -> bool:
    return not place.is_paused


def _tell(called: list[Slot]) -> None:
    for place in called:
        place.tell()

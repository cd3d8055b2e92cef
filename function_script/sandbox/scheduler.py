"""The scheduler: which run may use a worker now, which waits, and which is paused.

A run needs a slot of one of three lanes. Each lane has a queue that is fair between keys:

- the fast lane, in which every run begins that is neither known to be heavy nor penalized;
- the heavy lane, with one slot for each CPU. A run that uses much CPU time in the fast lane is
  demoted to it, and is paused until it is granted a slot there;
- the penalty lane, for runs of keys that lost a worker lately.

Nothing in here knows workers or processes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Final, Self

from function_script.sandbox import outcome
from function_script.sandbox.lane import Lane
from function_script.sandbox.outcome import Failed

# One key may have this share of the queue: a flood of one XR must leave room for the others.
_QUEUE_SHARE = 4
# The penalty lane has this share of the slow slots, and one key this share of the rest.
_PENALTY_SHARE = 4
_HEAVY_SHARE = 2
# When no run has begun for so long, the running ones are not as short as was estimated.
_STALL_SECONDS = 0.004


class RunProfile:
    """The facts about a run that are known before it begins.

    ``estimate`` returns the CPU seconds that the run needs, 0.0 when they are few or unknown; it is
    called again when the run leaves the queue. ``remaining_seconds`` is the time until the
    caller's deadline.
    """

    def __init__(
        self,
        estimate: Callable[[], float] = float,
        remaining_seconds: float = float("inf"),
        *,
        is_penalized: bool = False,
    ) -> None:
        self.estimate: Final = estimate
        self.remaining_seconds: Final = remaining_seconds
        self.is_penalized: Final = is_penalized


UNKNOWN_RUN: Final = RunProfile()


class Slot:
    """The right to run, held for a ``with`` block; it may begin as an entry of a queue.

    ``on_grant`` is called with the slot when a queued one is granted.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        profile: RunProfile,
        key_of: Callable[[], Hashable],
        on_grant: Callable[[Slot], None],
    ) -> None:
        self._scheduler = scheduler
        self._key_of: Callable[[], Hashable] | None = key_of
        self._key: Hashable = None
        self._requested_at = time.monotonic()
        self._paused_at = 0.0
        self._on_grant: Callable[[Slot], None] | None = on_grant
        self._estimate = profile.estimate
        self.expected_seconds = profile.estimate()
        self.is_penalized = profile.is_penalized
        self.lane = scheduler.choose_lane(self)
        self.is_waiting = False
        self.is_paused = False
        """Whether the run has begun and may not go on."""
        self.is_companion = False
        """True if the run is in a batch with one that has the slot."""
        self.waited_seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def key(self) -> Hashable:
        """The fairness key; read from the request on first use, for most runs never need it."""
        if self._key_of is not None:
            self._key, self._key_of = self._key_of(), None
        return self._key

    @property
    def is_slow(self) -> bool:
        """True in another lane than the fast one."""
        return self._scheduler.is_slow(self)

    def is_heavy_now(self) -> bool:
        """Estimate the cost again, and report whether the run is known to be heavy."""
        self.expected_seconds = self._estimate()
        return self.expected_seconds > 0.0

    def grant(self) -> None:
        """Mark the slot as granted."""
        self.is_waiting = False
        self.waited_seconds = self.age_seconds()

    def pause(self) -> None:
        """Mark the run as paused."""
        self.is_paused = True
        self._paused_at = time.monotonic()

    def resume(self) -> None:
        """Mark the run as going on; the pause counts as waiting."""
        self.is_paused = False
        self.waited_seconds += time.monotonic() - self._paused_at

    def requeue(self, on_grant: Callable[[Slot], None]) -> None:
        """Mark the slot as queued again."""
        self.is_companion = False
        self.is_waiting = True
        self._on_grant = on_grant

    def notify(self) -> None:
        """Call ``on_grant``, once."""
        on_grant, self._on_grant = self._on_grant, None
        if on_grant is not None:
            on_grant(self)

    def drop_callback(self) -> None:
        """Forget ``on_grant``, which holds the request: it would live as long as the slot."""
        self._on_grant = None

    def age_seconds(self) -> float:
        """Return the time since the slot was requested."""
        return time.monotonic() - self._requested_at

    def demote(self) -> None:
        """Move from the fast lane to the heavy one, if that has room; the run may be paused."""
        self._scheduler.demote(self)

    def abandon(self) -> bool:
        """Leave the queue; return False when the slot was granted meanwhile."""
        return self._scheduler.abandon(self)

    def release(self) -> None:
        """End the run, and give the slot to the next one."""
        self._scheduler.release(self)


class Scheduler:
    """Grants slots to runs. Thread-safe.

    ``fast_slots`` is the number of runs at the same time in the fast lane, ``slow_slots`` the
    number of begun runs in the other two: a quarter of them penalized, the rest heavy. Of the heavy
    ones ``heavy_slots`` run, the others are paused. ``queue_size`` bounds all queues together.
    ``batch_delay`` returns the seconds that a run waits for the slot of another although one is
    free; while it is not zero, ``release_batched`` must be called from time to time.
    Callbacks run in the thread that makes room, without a lock.
    """

    def __init__(
        self,
        *,
        fast_slots: int,
        heavy_slots: int,
        slow_slots: int,
        queue_size: int,
        batch_delay: Callable[[], float] = float,
    ) -> None:
        self._lock = threading.Lock()
        self._batch_delay = batch_delay
        self._last_start = 0.0
        penalty_slots = slow_slots // _PENALTY_SHARE
        # Heavy runs that have begun, paused ones included.
        self._max_begun = slow_slots - penalty_slots
        self._max_begun_per_key = max(self._max_begun // _HEAVY_SHARE, 1)
        self._begun_by_key: Counter[Hashable] = Counter()
        self._begun = self._paused = 0
        self._fast: Lane[Slot] = Lane(fast_slots)
        self._heavy: Lane[Slot] = Lane(min(heavy_slots, self._max_begun))
        self._penalty: Lane[Slot] = Lane(penalty_slots)
        self._lanes = (self._fast, self._heavy, self._penalty)
        self._queue_size = queue_size
        self._queue_size_per_key = max(queue_size // _QUEUE_SHARE, 1)

    @property
    def busy(self) -> int:
        """The number of fast slots in use."""
        return self._fast.slots - self._fast.free

    @property
    def slow(self) -> int:
        """The number of begun runs in the other lanes, paused ones included."""
        return self._begun + self._penalty.slots - self._penalty.free

    @property
    def waiting(self) -> int:
        """The number of queued runs that have not begun."""
        return sum(len(lane.queue) for lane in self._lanes) - self._paused

    def request_slot(
        self,
        key_of: Callable[[], Hashable],
        on_grant: Callable[[Slot], None],
        profile: RunProfile = UNKNOWN_RUN,
    ) -> Slot | Failed:
        """Return a granted slot, a queued one of which ``on_grant`` is called, or a refusal."""
        slot = Slot(self, profile, key_of, on_grant)
        if slot.expected_seconds > profile.remaining_seconds:
            return outcome.too_late_error(slot.expected_seconds, profile.remaining_seconds)
        with self._lock:
            if slot.lane.free > 0 and self._may_start(slot):
                self._begin(slot)
                slot.drop_callback()
                return slot
            if failed := self._refuse(slot, profile.remaining_seconds):
                return failed
            slot.is_waiting = True
            slot.lane.queue.add(slot.key, slot)
        return slot

    def choose_lane(self, slot: Slot) -> Lane[Slot]:
        """Return the lane in which a new run begins."""
        if slot.is_penalized and self._penalty.slots:
            return self._penalty
        return self._heavy if slot.expected_seconds and self._heavy.slots else self._fast

    def is_slow(self, slot: Slot) -> bool:
        """Report whether ``slot`` belongs to another lane than the fast one."""
        return slot.lane is not self._fast

    def abandon(self, slot: Slot) -> bool:
        """Remove ``slot`` from its queue; return False when it is not queued any more."""
        with self._lock:
            is_removed = slot.is_waiting and slot.lane.queue.remove(slot.key, slot)
        if is_removed:
            slot.drop_callback()
        return is_removed

    def demote(self, slot: Slot) -> None:
        """Move ``slot`` from the fast lane to the heavy one, if one more may begin there."""
        granted: list[Slot] = []
        with self._lock:
            if slot.lane is self._fast and self._begun < self._max_begun:
                self._fast.free += 1
                self._count_begun(slot, 1)
                slot.lane = self._heavy
                slot.pause()
                self._paused += 1
                # A begun run holds memory: it goes on before others of its key begin.
                self._heavy.queue.add_before(slot.key, slot, lambda other: not other.is_paused)
                granted = self._admit()
        _notify(granted)

    def release(self, slot: Slot) -> None:
        """End a run, and admit the next ones."""
        with self._lock:
            self._vacate(slot)
            granted = self._admit()
        _notify(granted)

    def take_companions(
        self, slot: Slot, max_count: int, may_join: Callable[[Slot], bool]
    ) -> list[Slot]:
        """Remove short queued runs that go to the worker of ``slot`` with it, in their order.

        There are none unless programs are so short that a run waits for a worker that runs.
        """
        companions: list[Slot] = []
        with self._lock:
            if slot.lane is not self._fast or not self._batch_delay():
                return companions

            def may_start(other: Slot) -> bool:
                is_free = may_join(other) and not self._is_over_share(other)
                return is_free and not (self._heavy.slots and other.is_heavy_now())

            while (
                len(companions) < max_count
                and (other := self._fast.queue.next(may_start)) is not None
            ):
                other.is_companion = True
                other.drop_callback()
                other.grant()
                companions.append(other)
        return companions

    def hand_over(self, slot: Slot, companion: Slot) -> None:
        """Make the companion the one that has the slot."""
        with self._lock:
            slot.is_companion, companion.is_companion = True, False

    def requeue(self, runs: list[tuple[Slot, Callable[[Slot], None]]]) -> None:
        """Queue runs of a batch again, before all others; release the slot if one has it."""
        with self._lock:
            for slot, on_grant in reversed(runs):
                if not slot.is_companion:
                    self._vacate(slot)
                    slot.lane = self._fast
                slot.requeue(on_grant)
                self._fast.queue.add_first(slot.key, slot)
            granted = self._admit()
        _notify(granted)

    def _vacate(self, slot: Slot) -> None:
        """Free the slot of a run."""
        if slot.is_paused:
            self._heavy.queue.remove(slot.key, slot)
            slot.resume()
            self._paused -= 1
        else:
            slot.lane.free += 1
        if slot.lane is self._heavy:
            self._count_begun(slot, -1)

    def release_batched(self) -> bool:
        """Admit runs after their batch delay; report whether others are still delayed."""
        with self._lock:
            granted = self._admit()
            has_delayed = self._fast.free > 0 and self._fast.queue.has_unblocked(
                self._is_key_over_share
            )
        _notify(granted)
        return has_delayed

    def _refuse(self, slot: Slot, remaining_seconds: float) -> Failed | None:
        """Return the error of a run that may not be queued, or None."""
        own = sum(lane.queue.count(slot.key) for lane in self._lanes)
        is_own_share_full = slot.key is not None and own >= self._queue_size_per_key
        if is_own_share_full or self.waiting >= self._queue_size:
            return outcome.queue_full_error(own, self.waiting)
        if not slot.expected_seconds:
            return None
        ahead = sum(other.expected_seconds for other in slot.lane.queue.ahead(slot.key))
        wait_seconds = ahead / slot.lane.slots
        if wait_seconds + slot.expected_seconds <= remaining_seconds:
            return None
        return outcome.too_busy_error(wait_seconds, remaining_seconds)

    def _may_start(self, slot: Slot) -> bool:
        """Report whether ``slot`` may use a free slot of its lane now."""
        return not self._is_delayed(slot) and not self._is_over_share(slot)

    def _is_delayed(self, slot: Slot) -> bool:
        """Report whether ``slot`` waits for a worker that runs rather than wake another one."""
        if slot.lane is not self._fast or self._fast.free == self._fast.slots:
            return False
        delay = self._batch_delay()
        is_stalled = time.monotonic() - self._last_start >= _STALL_SECONDS
        return bool(delay) and not is_stalled and slot.age_seconds() < delay

    def _is_over_share(self, slot: Slot) -> bool:
        """Report whether ``slot`` has not begun and must wait for heavy runs that have."""
        if slot.is_paused or not self._begun or slot.lane is self._penalty:
            return False
        is_full = slot.lane is self._heavy and self._begun >= self._max_begun
        return is_full or self._is_key_over_share(slot.key)

    def _is_key_over_share(self, key: Hashable) -> bool:
        """Report whether a key has so many begun heavy runs that its next one waits for them."""
        return key is not None and self._begun_by_key[key] >= self._max_begun_per_key

    def _begin(self, slot: Slot) -> None:
        slot.lane.free -= 1
        if slot.lane is self._heavy:
            self._count_begun(slot, 1)
        elif slot.lane is self._fast:
            self._last_start = time.monotonic()

    def _count_begun(self, slot: Slot, change: int) -> None:
        self._begun += change
        self._begun_by_key[slot.key] += change
        self._begun_by_key += Counter()  # Drops keys with a count of zero.

    def _admit(self) -> list[Slot]:
        """Give free slots to the next of each queue at once, so that no newcomer overtakes.

        Return the slots to notify when the lock is released.
        """
        granted = []
        for lane in self._lanes:
            while lane.free > 0 and (slot := lane.queue.next(self._may_start)) is not None:
                if slot.is_paused:
                    lane.free -= 1
                    self._paused -= 1
                    slot.resume()
                elif lane is self._fast and self._heavy.slots and slot.is_heavy_now():
                    # Learned while it was queued; the heavy lane is the next of this loop.
                    slot.lane = self._heavy
                    self._heavy.queue.add(slot.key, slot)
                else:
                    self._begin(slot)
                    slot.grant()
                    granted.append(slot)
        return granted


def _notify(granted: list[Slot]) -> None:
    for slot in granted:
        slot.notify()

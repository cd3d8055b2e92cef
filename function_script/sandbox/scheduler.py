"""The scheduler: which run may use a worker now, which waits, which is refused or paused.

A run needs a slot of one of three lanes. Each lane has a queue that is fair between owners:

- the fast lane, in which every run begins that is neither known to be heavy nor penalized;
- the heavy lane, with one slot for each CPU. A run that uses much CPU time in the fast lane is
  demoted to it, and is paused until it is granted a slot there;
- the penalty lane, for runs of programs that lost a worker lately.

A run that cannot end in time does not begin. Nothing in here knows processes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

from function_script.request.fair_queue import FairQueue
from function_script.sandbox import outcome
from function_script.sandbox.batch import Batch, Run
from function_script.sandbox.history import History
from function_script.sandbox.outcome import Failed

# One owner may have this share of the queue: a flood of one XR must leave room for the others.
_QUEUE_SHARE: Final = 4
# The penalty lane has this share of the slow slots, and one owner this share of the rest.
_PENALTY_SHARE: Final = 4
_HEAVY_SHARE: Final = 2
# When no run has begun for so long, the running ones are not as short as was estimated.
_STALL_SECONDS: Final = 0.004
# A run needs more than was estimated at times: so many times the estimate must be left.
_MARGIN: Final = 1.25

Event: TypeAlias = "tuple[Run, Batch | Failed]"


class Lane:
    """A number of slots, some of them free, and the queue for them."""

    def __init__(self, slots: int) -> None:
        self.slots: Final = slots
        self.free = slots
        self.queue: FairQueue[Run] = FairQueue()


class Scheduler:
    """Gives slots to runs. Thread-safe.

    ``fast_slots`` is the number of batches at the same time in the fast lane, ``slow_slots`` the
    number of begun ones in the other two: a quarter of them penalized, the rest heavy. Of the heavy
    ones ``heavy_slots`` run, the others are paused. ``queue_size`` bounds all queues together.
    ``batch_delay`` returns the seconds that a run waits for the slot of another although one is
    free; while it is not zero, ``end_delays`` must be called from time to time.
    Runs are told of their start or refusal in the thread that decides it, without a lock.
    """

    def __init__(  # noqa: PLR0913 # slots, bounds and estimates
        self,
        *,
        fast_slots: int,
        heavy_slots: int,
        slow_slots: int,
        queue_size: int,
        history: History,
        batch_delay: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._lock = threading.Lock()
        self._costs, self._share = history.costs, history.share
        self._batch_delay = batch_delay
        self._last_start = 0.0
        penalty_slots = slow_slots // _PENALTY_SHARE
        # Heavy batches that have begun, paused ones included.
        self._max_begun = slow_slots - penalty_slots
        self._max_begun_per_owner = max(self._max_begun // _HEAVY_SHARE, 1)
        self._begun: set[Batch] = set()
        self._begun_by_owner: Counter[Hashable] = Counter()
        self._fast: Lane = Lane(fast_slots)
        self._heavy: Lane = Lane(min(heavy_slots, self._max_begun))
        self._penalty: Lane = Lane(penalty_slots)
        self._lanes = (self._fast, self._heavy, self._penalty)
        self._paused: FairQueue[Batch] = FairQueue()
        self._was_resumed = False
        self._queue_size = queue_size
        self._queue_size_per_owner = max(queue_size // _QUEUE_SHARE, 1)

    @property
    def busy(self) -> int:
        """The number of fast slots in use."""
        return self._fast.slots - self._fast.free

    @property
    def slow(self) -> int:
        """The number of begun batches in the other lanes, paused ones included."""
        return len(self._begun) + self._penalty.slots - self._penalty.free

    @property
    def waiting(self) -> int:
        """The number of queued runs."""
        return sum(len(lane.queue) for lane in self._lanes)

    def is_slow(self, batch: Batch) -> bool:
        """Report whether a batch is in another lane than the fast one."""
        return batch.lane is not self._fast

    def is_heavy(self, batch: Batch) -> bool:
        """Report whether a batch is in the heavy lane."""
        return batch.lane is self._heavy

    def submit(self, run: Run) -> None:
        """Begin a run, queue it, or refuse it."""
        is_heavy = self._estimate(run)
        lane = self._fast
        if run.is_penalized and self._penalty.slots:
            lane = self._penalty
        elif is_heavy and self._heavy.slots:
            lane = self._heavy
        with self._lock:
            event: Batch | Failed | None = self._refuse_late(run, run.requested_at)
            if event is None and lane.free > 0 and self._may_start(run, lane):
                event = self._begin(run, lane)
            # Only a run that would wait can be refused for those that wait before it.
            elif event is None:
                event = self._refuse(run, lane)
            if event is None:
                run.is_queued = True
                lane.queue.add(run.identity.owner, run)
                return
        _tell([(run, event)])

    def dequeue(self, run: Run) -> None:
        """Remove a run from its queue, if it is queued."""
        with self._lock:
            # To name the owner of a run that was never queued costs a search in its bytes.
            if run.is_queued:
                run.is_queued = False
                for lane in self._lanes:
                    lane.queue.remove(run.identity.owner, run)

    def refuse_overdue(self, now: float) -> None:
        """Refuse queued runs that have waited as long as they may, or cannot end in time."""
        events: list[Event] = []
        with self._lock:
            for lane in self._lanes:
                # A copy: what is refused leaves the queue meanwhile.
                for run in lane.queue.items():
                    failed = self._refuse_late(run, now)
                    if now >= run.latest_start:
                        failed = outcome.wait_timeout_error(now - run.requested_at)
                    if failed is not None:
                        run.is_queued = False
                        lane.queue.remove(run.identity.owner, run)
                        events.append((run, failed))
        _tell(events)

    def add_companions(self, batch: Batch, max_count: int) -> None:
        """Add short queued runs to a batch that has not started, in their order.

        There are none unless programs are so short that a run waits for a worker that runs.
        """
        if batch.lane is not self._fast or not batch.run.may_share:
            return
        with self._lock:
            if not self._batch_delay():
                return

            def may_join(run: Run) -> bool:
                is_free = run.may_share and not self._is_over_share(run.identity.owner)
                return is_free and not (self._heavy.slots and self._estimate(run))

            for _ in range(max_count):
                run = self._fast.queue.next(may_join)
                if run is None:
                    return
                _leave_queue(run)
                batch.runs.append(run)

    def demote(self, batch: Batch) -> None:
        """Move a batch from the fast lane to the heavy one, if one more may begin there."""
        with self._lock:
            # Without room it keeps its fast slot, and the next poll tries again.
            if batch.lane is not self._fast or len(self._begun) >= self._max_begun:
                return
            self._fast.free += 1
            batch.lane = self._heavy
            self._count_begun(batch)
            batch.is_paused = True
            self._paused.add(batch.run.identity.owner, batch)
            events = self._admit()
        _tell(events)

    def release(self, batch: Batch, unfinished: Sequence[Run] = ()) -> None:
        """End a batch, queue those of its runs that must begin again, and admit the next ones."""
        with self._lock:
            # A paused batch has no slot: it left that of the fast lane when it was demoted.
            if batch.is_paused:
                self._paused.remove(batch.run.identity.owner, batch)
            else:
                batch.lane.free += 1
            if batch in self._begun:
                self._begun.remove(batch)
                self._begun_by_owner[batch.run.identity.owner] -= 1
                self._begun_by_owner += Counter()  # Drops owners with a count of zero.
            self._requeue(unfinished)
            events = self._admit()
        _tell(events)

    def requeue(self, runs: Sequence[Run]) -> None:
        """Queue runs that were taken back from a batch, before all others."""
        with self._lock:
            self._requeue(runs)
            events = self._admit()
        _tell(events)

    def end_delays(self) -> bool:
        """Admit runs after their batch delay; report whether others are still delayed."""
        with self._lock:
            events = self._admit()
            has_delayed = self._fast.free > 0 and self._fast.queue.has_unblocked(
                self._is_over_share
            )
        _tell(events)
        return has_delayed

    def _requeue(self, runs: Sequence[Run]) -> None:
        # Reversed, because each of them is put before all others.
        for run in reversed(runs):
            if not run.is_cancelled:
                run.may_share = False
                run.is_queued = True
                # It had its turn: it is not refused for the time that it has waited.
                run.latest_start = run.deadline
                self._fast.queue.add_first(run.identity.owner, run)

    def _refuse(self, run: Run, lane: Lane) -> Failed | None:
        """Return the error of a run that may not be queued, or None."""
        owner = run.identity.owner
        own, waiting = sum(each.queue.count(owner) for each in self._lanes), self.waiting
        is_own_share_full = owner is not None and own >= self._queue_size_per_owner
        if is_own_share_full or waiting >= self._queue_size:
            return outcome.queue_full_error(own, waiting)
        if not run.expected_seconds:
            return None
        ahead_seconds = 0.0
        for other in lane.queue.ahead(owner):
            ahead_seconds += other.expected_seconds
        # Those that have begun share the slots with this one, also while they are paused.
        for batch in self._begun if lane is self._heavy else ():
            ahead_seconds += max(batch.run.expected_seconds - batch.used_seconds, 0.0)
        share, now = self._share.value(), time.monotonic()
        start = now + ahead_seconds / (lane.slots * share)
        if start <= min(run.latest_start, run.deadline - run.expected_seconds * _MARGIN / share):
            return None
        return outcome.too_busy_error(start - now, run.deadline - now)

    def _refuse_late(self, run: Run, now: float) -> Failed | None:
        """Return the error of a run that would not end in time if it began now, or None."""
        if not run.expected_seconds:
            return None
        seconds = run.expected_seconds / self._share.value()
        if now + seconds * _MARGIN <= run.deadline:
            return None
        return outcome.too_late_error(run.expected_seconds, seconds, run.deadline - now)

    def _may_start(self, run: Run, lane: Lane) -> bool:
        """Report whether ``run`` may use a free slot of its lane now."""
        if lane is self._penalty:
            return True
        if lane is self._fast and self._is_delayed(run):
            return False
        if lane is self._heavy and len(self._begun) >= self._max_begun:
            return False
        return not self._is_over_share(run.identity.owner)

    def _is_delayed(self, run: Run) -> bool:
        """Report whether ``run`` waits for a worker that runs rather than wake another one."""
        # No worker runs that could take it along.
        if self._fast.free == self._fast.slots:
            return False
        delay = self._batch_delay()
        if not delay:
            return False
        now = time.monotonic()
        return now - self._last_start < _STALL_SECONDS and now - run.requested_at < delay

    def _is_over_share(self, owner: Hashable) -> bool:
        """Report whether an owner has so many begun heavy runs that its next one waits for them."""
        if not self._begun or owner is None:
            return False
        return self._begun_by_owner[owner] >= self._max_begun_per_owner

    def _estimate(self, run: Run) -> bool:
        """Estimate the cost of a run, and report whether it is known to be heavy."""
        run.expected_seconds = self._costs.estimate(run.identity) if self._costs else 0.0
        return run.expected_seconds > 0.0

    def _begin(self, run: Run, lane: Lane) -> Batch:
        batch = Batch(run, lane)
        lane.free -= 1
        if lane is self._heavy:
            self._count_begun(batch)
        elif lane is self._fast:
            self._last_start = time.monotonic()
        return batch

    def _count_begun(self, batch: Batch) -> None:
        self._begun.add(batch)
        self._begun_by_owner[batch.run.identity.owner] += 1

    def _admit(self) -> list[Event]:
        """Give free slots to the next of each queue at once, so that no newcomer overtakes.

        Return what to tell when the lock is released.
        """
        events: list[Event] = []
        for lane in self._lanes:
            while lane.free > 0:
                if lane is not self._heavy:
                    is_changed = self._begin_next(lane, events)
                # New runs and paused ones take turns, so that neither kind starves the other.
                elif self._was_resumed:
                    is_changed = self._begin_next(lane, events) or self._resume_next()
                else:
                    is_changed = self._resume_next() or self._begin_next(lane, events)
                if not is_changed:
                    break
        return events

    def _resume_next(self) -> bool:
        """Let a paused batch go on, if there is one; one that waits to begin has the next turn."""
        batch = self._paused.next(lambda _: True)
        self._was_resumed = batch is not None
        if batch is None:
            return False
        self._heavy.free -= 1
        batch.is_paused = False
        return True

    def _begin_next(self, lane: Lane, events: list[Event]) -> bool:
        """Take the next run of a queue that may start; begin, move or refuse it."""
        run = lane.queue.next(lambda run: self._may_start(run, lane))
        if run is None:
            return False
        if lane is self._fast and self._heavy.slots and self._estimate(run):
            # Learned while it was queued; the heavy lane is the next one that is looked at.
            self._heavy.queue.add(run.identity.owner, run)
            return True
        if lane is self._heavy:
            self._was_resumed = False
        _leave_queue(run)
        failed = self._refuse_late(run, time.monotonic())
        events.append((run, failed or self._begin(run, lane)))
        return True


def _leave_queue(run: Run) -> None:
    run.is_queued = False
    run.waited_seconds = time.monotonic() - run.requested_at


def _tell(events: list[Event]) -> None:
    # Without the lock, which a callback takes that submits another run.
    for run, event in events:
        if isinstance(event, Batch):
            run.on_start(event)
        else:
            run.reply(event)

"""The scheduler: slots and queues."""

import time
from collections.abc import Callable, Hashable

import pytest

from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.scheduler import UNKNOWN_RUN, RunProfile, Scheduler, Slot


def batching(batch_delay: Callable[[], float]) -> Scheduler:
    """Return a scheduler with two slots that delays runs."""
    return Scheduler(
        fast_slots=2, heavy_slots=1, slow_slots=0, queue_size=5, batch_delay=batch_delay
    )


def enter(scheduler: Scheduler, key: str | None = None, profile: RunProfile = UNKNOWN_RUN) -> Slot:
    """Request a slot that is not refused."""
    slot = scheduler.request_slot(lambda: key, lambda _: None, profile)
    assert isinstance(slot, Slot)
    return slot


def test_fast_slots_bound_the_runs() -> None:
    """The next run waits until a slot is released."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=1, queue_size=5)
    first, second = enter(scheduler), enter(scheduler)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    first.release()
    assert not second.is_waiting


def test_short_run_waits_for_a_running_worker() -> None:
    """During the batch delay a run waits for the slot of another although one is free."""
    scheduler = Scheduler(
        fast_slots=2, heavy_slots=1, slow_slots=0, queue_size=5, batch_delay=lambda: 60.0
    )
    first, second = enter(scheduler), enter(scheduler)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    first.release()
    assert not second.is_waiting
    assert not scheduler.release_batched()


def busy_scheduler(*keys: str) -> tuple[Scheduler, Slot, list[Slot]]:
    """Return a scheduler of short runs, its running slot, and those that wait."""
    scheduler = Scheduler(
        fast_slots=1, heavy_slots=1, slow_slots=0, queue_size=50, batch_delay=lambda: 60.0
    )
    return scheduler, enter(scheduler), [enter(scheduler, key) for key in keys]


def test_companions_are_those_that_would_run_next() -> None:
    """They are taken from the queue key by key, and do not use a slot."""
    scheduler, running, (first, second, other, third) = busy_scheduler("a", "a", "b", "a")
    assert scheduler.take_companions(running, 3, lambda _: True) == [first, other, second]
    assert [slot.is_waiting for slot in (first, second, other, third)] == [*(False,) * 3, True]
    assert (scheduler.busy, scheduler.waiting) == (1, 1)
    running.release()
    assert not third.is_waiting
    third.release()
    assert scheduler.busy == 0


def test_companions_may_be_refused() -> None:
    """A run that may not join holds those of its key back, and no others."""
    scheduler, running, (first, second, other) = busy_scheduler("a", "a", "b")
    assert scheduler.take_companions(running, 3, lambda slot: slot is not first) == [other]
    assert first.is_waiting
    assert second.is_waiting


def test_long_runs_have_no_companions() -> None:
    """Without a batch delay, or in another lane, a run has its worker alone."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5)
    running = enter(scheduler)
    enter(scheduler)
    assert not scheduler.take_companions(running, 3, lambda _: True)
    scheduler = Scheduler(
        fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5, batch_delay=lambda: 60.0
    )
    enter(scheduler)
    enter(scheduler)
    assert not scheduler.take_companions(enter(scheduler, "h", heavy()), 3, lambda _: True)


def test_companion_that_became_heavy_is_not_taken() -> None:
    """Its cost is estimated again when it leaves the queue."""
    seconds = [0.0]
    scheduler = Scheduler(
        fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5, batch_delay=lambda: 60.0
    )
    running = enter(scheduler)
    enter(scheduler, "a", RunProfile(lambda: seconds[0]))
    seconds[0] = 1.0
    assert not scheduler.take_companions(running, 3, lambda _: True)


def test_requeued_runs_come_first_and_in_order() -> None:
    """They had their turn; one slot is free again if one of them had it."""
    scheduler, running, (first, second, third) = busy_scheduler("a", "a", "b")
    companions = scheduler.take_companions(running, 1, lambda _: True)
    assert companions == [first]
    granted: list[Slot] = []
    scheduler.requeue([(slot, granted.append) for slot in (running, first)])
    assert granted == [running]
    running.release()
    assert granted == [running, first]
    assert second.is_waiting
    first.release()
    assert (second.is_waiting, third.is_waiting) != (True, True)
    assert scheduler.busy == 1


def test_handed_over_slot_is_released_by_the_companion() -> None:
    """The run that had it is queued again without a slot."""
    scheduler, running, (first,) = busy_scheduler("a")
    scheduler.take_companions(running, 1, lambda _: True)
    scheduler.hand_over(running, first)
    granted: list[Slot] = []
    scheduler.requeue([(running, granted.append)])
    assert (granted, scheduler.busy) == ([], 1)
    first.release()
    assert granted == [running]
    running.release()
    assert scheduler.busy == 0


def test_batch_delay_ends_when_the_running_ones_stall() -> None:
    """When the running one takes long, the next gets the free slot."""
    scheduler = Scheduler(
        fast_slots=2, heavy_slots=1, slow_slots=0, queue_size=5, batch_delay=lambda: 60.0
    )
    _, second = enter(scheduler), enter(scheduler)
    time.sleep(0.005)
    assert not scheduler.release_batched()
    assert not second.is_waiting


def test_run_gets_the_free_slot_after_the_batch_delay() -> None:
    """A second worker is woken; a third run waits, for there are two slots."""
    seconds = [60.0]
    scheduler = Scheduler(
        fast_slots=2, heavy_slots=1, slow_slots=0, queue_size=5, batch_delay=lambda: seconds[0]
    )
    _, second, third = enter(scheduler), enter(scheduler), enter(scheduler)
    seconds[0] = 1e-9
    assert not scheduler.release_batched()
    assert (second.is_waiting, third.is_waiting) == (False, True)


def test_slot_is_released_when_a_run_raises() -> None:
    """The ``with`` block releases it."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=1, queue_size=5)
    with pytest.raises(KeyError), enter(scheduler):
        raise KeyError
    assert not enter(scheduler).is_waiting


def test_abandoned_slot_is_not_granted() -> None:
    """A slot that was granted meanwhile cannot be abandoned."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=0, queue_size=5)
    first, second, third = enter(scheduler), enter(scheduler), enter(scheduler)
    assert second.abandon()
    first.release()
    assert not third.is_waiting
    assert not third.abandon()
    assert scheduler.waiting == 0


def heavy(seconds: float = 1.0, remaining: float = 60.0) -> RunProfile:
    """Return the profile of a heavy run."""
    return RunProfile(lambda: seconds, remaining)


def test_demoted_runs_are_paused_but_one_per_heavy_slot() -> None:
    """A released heavy slot goes to the next paused run."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5)
    first = enter(scheduler, "a")
    first.demote()
    first.demote()
    assert (first.is_slow, first.is_paused) == (True, False)
    second = enter(scheduler, "b")
    second.demote()
    third = enter(scheduler, "c")
    third.demote()
    assert (second.is_paused, third.is_paused) == (True, True)
    assert (scheduler.busy, scheduler.slow, scheduler.waiting) == (0, 3, 0)
    first.release()
    assert (second.is_paused, third.is_paused) == (False, True)
    third.release()
    second.release()
    assert (scheduler.busy, scheduler.slow, scheduler.waiting) == (0, 0, 0)


def test_pause_counts_as_waiting() -> None:
    """It is added to the seconds that a request has waited."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5)
    for _ in range(2):
        slot = enter(scheduler)
        slot.demote()
    time.sleep(0.02)
    slot.release()
    assert slot.waited_seconds >= 0.02


def test_run_is_not_demoted_when_all_slow_slots_are_used() -> None:
    """Each paused run holds a process."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5)
    for _ in range(3):
        enter(scheduler).demote()
    stays = enter(scheduler)
    stays.demote()
    assert not stays.is_slow
    assert enter(scheduler).is_waiting


def test_run_known_to_be_heavy_begins_in_the_heavy_lane() -> None:
    """It waits there, and fast runs do not wait for it."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=5)
    first, second = enter(scheduler, "a", heavy()), enter(scheduler, "b", heavy())
    quick = enter(scheduler, "c")
    assert (first.is_waiting, second.is_waiting, quick.is_waiting) == (False, True, False)
    first.release()
    assert (second.is_waiting, second.is_slow) == (False, True)


def test_heavy_runs_are_served_round_robin_by_key() -> None:
    """Of one key, a begun run goes on before others begin."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=8, queue_size=9)
    first = enter(scheduler, "a", heavy())
    waiting = enter(scheduler, "b", heavy())
    own = enter(scheduler, "b", heavy())
    paused = enter(scheduler, "b")
    paused.demote()
    other = enter(scheduler, "c", heavy())
    first.release()
    assert (paused.is_paused, other.is_waiting) == (False, True)
    paused.release()
    assert (waiting.is_waiting, other.is_waiting) == (True, False)
    other.release()
    assert (waiting.is_waiting, own.is_waiting) == (False, True)


def test_queued_run_that_is_found_to_be_heavy_changes_its_lane() -> None:
    """A flood of one program moves to the heavy lane as soon as its first run does."""
    costs: list[float] = []
    profile = RunProfile(lambda: sum(costs), 60.0)
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=8, queue_size=9)
    first = enter(scheduler, "a", profile)
    second = enter(scheduler, "b", profile)
    third = enter(scheduler, "c")
    costs.append(1.0)
    first.demote()
    assert (second.is_waiting, second.is_slow) == (True, True)
    assert not third.is_waiting
    first.release()
    assert not second.is_waiting


def test_penalized_runs_have_slots_of_their_own() -> None:
    """They have a quarter of the slow slots, and no other run waits for them."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=4, queue_size=9)
    penalized = RunProfile(is_penalized=True)
    first, second = enter(scheduler, "a", penalized), enter(scheduler, "b", penalized)
    assert (first.is_slow, first.is_waiting, second.is_waiting) == (True, False, True)
    assert not enter(scheduler, "c").is_waiting
    assert not enter(scheduler, "d", heavy()).is_waiting
    first.release()
    assert not second.is_waiting


def test_key_may_have_begun_half_of_the_heavy_runs() -> None:
    """Beyond that its next run waits, although a fast slot is free for others."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=5, queue_size=20)
    first = enter(scheduler, "flood")
    first.demote()
    enter(scheduler, "flood").demote()
    third = enter(scheduler, "flood")
    other = enter(scheduler, "other")
    assert (third.is_waiting, other.is_waiting) == (True, False)
    other.release()
    assert third.is_waiting
    first.release()
    assert not third.is_waiting


def refusal(scheduler: Scheduler, profile: RunProfile) -> str:
    """Return the error of a run that is refused."""
    refused = scheduler.request_slot(lambda: None, lambda _: None, profile)
    assert isinstance(refused, Failed)
    assert refused.cause is Cause.REFUSED
    return str(refused.error)


def test_run_that_cannot_end_in_time_is_refused() -> None:
    """Its own cost, or that of the runs before it, is more than the deadline leaves."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=2, slow_slots=8, queue_size=100)
    text = "needed 1.5 s of CPU time before, and the call's deadline leaves 1 s"
    assert text in refusal(scheduler, heavy(1.5, 1.0))
    for number in range(2 + 10):
        enter(scheduler, str(number), heavy(1.5, 60.0))
    text = "before it need the CPUs for 7.5 s, and the call's deadline leaves 8 s"
    assert text in refusal(scheduler, heavy(1.5, 8.0))
    assert enter(scheduler, "late", heavy(1.5, 10.0)).is_waiting


def test_queue_is_bounded_in_total_and_by_key() -> None:
    """A key may have a quarter of the queue; beyond either bound a run is refused."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=0, queue_size=8)
    enter(scheduler, "flood")
    for _ in range(2):
        enter(scheduler, "flood")
    refused = scheduler.request_slot(lambda: "flood", lambda _: None)
    assert isinstance(refused, Failed)
    assert refused.cause is Cause.REFUSED
    assert "2 requests are waiting, 2 of them of this composite resource" in str(refused.error)
    for number in range(6):
        enter(scheduler, str(number))
    assert isinstance(scheduler.request_slot(lambda: "x", lambda _: None), Failed)


def test_granted_slot_is_notified() -> None:
    """The callback is called once, and the slot knows how long it has waited."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=0, queue_size=9)
    calls: list[Slot] = []
    first = enter(scheduler)
    second = scheduler.request_slot(lambda: "", calls.append)
    first.release()
    assert calls == [second]
    assert isinstance(second, Slot)
    assert second.waited_seconds > 0


def test_keys_are_not_computed_without_a_queue() -> None:
    """Reading a request's identity takes time."""
    scheduler = Scheduler(fast_slots=1, heavy_slots=1, slow_slots=0, queue_size=9)

    def key() -> Hashable:
        raise AssertionError

    slot = scheduler.request_slot(key, lambda _: None)
    assert isinstance(slot, Slot)
    slot.release()

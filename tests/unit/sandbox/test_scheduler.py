"""The scheduler: slots, queues and refusals."""

import time
from collections.abc import Callable, Hashable

import pytest

from function_script.sandbox.batch import Batch, RequestIdentity, Run
from function_script.sandbox.history import History
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.scheduler import Scheduler


class Caller:
    """A scheduler with its estimates, and the batches and replies of the runs that it is given."""

    def __init__(  # those of a scheduler
        self,
        *,
        fast_slots: int = 1,
        heavy_slots: int = 1,
        slow_slots: int = 0,
        queue_size: int = 50,
        batch_delay: Callable[[], float] = float,
        share: float = 1.0,
    ) -> None:
        history = History(share)
        self.costs, self.share = history.costs, history.share
        self.scheduler = Scheduler(
            fast_slots=fast_slots,
            heavy_slots=heavy_slots,
            slow_slots=slow_slots,
            queue_size=queue_size,
            history=history,
            batch_delay=batch_delay,
        )
        self.batches: dict[Run, Batch] = {}
        self.replies: list[Reply] = []

    def submit(
        self,
        owner: Hashable = None,
        *,
        program: str | None = None,
        seconds: float = 60.0,
        is_penalized: bool = False,
    ) -> Run:
        def on_start(batch: Batch) -> None:
            self.batches[batch.run] = batch

        deadline = time.monotonic() + seconds
        identity = RequestIdentity(owner, program)
        run = Run(b"", lambda _: identity, deadline, on_start, self.replies.append)
        run.is_penalized = is_penalized
        self.scheduler.submit(run)
        return run

    def begin(self, owner: Hashable = None, *, program: str | None = None) -> Batch:
        """Submit a run that begins at once."""
        return self.batches[self.submit(owner, program=program)]

    def learn(self, program: str, seconds: float) -> None:
        """Let a program be heavy."""
        self.costs.observe(RequestIdentity("another", program), seconds)

    def release(self, run: Run) -> None:
        """End the batch of a run."""
        self.scheduler.release(self.batches.pop(run))

    def has_begun(self, *runs: Run) -> list[bool]:
        """Report for each run whether it has begun and not ended."""
        return [run in self.batches for run in runs]

    def refusal(self, cause: Cause = Cause.REFUSED) -> str:
        """Return the error of the only reply."""
        (reply,) = self.replies
        assert isinstance(reply, Failed)
        assert reply.cause is cause
        self.replies.clear()
        return str(reply.error)


def heavy_caller(*, heavy_slots: int = 1, slow_slots: int = 8, share: float = 1.0) -> Caller:
    """Return a caller of a heavy program that needs a second."""
    caller = Caller(heavy_slots=heavy_slots, slow_slots=slow_slots, queue_size=100, share=share)
    caller.learn("heavy", 1.0)
    return caller


def test_fast_slots_bound_the_runs() -> None:
    caller = Caller()
    first, second = caller.submit(), caller.submit()
    assert caller.has_begun(first, second) == [True, False]
    caller.release(first)
    assert caller.has_begun(second) == [True]
    assert second.waited_seconds > 0


def test_short_run_waits_for_a_running_worker() -> None:
    caller = Caller(fast_slots=2, batch_delay=lambda: 60.0)
    first, second = caller.submit(), caller.submit()
    assert caller.has_begun(first, second) == [True, False]
    caller.release(first)
    assert caller.has_begun(second) == [True]
    assert not caller.scheduler.end_delays()


def busy_caller(*owners: str) -> tuple[Caller, Batch, list[Run]]:
    """Return a caller of short runs, a batch that was begun, and the runs that wait."""
    caller = Caller(batch_delay=lambda: 60.0)
    return caller, caller.begin(), [caller.submit(owner) for owner in owners]


def test_companions_are_those_that_would_run_next() -> None:
    """They are taken from the queue owner by owner, and do not use a slot."""
    caller, batch, (first, second, other, third) = busy_caller("a", "a", "b", "a")
    caller.scheduler.add_companions(batch, 3)
    assert batch.runs[1:] == [first, other, second]
    assert [run.is_queued for run in (first, second, other, third)] == [*(False,) * 3, True]
    assert (caller.scheduler.busy, caller.scheduler.waiting) == (1, 1)
    caller.scheduler.release(batch)
    assert caller.has_begun(third) == [True]
    caller.release(third)
    assert caller.scheduler.busy == 0


def test_companions_may_not_want_to_share() -> None:
    """A run that may not join holds those of its owner back, and no others."""
    caller, batch, (first, second, other) = busy_caller("a", "a", "b")
    first.may_share = False
    caller.scheduler.add_companions(batch, 3)
    assert batch.runs[1:] == [other]
    assert first.is_queued
    assert second.is_queued


def test_long_runs_have_no_companions() -> None:
    """Without a batch delay, or in another lane, a run has its worker alone."""
    caller = Caller(slow_slots=4)
    batch = caller.begin()
    caller.submit()
    caller.scheduler.add_companions(batch, 3)
    assert len(batch.runs) == 1
    caller = Caller(slow_slots=4, batch_delay=lambda: 60.0)
    caller.learn("heavy", 1.0)
    caller.submit()
    caller.submit()
    batch = caller.begin("h", program="heavy")
    caller.scheduler.add_companions(batch, 3)
    assert len(batch.runs) == 1


def test_companion_that_became_heavy_is_not_taken() -> None:
    """Its cost is estimated again when it leaves the queue."""
    caller = Caller(slow_slots=4, batch_delay=lambda: 60.0)
    batch = caller.begin()
    caller.submit("a", program="later")
    caller.learn("later", 1.0)
    caller.scheduler.add_companions(batch, 3)
    assert len(batch.runs) == 1


def test_unfinished_runs_come_first_and_in_order() -> None:
    """They had their turn, and each is alone in its next batch."""
    caller, batch, (first, second, third) = busy_caller("a", "a", "b")
    running = batch.run
    caller.scheduler.add_companions(batch, 1)
    assert batch.runs == [running, first]
    caller.batches.clear()
    caller.scheduler.release(batch, [running, first])
    assert caller.has_begun(running, first) == [True, False]
    assert not running.may_share
    caller.release(running)
    assert caller.has_begun(first, second) == [True, False]
    caller.release(first)
    assert caller.has_begun(second, third).count(True) == 1
    assert caller.scheduler.busy == 1


def test_cancelled_run_of_a_batch_is_not_queued_again() -> None:
    """Nobody waits for its reply."""
    caller, batch, (first,) = busy_caller("a")
    caller.scheduler.add_companions(batch, 1)
    first.cancel()
    caller.scheduler.requeue([first])
    assert caller.scheduler.waiting == 0


def test_batch_delay_ends_when_the_running_ones_stall() -> None:
    """When the running one takes long, the next gets the free slot."""
    caller = Caller(fast_slots=2, batch_delay=lambda: 60.0)
    caller.submit()
    second = caller.submit()
    time.sleep(0.005)
    assert not caller.scheduler.end_delays()
    assert caller.has_begun(second) == [True]


def test_run_gets_the_free_slot_after_the_batch_delay() -> None:
    """A second worker is woken; a third run waits, for there are two slots."""
    seconds = [60.0]
    caller = Caller(fast_slots=2, batch_delay=lambda: seconds[0])
    _, second, third = caller.submit(), caller.submit(), caller.submit()
    seconds[0] = 1e-9
    assert not caller.scheduler.end_delays()
    assert caller.has_begun(second, third) == [True, False]


def test_dequeued_run_does_not_begin() -> None:
    caller = Caller()
    first, second, third = caller.submit(), caller.submit(), caller.submit()
    caller.scheduler.dequeue(second)
    caller.release(first)
    assert caller.has_begun(second, third) == [False, True]
    caller.scheduler.dequeue(third)
    assert caller.scheduler.waiting == 0


def test_demoted_runs_are_paused_but_one_per_heavy_slot() -> None:
    """A released heavy slot goes to the next paused run."""
    caller = Caller(slow_slots=4)
    scheduler = caller.scheduler
    first = caller.begin("a")
    scheduler.demote(first)
    scheduler.demote(first)
    assert (scheduler.is_slow(first), first.is_paused) == (True, False)
    second = caller.begin("b")
    scheduler.demote(second)
    third = caller.begin("c")
    scheduler.demote(third)
    assert (second.is_paused, third.is_paused) == (True, True)
    assert (scheduler.busy, scheduler.slow, scheduler.waiting) == (0, 3, 0)
    scheduler.release(first)
    assert (second.is_paused, third.is_paused) == (False, True)
    scheduler.release(third)
    scheduler.release(second)
    assert (scheduler.busy, scheduler.slow, scheduler.waiting) == (0, 0, 0)


def test_run_is_not_demoted_when_all_slow_slots_are_used() -> None:
    """Each paused run holds a process."""
    caller = Caller(slow_slots=4)
    for _ in range(3):
        caller.scheduler.demote(caller.begin())
    stays = caller.begin()
    caller.scheduler.demote(stays)
    assert not caller.scheduler.is_slow(stays)
    assert caller.has_begun(caller.submit()) == [False]


def test_run_known_to_be_heavy_begins_in_the_heavy_lane() -> None:
    """It waits there, and fast runs do not wait for it."""
    caller = heavy_caller(slow_slots=4)
    first, second = (caller.submit(owner, program="heavy") for owner in "ab")
    quick = caller.submit("c")
    assert caller.has_begun(first, second, quick) == [True, False, True]
    assert caller.scheduler.is_heavy(caller.batches[first])
    caller.release(first)
    assert caller.scheduler.is_heavy(caller.batches[second])


def test_begun_heavy_runs_and_queued_ones_take_turns() -> None:
    """Neither can keep the others from the only CPU."""
    caller = heavy_caller()
    first = caller.submit("a", program="heavy")
    paused = []
    for owner in "bcd":
        paused.append(caller.begin(owner))
        caller.scheduler.demote(paused[-1])
    queued = [caller.submit(owner, program="heavy") for owner in "efg"]
    ended, order = caller.batches[first], []
    for _ in range(6):
        caller.scheduler.release(ended)
        going = [batch for batch in paused if not batch.is_paused]
        begun = [caller.batches.pop(run) for run in queued if run in caller.batches]
        (ended,) = going or begun
        order.append("resumed" if going else "begun")
        paused = [batch for batch in paused if batch is not ended]
    assert order == ["resumed", "begun"] * 3


def test_heavy_runs_are_served_round_robin_by_owner() -> None:
    """Of one owner, they are served in their order."""
    caller = heavy_caller()
    first, second, third, other = (caller.submit(owner, program="heavy") for owner in "bbbc")
    for run in (first, second, other):
        caller.release(run)
    assert caller.has_begun(third) == [True]


def test_queued_run_that_is_found_to_be_heavy_changes_its_lane() -> None:
    """A flood of one program moves to the heavy lane as soon as its first run does."""
    caller = Caller(slow_slots=8)
    first, second = caller.begin("a", program="new"), caller.submit("b", program="new")
    third = caller.submit("c")
    caller.learn("new", 1.0)
    caller.scheduler.demote(first)
    assert caller.has_begun(second, third) == [False, True]
    caller.scheduler.release(first)
    assert caller.scheduler.is_heavy(caller.batches[second])


def test_penalized_runs_have_slots_of_their_own() -> None:
    """They have a quarter of the slow slots, and no other run waits for them."""
    caller = heavy_caller(slow_slots=4)
    first, second = (caller.submit(owner, is_penalized=True) for owner in "ab")
    assert caller.has_begun(first, second) == [True, False]
    assert caller.scheduler.is_slow(caller.batches[first])
    assert caller.has_begun(caller.submit("c"), caller.submit("d", program="heavy")) == [True] * 2
    caller.release(first)
    assert caller.has_begun(second) == [True]


def test_owner_may_have_begun_half_of_the_heavy_runs() -> None:
    """Beyond that its next run waits, although a fast slot is free for others."""
    caller = Caller(slow_slots=5)
    first = caller.begin("flood")
    caller.scheduler.demote(first)
    second = caller.begin("flood")
    caller.scheduler.demote(second)
    third, other = caller.submit("flood"), caller.submit("other")
    assert caller.has_begun(third, other) == [False, True]
    caller.release(other)
    assert caller.has_begun(third) == [False]
    caller.scheduler.release(first)
    assert caller.has_begun(third) == [True]


def test_run_that_cannot_end_in_time_is_refused() -> None:
    """Its own cost at the share of a CPU that runs get, or the runs before it, take too long."""
    caller = heavy_caller(heavy_slots=2, share=0.5)
    caller.submit("short", program="heavy", seconds=1.9)
    text = "1 s of CPU time before, which programs get in 2 s here, and the call's deadline leaves"
    assert text in caller.refusal()
    for number in range(2 + 4):
        caller.submit(str(number), program="heavy")
    caller.submit("hurried", program="heavy", seconds=11.0)
    assert "before it need the CPUs for 6 s, and it may wait for half of" in caller.refusal()
    assert caller.submit("patient", program="heavy", seconds=12.5).is_queued


def test_queue_is_bounded_in_total_and_by_owner() -> None:
    """An owner may have a quarter of the queue; beyond either bound a run is refused."""
    caller = Caller(queue_size=8)
    for _ in range(4):
        caller.submit("flood")
    assert "2 requests are waiting, 2 of them of this composite resource" in caller.refusal()
    for number in range(6):
        caller.submit(str(number))
    assert not caller.replies
    caller.submit("x")
    assert "8 requests are waiting" in caller.refusal()


def test_half_of_the_time_is_for_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits longer is refused, and no other."""
    caller = Caller()
    caller.submit()
    hurried, patient = caller.submit(seconds=10.0), caller.submit(seconds=60.0)
    now = time.monotonic()
    caller.scheduler.refuse_overdue(now + 4.9)
    assert not caller.replies
    caller.scheduler.refuse_overdue(now + 5.1)
    assert "it waited 5.1 s for a free worker" in caller.refusal(Cause.WAITED)
    assert (hurried.is_queued, patient.is_queued) == (False, True)
    monkeypatch.setattr("time.monotonic", lambda: now + 1e6)
    caller.scheduler.refuse_overdue(time.monotonic())
    assert not patient.is_queued


def test_queued_run_is_refused_when_the_share_falls() -> None:
    """It is as soon as it cannot end in time, and does not wait for nothing."""
    caller = heavy_caller()
    first, second = (caller.submit(owner, program="heavy", seconds=4.0) for owner in "ab")
    for _ in range(20):
        caller.share.observe(0.005, 0.05)
    caller.scheduler.refuse_overdue(time.monotonic())
    assert "which programs get in" in caller.refusal()
    assert (caller.has_begun(first), second.is_queued) == ([True], False)


def test_run_that_was_begun_before_is_not_refused_for_waiting() -> None:
    """It was taken back from a batch, and has until its deadline."""
    caller, batch, (first,) = busy_caller("a")
    caller.scheduler.add_companions(batch, 1)
    caller.scheduler.requeue([first])
    caller.scheduler.refuse_overdue(first.deadline - 1.0)
    assert first.is_queued

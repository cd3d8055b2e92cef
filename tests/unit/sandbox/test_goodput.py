"""Goodput under overload: the scheduler with a clock of its own and simulated workers.

Heavy runs share what the others leave of one CPU. The rest is the real code: estimates, the share,
the queue and its refusals.
"""

import random
import time
from dataclasses import dataclass, field

import pytest

from function_script.sandbox.batch import POLL_SECONDS, Batch, RequestIdentity, Run
from function_script.sandbox.history import HEAVY_SECONDS, History
from function_script.sandbox.outcome import Failed, Reply
from function_script.sandbox.scheduler import Scheduler

CPU_SECONDS = 1.2
MINUTES = 5


@dataclass
class Work:
    """A begun run, and the CPU time that it has used."""

    batch: Batch
    used_seconds: float = 0.0


@dataclass
class Machine:
    """One CPU of which heavy runs get ``share``, on the clock of the test."""

    share: float
    # Histories that are made before the clock is replaced have this time, too.
    now: float = field(default_factory=time.monotonic)
    begun: list[Work] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    refused_after: list[float] = field(default_factory=list)
    lost_seconds: float = 0.0
    history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        self.cpu_share = self.history.share
        self.scheduler = Scheduler(
            fast_slots=2,
            heavy_slots=1,
            slow_slots=16,
            queue_size=1_000,
            history=self.history,
        )

    def call(self, number: int, deadline_seconds: float) -> None:
        """Submit a run of the heavy program for an XR."""
        came = self.now

        def on_reply(reply: Reply) -> None:
            if isinstance(reply, Failed):
                self.refused_after.append(self.now - came)

        run = Run(
            b"",
            lambda _: RequestIdentity(number, "heavy"),
            self.now + deadline_seconds,
            lambda batch: self.begun.append(Work(batch)),
            on_reply,
        )
        self.scheduler.submit(run)

    def advance(self) -> None:
        """Let a poll's time pass."""
        self.now += POLL_SECONDS
        going = [work for work in self.begun if not work.batch.is_paused]
        for work in going:
            gained = POLL_SECONDS * self.share / len(going)
            work.used_seconds += gained
            work.batch.used_seconds = work.used_seconds
            if self.scheduler.is_heavy(work.batch):
                self.cpu_share.observe(gained, POLL_SECONDS)
        for work in [*self.begun]:
            self._poll(work)
        self.scheduler.refuse_overdue(self.now)

    def _poll(self, work: Work) -> None:
        batch, identity = work.batch, work.batch.run.identity
        if work.used_seconds >= CPU_SECONDS:
            self.answers.append(self.now)
            self.history.costs.observe(identity, work.used_seconds)
        elif self.now >= batch.run.deadline:
            self.lost_seconds += work.used_seconds
        else:
            if work.used_seconds > HEAVY_SECONDS and not self.scheduler.is_slow(batch):
                self.history.costs.raise_to(identity, work.used_seconds)
                self.scheduler.demote(batch)
            return
        self.begun.remove(work)
        self.scheduler.release(batch)


# Not all twelve: each two values of different parameters meet in a row.
@pytest.mark.parametrize(
    ("factor", "share", "deadline_seconds"),
    [
        *((0.5, 1.0, 20.0), (0.5, 0.15, 120.0), (2.0, 1.0, 120.0)),
        *((2.0, 0.15, 20.0), (10.0, 1.0, 20.0), (10.0, 0.15, 120.0)),
    ],
)
def test_goodput_stays_under_overload(
    monkeypatch: pytest.MonkeyPatch, factor: float, share: float, deadline_seconds: float
) -> None:
    """Nearly all CPU time goes into answers, and the CPU is never idle for want of begun runs."""
    machine = Machine(share)
    monkeypatch.setattr("time.monotonic", lambda: machine.now)
    borne = share / CPU_SECONDS
    arrivals = random.Random(1)  # noqa: S311 - the same in every run
    start, number = machine.now, 0
    end, due = start + 60.0 * MINUTES, start
    while machine.now < end:
        while due <= machine.now:
            machine.call(number, deadline_seconds)
            number += 1
            due += arrivals.expovariate(borne * factor)
        machine.advance()
    useful = len(machine.answers) * CPU_SECONDS
    assert useful >= 0.9 * (useful + machine.lost_seconds)
    thirds = [
        sum(start + 100.0 * third <= at < start + 100.0 * (third + 1) for at in machine.answers)
        for third in range(3)
    ]
    assert max(machine.refused_after, default=0.0) <= deadline_seconds / 2 + POLL_SECONDS
    if factor > 1.0:
        assert useful >= 0.9 * share * 60.0 * MINUTES
        assert thirds[2] >= 0.9 * thirds[0] - 1
    else:
        assert len(machine.refused_after) <= 0.1 * number


def test_share_that_falls_and_rises_again_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others take most of the CPU for half a minute of each; what has begun still ends."""
    machine = Machine(1.0)
    monkeypatch.setattr("time.monotonic", lambda: machine.now)
    start, number = machine.now, 0
    while machine.now < start + 60.0 * MINUTES:
        seconds = machine.now - start
        machine.share = 0.2 if seconds % 60.0 < 30.0 else 0.9
        if number < seconds * 4:
            machine.call(number, 20.0)
            number += 1
        machine.advance()
    useful = len(machine.answers) * CPU_SECONDS
    assert useful >= 0.9 * (useful + machine.lost_seconds)
    assert useful >= 0.85 * 60.0 * MINUTES * 0.55

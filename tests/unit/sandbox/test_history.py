"""The history of runs: the batch delay, the share of a CPU, costs and penalties."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from function_script.sandbox.batch import RequestIdentity
from function_script.sandbox.history import CostEstimates, CpuShare, PenaltyBox, RuntimeEstimate


def test_batch_delay_is_for_short_programs() -> None:
    """A longer one counts for a hundred runs or so."""
    runtimes = RuntimeEstimate()
    assert runtimes.batch_delay() == 0.0
    for _ in range(400):
        runtimes.observe(0.001)
    assert runtimes.batch_delay() > 0.0
    runtimes.observe(0.01)
    assert runtimes.batch_delay() == 0.0


class Clock:
    """The time of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr("time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    return Clock(monkeypatch)


def run_for(clock: Clock, share: CpuShare, seconds: float, cpu_share: float) -> None:
    """Let a heavy run go on for so long, at such a share of a CPU."""
    for _ in range(round(seconds / 0.0125)):
        clock.now += 0.0125
        share.observe(0.0125 * cpu_share, 0.0125)


def test_share_follows_what_runs_got_lately(clock: Clock) -> None:
    """It is known within seconds, and forgotten within a minute."""
    share = CpuShare()
    assert share.value() == 1.0
    run_for(clock, share, 10.0, 0.2)
    assert share.value() == pytest.approx(0.2, abs=0.05)
    run_for(clock, share, 10.0, 0.8)
    assert 0.6 < share.value() < 0.8
    run_for(clock, share, 30.0, 0.1)
    clock.now += 60.0
    assert share.value() > 0.9


def test_time_in_which_the_pool_did_not_run_counts_little(clock: Clock) -> None:
    """After a stop of a minute, runs are not refused for it."""
    share = CpuShare()
    run_for(clock, share, 10.0, 1.0)
    clock.now += 60.0
    share.observe(0.0, 60.0)
    assert share.value() > 0.2
    run_for(clock, share, 2.0, 1.0)
    assert share.value() > 0.7


def test_share_is_never_nothing(clock: Clock) -> None:
    """Seconds are divided by it."""
    share = CpuShare()
    run_for(clock, share, 100.0, 0.0)
    assert 0.0 < share.value() < 0.1


def run_of(program: str | None, xr: str) -> RequestIdentity:
    return RequestIdentity(xr, program)


def test_costs_are_estimated_by_program_and_xr() -> None:
    """A new XR is expected to cost what its program costs for others."""
    costs = CostEstimates()
    costs.observe(run_of("heavy", "large"), 1.5)
    large, new, small = (run_of("heavy", xr) for xr in ("large", "new", "small"))
    assert costs.estimate(large) == costs.estimate(new) == 1.5
    costs.observe(small, 0.001)
    assert costs.estimate(small) == 0.0
    assert costs.estimate(new) == (1.5 + 0.001) / 2
    assert costs.estimate(run_of("other", "large")) == 0.0


def test_program_that_alternates_is_heavy() -> None:
    """Cheap runs only halve the estimate; a run that goes on counts before its end."""
    costs, sly = CostEstimates(), run_of("sly", "xr")
    for _ in range(5):
        costs.observe(sly, 1.5)
        costs.observe(sly, 0.0)
        assert costs.estimate(sly) > 0.3
    costs.raise_to(run_of("begun", "xr"), 0.06)
    assert costs.estimate(run_of("begun", "any")) == 0.06


def test_program_that_is_cheap_again_is_forgotten() -> None:
    """Programs that were always cheap, or are unknown, are never remembered."""
    costs, cold = CostEstimates(), run_of("cold", "xr")
    costs.observe(run_of("cheap", "xr"), 0.001)
    costs.raise_to(run_of("cheap", "xr"), 0.001)
    costs.observe(run_of(None, "xr"), 1.5)
    costs.raise_to(run_of(None, "xr"), 1.5)
    assert not costs._programs
    costs.observe(cold, 0.3)
    for _ in range(10):
        costs.observe(cold, 0.001)
    assert not costs._programs


def test_cost_estimates_expire(clock: Clock) -> None:
    """A program that is refused for its cost would never show that it became cheaper.

    The identity of each request is read until all have expired.
    """
    costs, heavy = CostEstimates(), run_of("heavy", "xr")
    costs.observe(heavy, 1.5)
    clock.now += 59
    assert costs
    assert costs.estimate(heavy) == 1.5
    clock.now += 2
    assert not costs
    assert costs.estimate(heavy) == 0.0


def test_penalties_are_cleared_and_bounded() -> None:
    """A penalty ends with a completed run; only the latest thousand keys are kept."""
    penalties = PenaltyBox()
    penalties.add(None)
    for number in range(1_200):
        penalties.add(number)
    penalties.clear(1_000)
    penalized = [number for number in range(1_200) if penalties.contains(number)]
    assert penalized == [*range(200, 1_000), *range(1_001, 1_200)]
    assert not penalties.contains(None)


def test_penalties_expire(clock: Clock) -> None:
    """A key whose runs get no CPU can never complete one."""
    penalties = PenaltyBox()
    penalties.add("key")
    clock.now += 59
    assert penalties
    assert penalties.contains("key")
    clock.now += 2
    assert not penalties
    assert not penalties.contains("key")


def test_penalties_are_asked_for_while_another_thread_adds_some() -> None:
    penalties = PenaltyBox()
    penalties.add(0)
    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(lambda: [penalties.add(key % 50) for key in range(400_000)])
        while not adding.done():
            assert penalties

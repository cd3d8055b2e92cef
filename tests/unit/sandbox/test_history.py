"""The history of runs: the batch delay, costs and penalties."""

import time

import pytest

from function_script.sandbox.history import CostEstimates, PenaltyBox, RuntimeEstimate


def test_batch_delay_is_for_short_programs() -> None:
    """A longer one counts for a hundred runs or so."""
    runtimes = RuntimeEstimate()
    assert runtimes.batch_delay() == 0.0
    for _ in range(400):
        runtimes.observe(0.001)
    assert runtimes.batch_delay() > 0.0
    runtimes.observe(0.01)
    assert runtimes.batch_delay() == 0.0


def observe(costs: CostEstimates, program: str | None, xr: str, seconds: float) -> None:
    """Record the cost of a run of a program for an XR."""
    costs.observe(lambda: program, lambda: (program, xr), seconds)


def estimate(costs: CostEstimates, program: str | None, xr: str) -> float:
    """Return the expected cost of a run."""
    return costs.estimate(lambda: program, lambda: (program, xr))


def test_costs_are_estimated_by_program_and_xr() -> None:
    """A new XR is expected to cost what its program costs for others."""
    costs = CostEstimates()
    observe(costs, "heavy", "large", 1.5)
    assert estimate(costs, "heavy", "large") == estimate(costs, "heavy", "new") == 1.5
    observe(costs, "heavy", "small", 0.001)
    assert estimate(costs, "heavy", "small") == 0.0
    assert estimate(costs, "heavy", "new") == (1.5 + 0.001) / 2
    assert estimate(costs, "other", "large") == 0.0


def test_program_that_alternates_is_heavy() -> None:
    """Cheap runs only halve the estimate; a run that goes on counts before its end."""
    costs = CostEstimates()
    for _ in range(5):
        observe(costs, "sly", "xr", 1.5)
        observe(costs, "sly", "xr", 0.0)
        assert estimate(costs, "sly", "xr") > 0.3
    costs.raise_to(lambda: "begun", 0.06)
    assert estimate(costs, "begun", "any") == 0.06


def test_program_that_is_cheap_again_is_forgotten() -> None:
    """Programs that were always cheap, or have no key, are never remembered."""
    costs = CostEstimates()
    costs.observe(pytest.fail, pytest.fail, 0.001)
    observe(costs, None, "xr", 1.5)
    observe(costs, "cold", "xr", 0.3)
    for _ in range(10):
        observe(costs, "cold", "xr", 0.001)
    assert costs.estimate(pytest.fail, pytest.fail) == 0.0


def test_cost_estimates_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is refused for its cost would never show that it became cheaper."""
    costs = CostEstimates()
    observe(costs, "heavy", "xr", 1.5)
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 59)
    assert estimate(costs, "heavy", "xr") == 1.5
    monkeypatch.setattr("time.monotonic", lambda: now + 61)
    assert estimate(costs, "heavy", "xr") == 0.0


def test_penalties_are_cleared_and_bounded() -> None:
    """A penalty ends with a completed run; only the latest thousand keys are kept."""
    penalties = PenaltyBox()
    penalties.add(lambda: None)
    for number in range(1_200):
        penalties.add(lambda number=number: number)
    penalties.clear(lambda: 1_000)
    penalized = [
        number for number in range(1_200) if penalties.contains(lambda number=number: number)
    ]
    assert penalized == [*range(200, 1_000), *range(1_001, 1_200)]
    assert not penalties.contains(lambda: None)


def test_penalties_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key whose runs get no CPU can never complete one."""
    penalties = PenaltyBox()
    penalties.add(lambda: "key")
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 59)
    assert penalties.contains(lambda: "key")
    monkeypatch.setattr("time.monotonic", lambda: now + 61)
    assert not penalties.contains(lambda: "key")


def test_keys_are_not_computed_without_penalties() -> None:
    """Computing a key takes more time than most requests can spare."""
    penalties = PenaltyBox()
    penalties.clear(pytest.fail)
    assert not penalties.contains(pytest.fail)

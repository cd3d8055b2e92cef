"""What the speed rests on, held by ratios of CPU time: absolute times belong to a machine.

Each figure is the least of several rounds, the two of a ratio taken in turns, so that a busy
machine disturbs them little. ``make bench`` measures the whole.
"""

import sys
import time
from functools import partial

import pytest
from support.paths import ROOT

from function_script import wire
from function_script.request.limits import Limits
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step import function
from function_script.step.telemetry import Answered

sys.path.append(str(ROOT / "benchmarks"))

from collections.abc import Callable

import programs
from workloads import Workload, check, renewed, requests

# On a busy machine the rounds may take a while.
pytestmark = [pytest.mark.attack, pytest.mark.timeout(600)]
ROUNDS = 7
# What others do to one side in a few rounds, they do not do in all of these.
MOST_ROUNDS = 40
LANGUAGES = ["jinja", "starlark"]


def cost(language: str, workload: Workload) -> Callable[[], float]:
    """What gives the CPU seconds of one request of that workload, each time it is called."""
    variants = requests(workload, getattr(programs, language)(few=workload.few))[:4]
    number = 0

    def measured() -> float:
        nonlocal number
        number += 1
        data = variants[number % len(variants)]
        data = renewed(data, number) if workload.new else data
        began = time.process_time()
        answer = function.handle(data, Limits(), lambda _: None)
        seconds = time.process_time() - began
        check(workload, answer.response)
        return seconds

    for _ in variants:
        measured()
    return measured


def is_within(most: float, first: Callable[[], float], second: Callable[[], float]) -> bool:
    """Tell whether the least of the first is at most so many times the least of the second."""
    firsts, seconds = [], []
    for number in range(MOST_ROUNDS):
        firsts.append(first())
        seconds.append(second())
        if number >= ROUNDS and min(firsts) <= most * min(seconds):
            return True
    return False


few = partial(Workload, few=True, new=False)
every = partial(Workload, few=False, new=False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cost_grows_with_what_is_touched_and_not_with_the_state(language: str) -> None:
    """Three of 500 observed resources cost little more than three of three."""
    many = cost(language, few(observed=500, produced=3))
    three = cost(language, few(observed=3, produced=3))
    # The plain codec takes more for the index, which has every resource.
    assert is_within(5 if wire.is_compiled() else 12, many, three)


@pytest.mark.parametrize("language", LANGUAGES)
def test_untouched_resources_are_not_decoded(language: str) -> None:
    """Touching 3 of 500 costs a fraction of touching all: on some CPUs a quarter."""
    three = cost(language, few(observed=500, produced=3))
    all_of_them = cost(language, every(observed=500, produced=3))
    assert is_within(1 / 3, three, all_of_them)


@pytest.mark.parametrize("language", LANGUAGES)
def test_known_documents_cost_less_than_new_ones(language: str) -> None:
    """What was composed before is neither parsed nor checked nor encoded again."""
    cpu = cost(language, Workload(observed=0, produced=100, new=False))
    new = cost(language, Workload(observed=0, produced=100, new=True))
    assert is_within(2 / 3, cpu, new)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cost_is_linear_in_what_is_produced(language: str) -> None:
    """Eight times the resources cost about eight times as much, and not sixty-four times."""
    many = cost(language, Workload(observed=0, produced=400, new=False))
    some = cost(language, Workload(observed=0, produced=50, new=False))
    assert is_within(12, many, some)


def test_way_to_a_worker_costs_little_for_large_requests() -> None:
    """2 MB on the way cost a few times what 14 KB do: they are copied in memory, once each way."""
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1)) as pool:

        def relayed(size: int) -> float:
            data = b"echo " + bytes(size)
            began = time.process_time()
            for _ in range(50):
                assert isinstance(pool.run(data, 10.0), Answered)
            return time.process_time() - began

        assert is_within(20, partial(relayed, 1_900_000), partial(relayed, 14_000))

"""The sizing tables of the production guide follow from the benchmark's figures and the model."""

import re
import sys

import pytest
from support import generated
from support.paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import scale_model
from scale_model import Cost, State

PAGE = ROOT / "docs" / "how-to" / "run-in-production.md"
BLOCK = re.compile(r"(<!-- (sizing|knee): .* -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
TABLES = {"sizing": scale_model.table, "knee": scale_model.knee_table}
SMALL = Cost(observed=3, produced=3, milliseconds=1.0)


def test_sizing_tables_are_computed(*, update_goldens: bool) -> None:
    """From the results of the benchmark, and from the model of Crossplane's reconcile."""
    page = PAGE.read_text()
    assert [match[2] for match in BLOCK.finditer(page)] == [*TABLES]
    fresh = BLOCK.sub(lambda match: f"{match[1]}\n{TABLES[match[2]]()}\n\n{match[4]}", page)
    generated.check(PAGE, fresh, update=update_goldens)


@pytest.mark.parametrize(
    ("rate", "milliseconds", "replicas"),
    [
        pytest.param(10.0, 1.0, 2, id="at-least-two"),
        pytest.param(1_000.0, 5.0, 10, id="half-of-the-cpu-stays-free"),
        pytest.param(1_001.0, 5.0, 11, id="rounded-up"),
    ],
)
def test_sizing_replicas_of_a_rate(rate: float, milliseconds: float, replicas: int) -> None:
    cost = Cost(observed=3, produced=3, milliseconds=milliseconds)
    assert cost.cpus(rate) == pytest.approx(rate * milliseconds / 1000)
    assert cost.replicas(rate) == replicas


def test_sizing_calls_of_many_xrs_are_those_of_one_times_their_number() -> None:
    state = State(name="a call a minute", calls_per_hour=60.0)
    assert state.calls_per_second(600) == pytest.approx(10.0)
    assert SMALL.knee == pytest.approx(1_000.0)


def test_sizing_states_are_those_of_the_model() -> None:
    """The page on reconciles has the same figures, from the same model."""
    settled, changed, minute, waiting = (each.calls_per_hour for each in scale_model.states())
    assert settled <= 2
    assert 6 <= changed <= 14
    assert 54 <= minute <= 67
    assert 350 <= waiting <= 370
    assert 2 <= scale_model.calls_to_settle() <= 4

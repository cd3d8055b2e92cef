"""The sizing table of the production guide follows from the benchmark's figures."""

import math
import re

import pytest
from support import generated
from support.paths import ROOT

FIGURES = ROOT / "benchmarks" / "RESULTS.md"
PAGE = ROOT / "docs" / "how-to" / "run-in-production.md"
BLOCK = re.compile(r"(<!-- sizing: .* -->\n)(.*?)(<!-- end of sizing -->)", re.DOTALL)
POLL_SECONDS = 60
# Half of every CPU stays free.
SHARE = 0.5
MIN_REPLICAS = 2
XRS = (100, 1_000, 5_000, 20_000)
# Observed and produced resources of one XR, as the benchmark has them.
SHAPES = ((3, 3), (50, 50), (500, 50))


def milliseconds(observed: int, produced: int) -> float:
    """CPU time of one call: everything is read, and documents are as they were the last time."""
    row = rf"^\| {observed} \| {produced} \| all \| known \| ([\d.]+) \|"
    (found,) = re.findall(row, FIGURES.read_text(), re.MULTILINE)
    return float(found)


def cell(xrs: int, cost: float) -> str:
    """Busy CPUs, and the replicas that they need."""
    cpus = xrs / POLL_SECONDS * cost / 1000
    return f"{cpus:.2f} CPU, {max(MIN_REPLICAS, math.ceil(cpus / SHARE))} replicas"


def table() -> str:
    """The table as it has to be."""
    costs = [milliseconds(*shape) for shape in SHAPES]
    heads = [
        f"{observed} observed, {produced} produced ({cost:g} ms)"
        for (observed, produced), cost in zip(SHAPES, costs, strict=True)
    ]
    lines = [f"| XRs | {' | '.join(heads)} |", "|---:|" + "---|" * len(SHAPES)]
    lines += [f"| {xrs:,} | {' | '.join(cell(xrs, cost) for cost in costs)} |" for xrs in XRS]
    return "\n" + "\n".join(lines) + "\n\n"


def test_sizing_table_is_computed(*, update_goldens: bool) -> None:
    """From the results of the benchmark."""
    page = PAGE.read_text()
    fresh = BLOCK.sub(lambda match: match[1] + table() + match[3], page)
    generated.check(PAGE, fresh, update=update_goldens)


@pytest.mark.parametrize(
    ("xrs", "cost", "text"),
    [
        pytest.param(600, 1.0, "0.01 CPU, 2 replicas", id="at least two"),
        pytest.param(60_000, 5.0, "5.00 CPU, 10 replicas", id="half of the CPU stays free"),
    ],
)
def test_arithmetic(xrs: int, cost: float, text: str) -> None:
    """XRs divided by the poll interval, times the cost of a call."""
    assert cell(xrs, cost) == text

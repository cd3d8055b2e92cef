"""The load of many XRs on paper: calls from the model of Crossplane, CPU time from the benchmark.

How often a step is called follows from TTLs and changes, and tests/support/core_model.py simulates
both. What a call costs is in RESULTS.md. Both together say how many replicas are needed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from support import builders
from support.core_model import Core, make_ready

from function_script.request.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.request.values import Object

FIGURES: Final = Path(__file__).with_name("RESULTS.md")
XRS: Final = 10_000
# Observed and produced resources of one XR, as the benchmark has them.
SHAPES: Final = ((3, 3), (50, 50), (500, 50))
# Half of every CPU stays free for peaks.
SHARE: Final = 0.5
MIN_REPLICAS: Final = 2
_HOUR: Final = 3600.0
_MAX_HOURS: Final = 10
_ENOUGH_CALLS: Final = 600
_STEP: Final = builders.jinja(
    "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
    "    script.fn.crossplane.io/composition-resource-name: a\n"
    "spec: {count: {{ xr.spec.count }}}\n",
    autoReady={},
)
_MINUTE: Final = Limits(default_ttl_seconds=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The occupation of XRs, and how often each of them has one step called."""

    name: str
    calls_per_hour: float

    def calls_per_second(self, xrs: int) -> float:
        """The calls that so many XRs cause."""
        return xrs * self.calls_per_hour / _HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU time of one call of a JinjaTemplate that reads and writes every resource."""

    observed: int
    produced: int
    milliseconds: float

    @property
    def knee(self) -> float:
        """The calls a second that one CPU does when it does nothing else."""
        return 1000 / self.milliseconds

    def cpus(self, calls_per_second: float) -> float:
        """The CPUs that so many calls keep busy."""
        return calls_per_second * self.milliseconds / 1000

    def replicas(self, calls_per_second: float) -> int:
        """The replicas of one CPU each that so many calls need."""
        return max(MIN_REPLICAS, math.ceil(self.cpus(calls_per_second) / SHARE - 1e-9))


def costs() -> list[Cost]:
    """Read the costs of calls whose documents no cache holds.

    Each worker sees all XRs, and its caches have room for some 2,000 documents.
    """
    text = FIGURES.read_text()
    rows = []
    for observed, produced in SHAPES:
        row = rf"^\| {observed} \| {produced} \| all \| new \| ([\d.]+) \|"
        (figure,) = re.findall(row, text, re.MULTILINE)
        rows.append(Cost(observed=observed, produced=produced, milliseconds=float(figure)))
    return rows


@cache
def states() -> list[State]:
    """Simulate an hour of one XR in each state."""
    return [
        State(name="settled", calls_per_hour=_calls(Limits())),
        State(name="changed six times an hour", calls_per_hour=_calls(Limits(), edits=6)),
        State(name="settled, TTL of one minute", calls_per_hour=_calls(_MINUTE)),
        State(name="waiting for a resource", calls_per_hour=_calls(Limits(), is_ready=False)),
    ]


@cache
def calls_to_settle() -> int:
    """The calls from an XR's creation until all is ready and nothing changes."""
    core = Core(pipeline=[_STEP])
    core.run(1.0)
    make_ready(core)
    core.run(1.0)
    return core.calls


def _calls(limits: Limits, edits: int = 0, *, is_ready: bool = True) -> float:
    core = Core(pipeline=[_STEP], limits=limits)
    core.run(1.0)
    if is_ready:
        make_ready(core)
        core.run(1.0)
    core.calls = core.reconciles = 0
    hours = 0
    # After so many calls, further hours do not change the tables.
    while hours < _MAX_HOURS and core.calls < _ENOUGH_CALLS:
        hours += 1
        core.reconciles = 0
        # One change every so many seconds, the first not at once.
        core.run(_HOUR, [((each + 0.5) * _HOUR / edits, _edit) for each in range(edits)])
    return core.calls / hours


def _edit(core: Core) -> None:
    spec: Object = core.xr["spec"]  # type: ignore[assignment] # the builders' XR has one
    spec["count"] = spec["count"] + 1  # type: ignore[operator] # a number


def table() -> str:
    """The calls, CPUs and replicas, as a table of Markdown."""
    every = costs()
    lines = [
        f"| {XRS:,} XRs | calls/s | {_heads(every)} |",
        "|---|---:|" + "---|" * len(every),
    ]
    for state in states():
        rate = state.calls_per_second(XRS)
        cells = " | ".join(_cell(cost, rate) for cost in every)
        lines.append(f"| {state.name} | {rate:,.1f} | {cells} |")
    return "\n".join(lines)


def knee_table() -> str:
    """The XRs that a replica of one CPU bears, as a table of Markdown."""
    every = costs()
    lines = [f"| a replica of one CPU | {_heads(every)} |", "|---|" + "---:|" * len(every)]
    knees = " | ".join(f"{cost.knee:,.0f} calls/s" for cost in every)
    lines.append(f"| at its knee, with nothing left | {knees} |")
    for state in states():
        cells = (f"{_round(SHARE * cost.knee / state.calls_per_second(1)):,} XRs" for cost in every)
        lines.append(f"| at half of it, XRs {state.name} | {' | '.join(cells)} |")
    drains = (cost.cpus(calls_to_settle() * XRS) / MIN_REPLICAS for cost in every)
    cells = " | ".join(f"{seconds:,.0f} s" for seconds in drains)
    lines.append(f"| {MIN_REPLICAS} of them, {XRS:,} XRs created at once | {cells} |")
    return "\n".join(lines)


def _round(number: float) -> int:
    """Round down to two digits: the figures are no more exact."""
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return int(number // unit * unit)


def _heads(every: Iterable[Cost]) -> str:
    return " | ".join(
        f"{cost.observed} observed, {cost.produced} produced ({cost.milliseconds:g} ms)"
        for cost in every
    )


def _cell(cost: Cost, calls_per_second: float) -> str:
    cpus = cost.cpus(calls_per_second)
    return f"{cpus:,.2f} CPU, {cost.replicas(calls_per_second):,} replicas"

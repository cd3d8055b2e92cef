"""Parts of a plan, in processes of their own: together they are the whole."""

import json
import os

import pytest
from support.plans import OUTER, XRD, Plan, buckets, nested, xr

from function_script.sandbox.pool import Pool
from function_script.tools.plan import planning
from function_script.tools.plan.dump import Dump
from function_script.tools.plan.planning import Planner
from function_script.tools.plan.sides import load
from function_script.tools.project import Project
from function_script.tools.render import renderer
from function_script.tools.render.sides import Sides

MANIFESTS = [
    *nested(),
    *(manifest for name in "ab" for manifest in (xr(name), *buckets(name))),
]


def test_parts_are_the_whole_in_its_order(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """An XR and what it composes are in one part; of five parts some are empty."""
    plan.write("outer.yaml", OUTER, OUTER.replace("count: 2", "count: 1"))
    plan.change(("size: 1", "size: 2"))
    texts = set()
    for count in (1, 2, 5):
        monkeypatch.setattr(Planner, "count_processes", lambda *_, count=count: count)
        texts.add(plan(*MANIFESTS, flags=("-o", "json")))
    (whole,) = texts
    assert len(json.loads(whole)["xrs"]) == 4


NUMBERS = {"few": (99, 1), "more": (120, 2), "CPUs": (2_000, 3)}


@pytest.mark.parametrize(("xr_count", "count"), NUMBERS.values(), ids=NUMBERS)
def test_number_of_processes_follows_that_of_xrs(
    plan: Plan, pool: Pool, monkeypatch: pytest.MonkeyPatch, xr_count: int, count: int
) -> None:
    project = plan.directory
    monkeypatch.setattr(planning.capacity, "heavy_slots", lambda: 3)
    cluster = Dump(("", each) for each in [XRD, *(xr(str(number)) for number in range(xr_count))])
    allowed = Project.of([project], allowed=None)
    os.mkfifo(project / "pipe")
    sides = Sides(pool, allowed, renderer.Options(), [])
    planner = Planner(cluster, sides, load(project / "new", allowed, sides, cluster))
    assert planner.count_processes([project]) == count
    # It can be read once.
    assert planner.count_processes([project, project / "pipe"]) == 1

"""Parts of a plan, in processes of their own: together they are the whole."""

import json
import os
from pathlib import Path

import pytest
from support.plans import OUTER, XRD, buckets, nested, plan, xr

from function_script.tools import local_pool
from function_script.tools.plan import planning
from function_script.tools.plan.dump import Dump
from function_script.tools.plan.planning import Planner
from function_script.tools.plan.sides import Renderings
from function_script.tools.project import Project
from function_script.tools.render import renderer

MANIFESTS = [
    *nested(),
    *(manifest for name in "abcde" for manifest in (xr(name), *buckets(name))),
]


@pytest.fixture(name="whole")
def fixture_whole(project: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The plan of a change of all XRs in one part."""
    (project / "old" / "outer.yaml").write_text(OUTER)
    (project / "new" / "outer.yaml").write_text(OUTER.replace("count: 2", "count: 1"))
    text = (project / "new" / "composition.yaml").read_text()
    (project / "new" / "composition.yaml").write_text(text.replace("size: 1", "size: 2"))
    return plan(capsys, *MANIFESTS, flags=("-o", "json"))


@pytest.mark.parametrize("count", [2, 3, 9])
def test_parts_are_the_whole_in_its_order(
    whole: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """An XR and what it composes are in one part; of nine parts some are empty."""
    monkeypatch.setattr(Planner, "count_processes", lambda *_: count)
    assert plan(capsys, *MANIFESTS, flags=("-o", "json")) == whole
    assert len(json.loads(whole)["xrs"]) == 7


@pytest.mark.parametrize(
    ("xr_count", "count"),
    [
        pytest.param(99, 1, id="few"),
        pytest.param(120, 2, id="more"),
        pytest.param(2_000, 3, id="CPUs"),
    ],
)
def test_number_of_processes_follows_that_of_xrs(
    project: Path, monkeypatch: pytest.MonkeyPatch, xr_count: int, count: int
) -> None:
    monkeypatch.setattr(planning.capacity, "heavy_slots", lambda: 3)
    cluster = Dump([XRD, *(xr(str(number)) for number in range(xr_count))])
    files = Project.of([project], allowed=None)
    os.mkfifo(project / "pipe")
    with local_pool.open_pool(None) as pool:
        renderings = Renderings(cluster, files, renderer.Options(), pool)
        planner = Planner(cluster, renderings, project / "new", None)
        assert planner.count_processes([project]) == count
        # It can be read once.
        assert planner.count_processes([project, project / "pipe"]) == 1

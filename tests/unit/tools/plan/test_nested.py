"""Plans of XRs that compose XRs: what the outer one writes, and what it reads of the inner one."""

import json
from pathlib import Path
from typing import cast

import pytest
import yaml
from support.plans import COMPOSITION, OUTER, XRD, nested, plan

from function_script.request.values import Object

OTHERS = COMPOSITION.replace("name: buckets", "name: others").replace("bucket-", "other-")
REFERENCE = "          crossplane: {compositionRef: {name: others}}\n"
METADATA = "observed.composite.resource.metadata"
STATUS = """\
        ---
        apiVersion: example.org/v1
        kind: XBucket
        status: {level: 1}
"""
LEVEL = "{{ observed.resources.inner.resource.status.level }}"


def write(project: Path, name: str, before: str, after: str) -> None:
    """Write a file of both sides."""
    (project / "old" / name).write_text(before)
    (project / "new" / name).write_text(after)


def with_status() -> Object:
    """The XRD of inner XRs with a field of the status."""
    status = '"status": {"type": "object", "properties": {"level": {"type": "integer"}}}, "spec":'
    return cast(
        "Object", json.loads(json.dumps(XRD).replace('"spec": {"type":', f'{status} {{"type":'))
    )


@pytest.mark.parametrize("place", ["dump", "new"])
def test_inner_xr_may_get_another_composition(
    project: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """All that the former one composed goes."""
    write(project, "outer.yaml", OUTER, OUTER + REFERENCE)
    if place == "new":
        (project / "new" / "others.yaml").write_text(OTHERS)
    others = [yaml.safe_load(OTHERS)] if place == "dump" else []
    text = plan(capsys, *nested(), *others, flags=("--names",))
    assert "Plan: 2 to add, 1 to change, 2 to destroy." in text
    assert 'destroy: 2 objects of 1 XR: Bucket "demo-0"' in text


def test_inner_xr_without_its_next_composition_is_unknown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "outer.yaml", OUTER, OUTER + REFERENCE)
    text = plan(capsys, *nested())
    assert 'unknown: the dump lacks Composition "others"\n  = XBucket/demo\n' in text


@pytest.mark.parametrize(
    ("policy", "paths"),
    [
        pytest.param({"compositionUpdatePolicy": "Manual"}, ["spec.region"], id="held"),
        pytest.param({}, ["spec.region", "spec.size"], id="follows"),
    ],
)
def test_inner_xr_that_keeps_its_revision_has_what_the_outer_one_writes(
    project: Path, capsys: pytest.CaptureFixture[str], policy: Object, paths: list[str]
) -> None:
    write(project, "outer.yaml", OUTER, OUTER.replace("region: eu", "region: us"))
    changed = COMPOSITION.replace("size: 1", "size: 2")
    (project / "new" / "composition.yaml").write_text(changed)
    manifests = nested()
    spec = cast("Object", manifests[2]["spec"])
    cast("Object", spec["crossplane"]).update(policy)
    report = json.loads(plan(capsys, *manifests, flags=("-o", "json")))
    inner = next(each for each in report["xrs"] if each["xr"] == "XBucket/demo")
    assert sorted({".".join(each["path"]) for each in inner["changes"]}) == paths


def test_inner_xr_reads_metadata_that_the_outer_one_writes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = f"region: {{{{ {METADATA}.annotations.team | default('eu') }}}}"
    inner = COMPOSITION.replace("region: {{ spec.region }}", region)
    write(project, "composition.yaml", inner, inner)
    team = OUTER.replace("annotations:\n", "annotations:\n            team: us\n")
    write(project, "outer.yaml", OUTER, team)
    text = plan(capsys, *nested())
    assert '2 objects of 1 XR: spec.region: "eu" becomes "us"' in text


@pytest.mark.parametrize(
    ("value", "is_unknown"),
    [pytest.param(LEVEL, True, id="read"), pytest.param("1", False, id="unread")],
)
def test_outer_xr_that_reads_a_changed_status_is_unknown(
    project: Path, capsys: pytest.CaptureFixture[str], value: str, *, is_unknown: bool
) -> None:
    """The inner XR gets the status after the outer one has been reconciled."""
    outer = OUTER.replace("count: 2", f"count: {value}")
    write(project, "outer.yaml", outer, outer)
    status = STATUS.replace("level: 1", "level: 2")
    write(project, "composition.yaml", COMPOSITION + STATUS, COMPOSITION + status)
    definition, top, inner, *others = nested()
    inner["status"] = {"level": 1}
    manifests = [with_status(), definition, top, inner, *others]
    text = plan(capsys, *manifests)
    reason = 'a step of it may read the status of XBucket "demo", which changes'
    assert (f"unknown: {reason}\n  = XOuter/top\n" in text) == is_unknown
    assert "2 XRs looked at" in text

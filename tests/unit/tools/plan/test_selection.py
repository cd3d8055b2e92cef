"""Plans of XRs that get another Composition or revision than the one in their compositionRef."""

import json

import pytest
import yaml
from support.plans import COMPOSITION, OUTER, XRD, Plan, buckets, nested, xr

from function_script.request.values import Object

FEWER = COMPOSITION.replace("range(spec.count)", "range(1)")
SELECTION = "the XR above it changes which CompositionRevision it selects"


def revision(number: int, composition: str = COMPOSITION, **labels: str) -> Object:
    """A CompositionRevision of the Composition."""
    spec = yaml.safe_load(composition)["spec"]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "CompositionRevision",
        "metadata": {"name": f"buckets-{number}", "labels": labels},
        "spec": {**spec, "revision": number},
    }


def of_revision(number: int, channel: str = "") -> Object:
    """The fields of an XR that has a revision."""
    fields: Object = {"compositionRevisionRef": {"name": f"buckets-{number}"}}
    selector: Object = {"compositionRevisionSelector": {"matchLabels": {"channel": channel}}}
    return fields | (selector if channel else {})


def test_composition_that_the_xrd_enforces_is_that_after_the_change(plan: Plan) -> None:
    """All that the former one composed goes."""
    others = COMPOSITION.replace("name: buckets", "name: others").replace("bucket-", "other-")
    xrd = json.loads(json.dumps(XRD))
    xrd["spec"]["enforcedCompositionRef"] = {"name": "others"}
    (plan.directory / "new/xrd.yaml").write_text(json.dumps(xrd))
    assert "2 to add, 0 to change, 2 to destroy" in plan(xr(), *buckets(), yaml.safe_load(others))
    assert 'unknown: the dump lacks Composition "others"' in plan(xr(), *buckets())


def test_xr_whose_xrd_is_removed_is_unknown(plan: Plan) -> None:
    """It goes with all that it composes, also if it is paused."""
    (plan.directory / "old/xrd.yaml").write_text(json.dumps(XRD))
    live = xr()
    live["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
    assert plan(live, *buckets()).startswith("unknown: there is no XRD of it after the change\n")


OTHER_CHANNEL = (
    "compositionRevisionSelector: {matchLabels: {channel: a}}",
    "compositionRevisionSelector: {matchLabels: {channel: b}}",
    of_revision(1, "a"),
)
FOLLOWS = (
    "compositionUpdatePolicy: Manual",
    "compositionUpdatePolicy: Automatic",
    {"compositionUpdatePolicy": "Manual", **of_revision(1)},
)
OTHER_REVISION = (
    "compositionRevisionRef: {name: buckets-1}",
    "compositionRevisionRef: {name: buckets-2}",
    of_revision(1),
)
PINNED = (
    "compositionUpdatePolicy: Manual, compositionRevisionRef: {name: buckets-1}",
    "compositionUpdatePolicy: Manual, compositionRevisionRef: {name: buckets-2}",
    {"compositionUpdatePolicy": "Manual", **of_revision(1)},
)
# What the outer XR writes into the inner one before and after the change, and the live fields.
SELECTIONS = {
    "selector": (OTHER_CHANNEL, f"unknown: {SELECTION}"),
    "policy": (FOLLOWS, f"unknown: {SELECTION}"),
    "revision": (OTHER_REVISION, f"unknown: {SELECTION}"),
    "held revision": (PINNED, "1 to change, 1 to destroy"),
}


@pytest.mark.parametrize(("selection", "text"), SELECTIONS.values(), ids=SELECTIONS)
def test_outer_xr_may_change_which_revision_an_inner_one_has(
    plan: Plan, selection: tuple[str, str, Object], text: str
) -> None:
    before, after, fields = selection
    head = f"{OUTER}          crossplane: "
    plan.write("outer.yaml", f"{head}{{{before}}}\n", f"{head}{{{after}}}\n")
    for side in ("old", "new"):
        (plan.directory / side / "composition.yaml").unlink()
    live = nested()
    live[2]["spec"]["crossplane"] |= fields
    revisions = [revision(1, channel="a"), revision(2, FEWER, channel="b")]
    assert text in plan(*live, *revisions, yaml.safe_load(FEWER))


def test_inner_xr_that_follows_from_now_on_gets_the_new_composition(plan: Plan) -> None:
    """Its revision is the one before the change, whatever the Composition before is."""
    head = f"{OUTER}          crossplane: "
    plan.write("outer.yaml", f"{head}{{{FOLLOWS[0]}}}\n", f"{head}{{{FOLLOWS[1]}}}\n")
    plan.write("composition.yaml", FEWER)
    live = nested()
    live[2]["spec"]["crossplane"] |= FOLLOWS[2]
    assert "0 to add, 1 to change, 1 to destroy" in plan(*live, revision(1))


@pytest.mark.parametrize("is_there", [True, False])
def test_xr_that_does_not_follow_has_its_revision_before_the_change(
    plan: Plan, *, is_there: bool
) -> None:
    """It is outside of the Composition before, and the new one has the labels that it selects."""
    fewer = FEWER.replace("name: buckets\n", "name: buckets\n  labels: {channel: dev}\n")
    plan.write("composition.yaml", fewer, fewer.replace("dev", "stable"))
    revisions = [revision(1, channel="stable")] if is_there else []
    text = plan(xr(**of_revision(1, "stable")), *buckets(), *revisions)
    lack = 'unknown: the dump lacks CompositionRevision "buckets-1"\n'
    assert ("0 to add, 0 to change, 1 to destroy" if is_there else lack) in text

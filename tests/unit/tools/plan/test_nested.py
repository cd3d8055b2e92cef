"""Plans of XRs that compose XRs: what the outer one writes, and what it reads of the inner one."""

import json

import pytest
import yaml
from support.plans import COMPOSITION, CROSSPLANE, OUTER, XRD, Plan, applied, buckets, nested, xr

from function_script.request.values import Object

OTHERS = COMPOSITION.replace("name: buckets", "name: others").replace("bucket-", "other-")
REFERENCE = "          crossplane: {compositionRef: {name: others}}\n"
BUCKET = {"apiVersion": "s3.example.org/v1", "kind": "Bucket"}
METADATA = "observed.composite.resource.metadata"
STATUS = """\
        ---
        apiVersion: example.org/v1
        kind: XBucket
        status: {level: 1}
"""
LEVEL = "{{ observed.resources.inner.resource.status.level }}"


def with_status() -> Object:
    """The XRD of inner XRs with two fields of the status, one of which has a default below it."""
    size = {"type": "object", "properties": {"size": {"type": "integer", "default": 7}}}
    properties = {"level": {"type": "integer"}, "more": size}
    status = json.dumps({"type": "object", "properties": properties})
    text = json.dumps(XRD).replace('"spec": {"type":', f'"status": {status}, "spec": {{"type":')
    definition: Object = json.loads(text)
    return definition


def test_default_that_the_status_gets_is_a_change(plan: Plan) -> None:
    level = '"level": {"type": "integer"'
    text = json.dumps(with_status()).replace(level, f'{level}, "default": 3')
    (plan.directory / "new" / "xrd.yaml").write_text(text)
    live = [xr(), *buckets(), with_status()]
    assert "status.level: absent becomes 3\n" in plan(*live)
    live[0]["status"] = {"conditions": []}
    assert "status.level: absent becomes 3\n" in plan(*live)
    live[0]["status"] = {"level": 2}
    assert "Plan: 0 to add, 0 to change, 0 to destroy.\n" in plan(*live)


@pytest.mark.parametrize("place", ["dump", "new"])
def test_inner_xr_may_get_another_composition(plan: Plan, place: str) -> None:
    """All that the former one composed goes."""
    plan.write("outer.yaml", OUTER, OUTER + REFERENCE)
    if place == "new":
        (plan.directory / "new" / "others.yaml").write_text(OTHERS)
    others = [yaml.safe_load(OTHERS)] if place == "dump" else []
    text = plan(*nested(), *others, flags=("--names",))
    assert "Plan: 2 to add, 1 to change, 2 to destroy." in text
    assert 'destroy: 2 objects of 1 XR: Bucket "demo-0"' in text
    file = "new/others.yaml:17" if place == "new" else 'Composition "others" of the dump, inline:3'
    assert f"  --> {file}" in text


def test_inner_xr_keeps_a_value_that_its_xrd_refuses(plan: Plan) -> None:
    """Kubernetes refuses those alone that are written, and then the outer XR changes nothing."""
    xrd = json.loads(json.dumps(XRD).replace('"region": {', '"region": {"enum": ["x"], '))
    plan.write("outer.yaml", OUTER, OUTER.replace("count: 2", "count: 1"))
    outer, inner = plan.find_rows(*nested(), xrd)
    assert (outer["verdict"], inner["verdict"]) == ("planned", "planned")
    plan.write("outer.yaml", OUTER, OUTER.replace("region: eu", "region: us"))
    outer, inner = plan.find_rows(*nested(), xrd)
    assert (outer["verdict"], inner["verdict"]) == ("invalid", "unchanged")


def test_inner_xr_that_is_paused_from_now_on_stays(plan: Plan) -> None:
    """Crossplane does nothing for it then, and destroys nothing."""
    name = "            script.fn.crossplane.io/composition-resource-name: inner\n"
    paused = f'{name}            crossplane.io/paused: "true"\n'
    plan.write("outer.yaml", OUTER, OUTER.replace(name, paused))
    outer, inner = plan.find_rows(*nested())
    assert (outer["verdict"], inner["verdict"]) == ("planned", "stays")
    assert inner["reason"] == "it is paused"


def test_inner_xr_that_is_paused_no_longer_is_unknown(plan: Plan) -> None:
    """All that has changed in the pause follows."""
    name = "            script.fn.crossplane.io/composition-resource-name: inner\n"
    paused = OUTER.replace(name, f'{name}            crossplane.io/paused: "true"\n')
    plan.write("outer.yaml", paused, OUTER.replace("count: 2", "count: 0"))
    plan.write("composition.yaml", COMPOSITION)
    live = nested()
    annotations = {"f:crossplane.io/paused": {}}
    fields: Object = {
        "f:metadata": {"f:annotations": annotations},
        "f:spec": {"f:count": {}, "f:region": {}},
    }
    entry = applied(CROSSPLANE, fields, "example.org/v1")
    live[2]["metadata"]["annotations"]["crossplane.io/paused"] = "true"
    live[2]["metadata"]["managedFields"] = [entry]
    text = plan(*live)
    assert "unknown: it is paused, and the XR above it ends that\n  = XBucket/demo\n" in text


def test_inner_xr_without_its_next_composition_is_unknown(plan: Plan) -> None:
    plan.write("outer.yaml", OUTER, OUTER + REFERENCE)
    assert 'unknown: the dump lacks Composition "others"\n  = XBucket/demo\n' in plan(*nested())


def test_inner_xr_of_an_unknown_one_is_unknown(plan: Plan) -> None:
    """The outer one may write another spec, or destroy it."""
    plan.write("outer.yaml", OUTER, OUTER.replace("region: eu", "region: us"))
    manifests = nested()
    manifests[1]["spec"]["crossplane"]["resourceRefs"].append({**BUCKET, "name": "lost"})
    rows = plan.find_rows(*manifests)
    assert [each["verdict"] for each in rows] == ["unknown", "unknown"]
    assert rows[1]["reason"] == "the XR above it is unknown, and may change it"


POLICIES = {
    "held": ({"compositionUpdatePolicy": "Manual"}, ["spec.region"]),
    "follows": ({}, ["spec.region", "spec.size"]),
}


@pytest.mark.parametrize(("policy", "paths"), POLICIES.values(), ids=POLICIES)
def test_inner_xr_that_keeps_its_revision_has_what_the_outer_one_writes(
    plan: Plan, policy: Object, paths: list[str]
) -> None:
    plan.write("outer.yaml", OUTER, OUTER.replace("region: eu", "region: us"))
    plan.change(("size: 1", "size: 2"))
    manifests = nested()
    manifests[2]["spec"]["crossplane"].update(policy)
    rows = plan.find_rows(*manifests)
    inner = next(each for each in rows if each["xr"] == "XBucket/demo")
    assert sorted({".".join(each["path"]) for each in inner["changes"]}) == paths


def test_inner_xr_reads_metadata_that_the_outer_one_writes(plan: Plan) -> None:
    region = f"region: {{{{ {METADATA}.annotations.team | default('eu') }}}}"
    plan.write("composition.yaml", COMPOSITION.replace("region: {{ spec.region }}", region))
    team = OUTER.replace("annotations:\n", "annotations:\n            team: us\n")
    plan.write("outer.yaml", OUTER, team)
    assert '2 objects of 1 XR: spec.region: "eu" becomes "us"' in plan(*nested())


@pytest.mark.parametrize(
    ("value", "is_unknown"), [(LEVEL, True), ("1", False)], ids=["read", "unread"]
)
def test_outer_xr_that_reads_a_changed_status_is_unknown(
    plan: Plan, value: str, *, is_unknown: bool
) -> None:
    """The inner XR gets the status after the outer one has been reconciled."""
    plan.write("outer.yaml", OUTER.replace("count: 2", f"count: {value}"))
    plan.change(("level: 1", "level: 2"), before=COMPOSITION + STATUS)
    definition, top, inner, *others = nested()
    inner["status"] = {"level": 1}
    text = plan(with_status(), definition, top, inner, *others)
    reason = 'a step of it may read the status of XBucket "demo", which changes'
    assert (f"unknown: {reason}\n  = XOuter/top\n" in text) == is_unknown
    assert text.endswith(f"2 XRs looked at{', 2 unknown' * is_unknown}.\n")


def test_other_inner_xr_of_one_that_reads_a_changed_status_is_unknown(plan: Plan) -> None:
    """The outer one may write the status into it."""
    inner = OUTER.partition("inline: |\n")[2]
    second = inner.replace("-name: inner", "-name: second").replace("count: 2", f"count: {LEVEL}")
    plan.write("outer.yaml", f"{OUTER}        ---\n{second}")
    plan.write("others.yaml", OTHERS + STATUS, OTHERS + STATUS.replace("level: 1", "level: 2"))
    definition, top, *live = nested()
    live[0]["status"] = {"level": 1}
    live[0]["spec"]["crossplane"]["compositionRef"]["name"] = "others"
    other = json.loads(json.dumps(live[0]).replace("demo", "more").replace('"inner"', '"second"'))
    other["spec"] = xr("more", 1)["spec"]
    references = top["spec"]["crossplane"]["resourceRefs"]
    references.append({**references[0], "name": "more"})
    rows = plan.find_rows(with_status(), definition, top, *live, other, *buckets("more", 1))
    verdicts = [(each["xr"], each["verdict"]) for each in rows]
    assert verdicts == [(xr_, "unknown") for xr_ in ("XOuter/top", "XBucket/demo", "XBucket/more")]


def test_status_of_an_xr_has_the_defaults_of_its_xrd(plan: Plan) -> None:
    plan.change(("level: 1", "more: {}"), before=COMPOSITION + STATUS)
    _, _, *live = nested()
    (row,) = plan.find_rows(with_status(), *live)
    assert [(each["path"], each["after"]) for each in row["changes"]] == [
        (["status", "level"], None),
        (["status", "more"], {"size": 7}),
    ]


DETAILS = """\
        ---
        apiVersion: meta.script.fn.crossplane.io/v1beta1
        kind: ConnectionDetails
        data: {a: YQ==, b: Yg==, c: Yw==}
"""


def test_connection_details_of_a_legacy_xr_are_a_change(plan: Plan) -> None:
    """The XR above may read them. A key outside of the XRD is not published."""
    plan.write("outer.yaml", OUTER)
    plan.change(("a: YQ==, b: Yg==, c: Yw==", "a: eA==, c: eA=="), before=COMPOSITION + DETAILS)
    definition, top, inner, *others = nested()
    own: Object = json.loads(json.dumps(XRD))
    own["spec"] |= {"scope": "LegacyCluster", "connectionSecretKeys": ["a", "b"]}
    inner["spec"] |= inner["spec"].pop("crossplane")
    assert "0 to change" in plan(own, definition, top, inner, *others)
    inner["spec"]["writeConnectionSecretToRef"] = {"name": "a", "namespace": "default"}
    text = plan(own, definition, top, inner, *others, flags=("--names",))
    for change in ('a: "(a secret)" becomes "(a secret)"', 'b: "(a secret)" becomes ?'):
        assert f"change: 1 object of 1 XR: connectionDetails.{change}\n" in text
    assert "connectionDetails.c" not in text
    assert "= the connection Secret of XBucket/demo" in text
    reason = 'a step of it may read the connection Secret of XBucket "demo", which changes'
    assert f"unknown: {reason}\n  = XOuter/top\n" in text


CHAINS = {"own-owner": (1, 0, 1), "cycle": (2, 1, 2), "deep": (30, -1, 10)}


@pytest.mark.parametrize(("size", "first", "unknown"), CHAINS.values(), ids=CHAINS)
def test_xrs_without_an_outermost_one_at_hand_are_unknown(
    plan: Plan, size: int, first: int, unknown: int
) -> None:
    """Each is planned once: XR ``number`` belongs to the one before it, the first to ``first``."""
    plan.change(("size: 1", "size: 2"))
    chain = [xr(f"x{number}", count=0) for number in range(size)]
    for number, each in enumerate(chain):
        above = number - 1 if number else first
        uid = f"uid-x{above}"
        each["metadata"]["ownerReferences"] = [{"uid": uid, "controller": True}]
    text = plan(*chain, flags=("--names",))
    assert text.count("\n  = XBucket/x") == unknown
    assert f"{size} XR" in text
    assert f"{unknown} unknown" in text

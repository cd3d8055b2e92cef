"""Plans of XRs that depend on what the change makes of other XRs."""

import json

import pytest
import yaml
from support.plans import COMPOSITION, XRD, Plan, buckets, crd, xr

from function_script.cli import exit_codes
from function_script.request.values import Object

SHARED = """\
        {% endfor %}
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          name: NAME
          annotations: {script.fn.crossplane.io/composition-resource-name: shared}
"""


def share(name: str) -> tuple[str, str]:
    """Return an edit that adds an object with a name."""
    return "        {% endfor %}\n", SHARED.replace("NAME", name)


def test_object_that_two_xrs_add_is_unknown(plan: Plan) -> None:
    live = [xr(), *buckets(), xr("other", 1), *buckets("other", 1)]
    plan.change(share("a"))
    text = plan(*live)
    reason = 'unknown: another XR adds Bucket "a", too'
    assert f"{reason}\n  = XBucket/demo\n  = XBucket/other\n" in text
    assert "2 XRs looked at, 2 unknown.\n" in text
    plan.change(share("{{ observed.composite.resource.metadata.name }}"))
    assert "Plan: 2 to add, 0 to change, 0 to destroy.\n2 XRs looked at.\n" in plan(*live)


BUCKET = "apiVersion: s3.example.org/v1, kind: Bucket"
# What a step of another XR requires, and whether that is unknown.
SELECTORS = {
    "by name": (f"{BUCKET}, name: demo-0", True),
    "another name": (f"{BUCKET}, name: other-0", False),
    "by labels": (f"{BUCKET}, matchLabels: {{team: a}}", True),
    "other labels": (f"{BUCKET}, matchLabels: {{team: b}}", False),
    "all": (BUCKET, True),
    "in a namespace": (f"{BUCKET}, namespace: other", False),
}


def require(selector: str) -> str:
    """Return another Composition, of which a step requires something."""
    item = f"      - {{requirementName: b, {selector}}}\n"
    required = f"    requirements:\n      requiredResources:\n{item}"
    other = COMPOSITION.replace("name: buckets", "name: others")
    return other.replace("    input:\n", f"{required}    input:\n")


def reader() -> list[Object]:
    """An XR of the other Composition, with its object."""
    return [xr("other", 1, compositionRef={"name": "others"}), *buckets("other", 1)]


@pytest.mark.parametrize(("selector", "is_unknown"), SELECTORS.values(), ids=SELECTORS)
def test_object_that_a_step_requires_and_another_xr_edits_is_unknown(
    plan: Plan, selector: str, *, is_unknown: bool
) -> None:
    """The XR is reconciled again when that has changed. Its own changes are in the plan, too."""
    other = require(selector)
    plan.write("others.yaml", other, other.replace("size: 1", "size: 3"))
    plan.change(("size: 1", "size: 2"))
    live = buckets(count=1)
    live[0]["metadata"]["labels"] = {"team": "a"}
    text = plan(xr(count=1), *live, *reader())
    reason = 'a step requires Bucket "demo-0", which the change of another XR edits'
    assert (f"unknown: {reason}\n  = XBucket/other\n" in text) == is_unknown
    assert "Plan: 0 to add, 2 to change, 0 to destroy.\n" in text


def test_xr_that_is_refused_is_so_whatever_another_one_edits(plan: Plan) -> None:
    other = require(f"{BUCKET}, name: demo-0")
    plan.write("others.yaml", other, other.replace("size: 1", "size: two"))
    plan.change(("size: 1", "size: 2"))
    flags, code = ("--fail-on", "invalid"), exit_codes.REPORTED
    text = plan(xr(), *buckets(), *reader(), crd(), flags=flags, code=code)
    assert "\nrefused: Bucket: spec.size: Invalid value" in text, text


def test_object_that_gets_other_labels_may_be_required(plan: Plan) -> None:
    """Before the change, the selector does not select it."""
    plan.change(("          annotations:", "          labels: {team: b}\n          annotations:"))
    composition = yaml.safe_load(require(f"{BUCKET}, matchLabels: {{team: b}}"))
    text = plan(xr(), *buckets(), *reader(), composition)
    assert 'unknown: a step requires Bucket "demo-0", which the change of another XR' in text


def test_object_of_an_unknown_xr_may_be_required(plan: Plan) -> None:
    """Its future is not known, whatever the change of its XR is."""
    plan.change(("size: 1", "size: 2"))
    # Nothing says whose field it is.
    live = buckets()
    live[1]["metadata"]["annotations"] = {}
    composition = yaml.safe_load(require(f"{BUCKET}, name: demo-0"))
    text = plan(xr(), *live, *reader(), composition)
    assert 'unknown: a step requires Bucket "demo-0", which an unknown XR may edit\n' in text
    assert text.endswith("2 XRs looked at, 2 unknown.\n")


def run_elsewhere(composition: str) -> str:
    """Return a Composition whose function nothing here runs."""
    other = composition.replace("function-script", "other")
    return other.replace("script.fn.crossplane.io/v1beta1", "other.example.org/v1")


READS = 'a step requires Bucket "demo-1", which the change of another XR edits'
CANNOT = "a step may require what the change edits, and it cannot be rendered"
# A step of a Composition that the change does not have, and the reason for its XR to be unknown.
READERS = {
    "all": (require(BUCKET), READS),
    "by name": (require(f"{BUCKET}, name: demo-1"), READS),
    "another name": (require(f"{BUCKET}, name: other-0"), None),
    "not there": (require(f"{BUCKET}, name: absent"), None),
    "another function": (run_elsewhere(require(BUCKET)), CANNOT),
    "of another kind": (
        run_elsewhere(
            require("apiVersion: v1, kind: ConfigMap").replace("kind: Bucket", "kind: Store")
        ),
        None,
    ),
    "nothing": (require(BUCKET).replace("requirements", "requests"), None),
}


@pytest.mark.parametrize(("composition", "reason"), READERS.values(), ids=READERS)
def test_xr_that_requires_what_the_change_of_other_compositions_edits_is_unknown(
    plan: Plan, composition: str, reason: str | None
) -> None:
    plan.change(("range(spec.count)", "range(spec.count - 1)"))
    text = plan(xr(), *buckets(), *reader(), yaml.safe_load(composition))
    assert "Plan: 0 to add, 0 to change, 1 to destroy.\n" in text
    assert text.endswith("2 XRs looked at, 1 unknown.\n" if reason else "1 XR looked at.\n")
    assert reason is None or f"unknown: {reason}" in text, text


def test_credentials_that_the_change_of_another_xr_edits_make_an_xr_unknown(plan: Plan) -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret"}
    places = [{"namespace": "default", "name": f"demo-{number}"} for number in range(2)]
    live = [
        {**each, **secret, "metadata": {**each["metadata"], **place}}
        for each, place in zip(buckets(), places, strict=True)
    ]
    before = COMPOSITION.replace("s3.example.org/v1", "v1").replace("kind: Bucket", "kind: Secret")
    plan.change(("range(spec.count)", "range(spec.count - 1)"), before=before)
    step = f"    credentials: [{{name: a, source: Secret, secretRef: {json.dumps(places[1])}}}]\n"
    composition = COMPOSITION.replace("name: buckets", "name: others")
    composition = composition.replace("    input:\n", f"{step}    input:\n")
    outer = xr(resourceRefs=[{**secret, **place} for place in places])
    text = plan(outer, *live, *reader(), yaml.safe_load(composition))
    assert 'unknown: a step requires Secret "demo-1", which the change of another XR' in text


def test_object_without_a_name_that_another_xr_adds_may_be_required(plan: Plan) -> None:
    plan.change(("range(spec.count)", "range(spec.count + 1)"))
    text = plan(xr(), *buckets(), *reader(), yaml.safe_load(require(BUCKET)))
    assert "unknown: a step requires Bucket ?, which the change of another XR edits\n" in text


USAGE = """\
        ---
        apiVersion: protection.crossplane.io/v1beta1
        kind: ClusterUsage
        metadata: {name: u, annotations: {script.fn.crossplane.io/composition-resource-name: u}}
        spec: {of: {apiVersion: s3.example.org/v1, kind: Bucket, resourceRef: {name: demo-1}}}
"""


def test_object_in_use_goes_with_its_usage_alone(plan: Plan) -> None:
    """Crossplane waits for no user of a Usage that a Composition no longer has."""
    live = buckets()
    live[1]["metadata"]["labels"] = {"crossplane.io/in-use": "true"}
    usage = yaml.safe_load(USAGE.partition("---")[2])
    key = "crossplane.io/composition-resource-name"
    usage["metadata"] |= {"annotations": {key: "u"}}
    references = [{**each, "name": each["metadata"]["name"]} for each in (*live, usage)]
    others = {**usage, "metadata": {"name": "of-somebody-else"}}
    for after, more, verdict in (
        (COMPOSITION, (), "planned"),
        (COMPOSITION, (others,), "invalid"),
        (COMPOSITION + USAGE, (), "invalid"),
    ):
        fewer = after.replace("range(spec.count)", "range(1)")
        plan.write("composition.yaml", COMPOSITION + USAGE, fewer)
        (row,) = plan.find_rows(xr(resourceRefs=references), *live, usage, *more)
        assert row["verdict"] == verdict, row
    assert row["reason"] == 'Bucket "demo-1" is in use: a Usage refuses its deletion'


def test_xr_with_an_object_that_crossplane_cannot_read_is_unknown(plan: Plan) -> None:
    """It got the reference when another kind took the place of one without a namespace."""
    plan.change(("size: 1", "size: 2"))
    reference = {"apiVersion": "v1", "kind": "Service", "name": "demo-0"}
    items = [XRD, xr(resourceRefs=[reference]), *buckets()]
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "unread": {}, "items": items})
    text = plan.of_dump(dump, "--before", "old").out
    assert text.startswith("unknown: Crossplane cannot read its Service, which has no namespace\n")

"""Plans of changed Compositions over dumps of a cluster."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest
import yaml
from e2e.remote_sources import needs_git
from support.commands import Run
from support.function_servers import serving
from support.paths import ROOT
from support.plans import (
    COMPOSITION,
    CROSSPLANE,
    OUTER,
    SIZE,
    XRD,
    Plan,
    buckets,
    crd,
    details,
    managed,
    nested,
    xr,
)

from function_script.cli import exit_codes
from function_script.documents import to_yaml_stream
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

LARGER = ("size: 1", "size: 2")
STORE = ("resource-name: bucket-", "resource-name: store-")
SAME = "Plan: 0 to add, 0 to change, 0 to destroy.\n1 XR looked at.\n"


def test_same_compositions_change_nothing(plan: Plan) -> None:
    flags = ("--fail-on", "change", "--fail-on", "unknown")
    assert plan(xr(), *buckets(), flags=flags) == SAME


def test_change_is_reported_once_for_all_xrs(plan: Plan) -> None:
    plan.change(LARGER)
    text = plan(xr(), *buckets(), xr("other", 1), *buckets("other", 1))
    assert (
        "change: 3 objects of 2 XRs: spec.size: 1 becomes 2\n  --> new/composition.yaml:24:" in text
    )
    assert text.count("spec.size") == 1
    assert 'Bucket "other-0" of XBucket/other' in text
    assert "Plan: 0 to add, 3 to change, 0 to destroy." in text


def test_resource_that_is_composed_no_longer_is_destroyed(plan: Plan) -> None:
    """Deletions come first, at the line that composed it."""
    plan.change(("range(spec.count)", "range(spec.count - 1)"), LARGER)
    text = plan(xr(), *buckets(), flags=("--fail-on", "destroy"), code=exit_codes.REPORTED)
    assert text.startswith(
        'destroy: 1 object of 1 XR: Bucket "demo-1"\n  --> old/composition.yaml:17:'
    )
    assert "Plan: 0 to add, 1 to change, 1 to destroy." in text


def test_destroyed_resource_of_the_dumps_composition_names_it(plan: Plan) -> None:
    """Its line is in no file of the author, also where a file of this name is there."""
    plan.change(("range(spec.count)", "range(spec.count - 1)"))
    dump = to_yaml_stream([XRD, yaml.safe_load(COMPOSITION), xr(), *buckets()])
    assert plan.of_dump(dump).out.startswith(
        'destroy: 1 object of 1 XR: Bucket "demo-1"\n'
        '  --> Composition "buckets" of the dump, inline:3:1'
    )


def name_it(name: str) -> tuple[str, str]:
    """Return an edit that gives the object a name."""
    return ("          annotations", f"          name: {name}\n          annotations")


MOVED = (
    "resource-name: store-{{ i }}\n            script.fn.crossplane.io/moved-from: bucket-{{ i }}"
)
NAMES = {
    # The API server generates the name.
    "another resource name": (
        [STORE],
        ["2 to add, 0 to change, 2 to destroy", "add: 2 objects of 1 XR: Bucket ?\n"],
    ),
    "and a name of the program": (
        [name_it("b-{{ i }}"), STORE],
        ["2 to add, 0 to change, 2 to destroy", 'add: 2 objects of 1 XR: Bucket "b-0"'],
    ),
    # The object under the other resource name is destroyed first.
    "and the name of the object": (
        [name_it("demo-{{ i }}"), STORE],
        ["2 to add, 0 to change, 2 to destroy"],
    ),
    "another kind": (
        [("kind: Bucket", "kind: Store")],
        ["2 to add, 0 to change, 0 to destroy", 'Store "demo-0", and Bucket "demo-0" stays behind'],
    ),
    # Crossplane can read none of the XR's objects from then on.
    "another kind, which has a namespace": (
        [("s3.example.org/v1", "v1"), ("kind: Bucket", "kind: Secret")],
        ["2 to add, 0 to change, 0 to destroy", 'refused: Secret: as Bucket "demo-0" has no'],
    ),
    "moved": (
        [LARGER, ("resource-name: bucket-{{ i }}", MOVED)],
        [
            "0 to add, 2 to change, 0 to destroy",
            '"bucket-0" becomes "store-0", the object stays',
            "spec.size: 1 becomes 2",
        ],
    ),
}


@pytest.mark.parametrize(("edits", "texts"), NAMES.values(), ids=NAMES)
def test_object_belongs_to_its_kind_and_resource_name(
    plan: Plan, edits: list[tuple[str, str]], texts: list[str]
) -> None:
    plan.change(*edits)
    printed = plan(xr(), *buckets())
    assert [text for text in texts if text not in printed] == []


CONTROLLERS = {"none": (None, 1), "the XR": ("uid-demo", 1), "another object": ("b", 0)}


@pytest.mark.parametrize(("uid", "count"), CONTROLLERS.values(), ids=CONTROLLERS)
def test_object_goes_unless_another_one_controls_it(
    plan: Plan, uid: str | None, count: int
) -> None:
    """Crossplane does not see that one, whatever the XR refers to."""
    live = buckets()
    owner = {**live[1]["metadata"]["ownerReferences"][0], "uid": uid}
    live[1]["metadata"]["ownerReferences"] = [owner] if uid else []
    plan.change(("range(spec.count)", "range(spec.count - 1)"))
    text = plan(xr(), *live)
    assert f"Plan: 0 to add, 0 to change, {count} to destroy.\n1 XR looked at.\n" in text


def test_program_that_fails_after_the_change_is_no_change(plan: Plan) -> None:
    plan.change(("spec.region", "spec.regoin"))
    text = plan(xr(), *buckets(), flags=("--fail-on", "invalid"), code=exit_codes.REPORTED)
    place = r"new/composition\.yaml:\d+:\d+"
    assert re.match(f"fails after the change: {place}: cannot render template: ", text)
    assert "  = XBucket/demo" in text


OWNERS = {
    "without a CRD": ([(CROSSPLANE, SIZE)], [], "spec.size: 1 becomes ?"),
    "alone": ([(CROSSPLANE, SIZE)], [crd()], "spec.size: 1 becomes absent"),
    "default": ([(CROSSPLANE, SIZE)], [crd(default=3)], "spec.size: 1 becomes 3"),
    "same default": ([(CROSSPLANE, SIZE)], [crd(default=1)], "0 to change"),
    "another too": ([(CROSSPLANE, SIZE), ("kubectl", SIZE)], [], "0 to change"),
    "unknown": ([("kubectl", SIZE)], [], "no managedFields that say whose it is"),
    "no managedFields": ([], [crd()], "no managedFields that say whose it is"),
}


@pytest.mark.parametrize(("owners", "definitions", "text"), OWNERS.values(), ids=OWNERS)
def test_field_that_is_desired_no_longer_goes_if_nobody_else_has_it(
    plan: Plan, owners: list[tuple[str, Object]], definitions: list[Object], text: str
) -> None:
    plan.change(("  size: 1", "  # no size"))
    assert text in plan(xr(count=1), managed(*owners), *definitions)


RULES = {
    "same": ("self == oldSelf", "size: 2", "refused: Bucket: spec.size:"),
    "holds": ("self >= oldSelf", "size: 2", "1 XR looked at."),
    "no rule": ("oldSelf == size", "size: 2", "a rule of Bucket was not evaluated"),
    "no change": ("self == oldSelf", "size: 1", "1 XR looked at."),
}


@pytest.mark.parametrize(("rule", "size", "text"), RULES.values(), ids=RULES)
def test_change_that_a_rule_refuses_is_invalid(plan: Plan, rule: str, size: str, text: str) -> None:
    plan.change(("size: 1", size), ("{{ spec.region }}", "us"))
    definition = crd(**{"x-kubernetes-validations": [{"rule": rule}]})
    printed = plan(xr(count=1), managed((CROSSPLANE, SIZE)), definition)
    assert text in printed
    if "not evaluated" not in text:
        assert "1 to change" in printed


def test_json_is_what_its_schema_says(plan: Plan) -> None:
    """The reports have each verb and an uncertain value; the schema refuses other fields."""
    schema = json.loads((ROOT / "docs/reference/plan.schema.json").read_text())
    reports = []
    for each in (("  size: 1", "  # no size"), STORE):
        plan.change(each)
        live = managed((CROSSPLANE, SIZE))
        reports.append(json.loads(plan(xr(count=1), live, flags=("-o", "json"))))
    for report in reports:
        jsonschema.validate(report, schema)
    rows = [row for report in reports for each in report["xrs"] for row in each["changes"]]
    verbs = {("change", False), ("add", True), ("destroy", True)}
    assert verbs <= {(row["verb"], row["certain"]) for row in rows}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**reports[0], "more": 1}, schema)


def test_value_that_an_object_has_already_is_no_change(plan: Plan) -> None:
    """It may be a default, which becomes a value of the program's."""
    plan.change(("size: 1", "size: 1\n          class: fast"))
    assert plan(xr(count=1), managed((CROSSPLANE, SIZE), **{"class": "fast"})) == SAME


def test_map_is_printed_by_its_keys(plan: Plan) -> None:
    """Protobuf has them in an order of its own in each process."""
    plan.change(("size: 1", "tags: {f: 1, c: 1, e: 1, a: 1, d: 1, b: 1}"))
    text = plan(xr(count=1), managed((CROSSPLANE, SIZE)))
    assert 'spec.tags: absent becomes {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}\n' in text


DRIFTS = {
    "other value": (SIZE, {"size": 5}, "spec.size"),
    "not applied": ({"f:region": {}}, {}, "spec.size"),
    "more applied": ({**SIZE, "f:class": {}}, {"class": "fast"}, "spec.class"),
}


@pytest.mark.parametrize(("fields", "spec", "path"), DRIFTS.values(), ids=DRIFTS)
def test_object_that_is_not_what_is_desired_before_is_drift(
    plan: Plan, fields: Object, spec: Object, path: str
) -> None:
    """The report counts and names it in each form."""
    for form in ("text", "markdown", "json"):
        text = plan(xr(count=1), managed((CROSSPLANE, fields), **spec), flags=("-o", form))
        assert "1 with drift" in text
        assert f"{path} of Bucket" in text
        assert "XBucket/demo" in text


def test_step_that_does_not_change_is_called_once(plan: Plan) -> None:
    """A function whose answers differ is no change of its own."""
    numbers = itertools.count()

    def answer(request: pb.RunFunctionRequest, _: object) -> pb.RunFunctionResponse:
        response = pb.RunFunctionResponse(desired=request.desired)
        response.desired.composite.resource.update({"status": {"call": next(numbers)}})
        return response

    step = "  - {step: first, functionRef: {name: other}}\n  - step: render\n"
    plan.change(LARGER, before=COMPOSITION.replace("  - step: render\n", step))
    with serving(answer) as address:
        text = plan(xr(), *buckets(), flags=("--function", f"other={address}"))
    assert "spec.size: 1 becomes 2" in text
    assert "status.call" not in text
    assert next(numbers) == 1


REQUIRED = """\
    requirements:
      requiredResources:
      - {requirementName: all, apiVersion: v1, kind: ConfigMap}
    input:
"""
OTHER = ("  - step: render", "  - {step: other, functionRef: {name: b}}\n  - step: render")
LIVE = [xr(), *buckets()]
UNNAMED: Object = {**LIVE[1], "metadata": {"name": "demo-0", "uid": "x"}}
AGAIN: Object = {**xr(count=3), "spec": {**xr(count=3)["spec"], "count": 2}}
NAMED = """\
        {% endfor %}
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          name: demo-0
          annotations: {script.fn.crossplane.io/composition-resource-name: other}
"""
# The objects of the dump, an edit, more flags, and the reason.
UNKNOWN = {
    "one object of two resources": (
        LIVE,
        ("        {% endfor %}\n", NAMED),
        (),
        'Bucket "demo-0" is of two resources, "bucket-0" and "other"',
    ),
    "object of another XR": (
        [*LIVE, *buckets("more")],
        ("        {% endfor %}\n", NAMED.replace("demo-0", "more-0")),
        (),
        'Bucket "more-0" is there, and is not yet the XR\'s',
    ),
    "composed object": (LIVE[:2], (), (), 'the dump lacks Bucket "demo-1"'),
    "resource name": ([xr(), UNNAMED, LIVE[2]], (), (), "has no annotation"),
    "composed again": (
        [AGAIN, *buckets(count=3)],
        ("range(spec.count)", "range(3)"),
        (),
        'Bucket "demo-2" is there, and desired only from now on',
    ),
    "compositionRef": (
        [{**xr(), "spec": {"count": 2, "region": "eu"}}],
        (),
        (),
        "it has no compositionRef",
    ),
    "version": (
        [{**xr(), "apiVersion": "example.org/v2"}, *buckets()],
        (),
        (),
        "the dump has it as example.org/v2",
    ),
    "version of an object": (
        [LIVE[0], {**LIVE[1], "apiVersion": "s3.example.org/v2"}, LIVE[2]],
        ("          size: 1\n", ""),
        (),
        'the dump has Bucket "demo-0" as s3.example.org/v2, and it is desired as s3.example.org/v1',
    ),
    "required objects": (
        LIVE,
        ("    input:\n", REQUIRED),
        (),
        "a step requires ConfigMap objects, and the dump has none",
    ),
    "connection details": (
        [xr(), *details()],
        ("size: 1", "size: {{ observed.resources['bucket-0'].connectionDetails | length }}"),
        (),
        'the dump lacks Secret "password" with connection details',
    ),
    "function": (LIVE, OTHER, (), "it cannot be rendered"),
    "step": (LIVE, OTHER, ("--function", "b=skip"), 'step "other" is left out'),
}


@pytest.mark.parametrize(("manifests", "edit", "flags", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_xr_whose_change_cannot_be_known_is_unknown(
    plan: Plan, manifests: list[Object], edit: tuple[str, str], flags: tuple[str, ...], reason: str
) -> None:
    plan.change(*[edit] * bool(edit))
    flags = ("--fail-on", "unknown", *flags)
    text = plan(*manifests, flags=flags, code=exit_codes.REPORTED)
    assert text.startswith("unknown: ")
    assert reason in text
    assert "1 XR looked at, 1 unknown." in text


LACKS = {
    "Composition": ([XRD, *LIVE], (), 'the dump lacks Composition "buckets": --before takes it'),
    "revision": (
        [XRD, xr(compositionRevisionRef={"name": "buckets-7"}), *buckets()],
        (),
        'the dump lacks CompositionRevision "buckets-7"',
    ),
    "XRD": (LIVE, ("--before", "old"), "the dump lacks its XRD"),
}


@pytest.mark.parametrize(("manifests", "flags", "reason"), LACKS.values(), ids=LACKS)
def test_xr_of_which_something_is_not_at_hand_is_unknown(
    plan: Plan, manifests: list[Object], flags: tuple[str, ...], reason: str
) -> None:
    flags = (*flags, "--fail-on", "unknown")
    text = plan.of_dump(to_yaml_stream(manifests), *flags, code=exit_codes.REPORTED).out
    assert text.startswith(f"unknown: {reason}")
    assert "1 XR looked at, 1 unknown." in text


COMPLETENESS = {
    "complete": ({}, "2 objects of 1 XR: spec.size: 1 becomes 2"),
    "kind is unread": ({"Bucket.v1.s3.example.org": "forbidden"}, 'the dump lacks Bucket "demo-1"'),
}


@pytest.mark.parametrize(("unread", "text"), COMPLETENESS.values(), ids=COMPLETENESS)
def test_object_that_a_complete_dump_lacks_does_not_exist(
    plan: Plan, unread: Object, text: str
) -> None:
    plan.change(LARGER)
    dump = json.dumps({"unread": unread, "items": [XRD, *LIVE[:2]]})
    assert text in plan.of_dump(dump, "--before", "old").out


LABELS = {"matchLabels": {"channel": "stable"}}
HELD = {
    "policy": ({"compositionUpdatePolicy": "Manual"}, "Manual"),
    "selector": ({"compositionRevisionSelector": LABELS}, "compositionRevisionSelector"),
}


@pytest.mark.parametrize(("crossplane", "reason"), HELD.values(), ids=HELD)
def test_xr_that_does_not_follow_stays(plan: Plan, crossplane: Object, reason: str) -> None:
    plan.change(LARGER)
    text = plan(xr(**crossplane), *buckets())
    assert text.startswith("outside of the change: ")
    assert reason in text
    assert "Plan: 0 to add, 0 to change, 0 to destroy." in text


def test_compositions_of_the_dump_are_those_before(plan: Plan, run: Run) -> None:
    """The revision that the XR has counts more than the Composition."""
    plan.change(("size: 1", "size: 3"))
    folder = plan.directory / "dump"
    folder.mkdir()
    revision = COMPOSITION.replace("kind: Composition\n", "kind: CompositionRevision\n")
    revision = revision.replace("name: buckets", "name: buckets-1").replace(*LARGER)
    live = xr(compositionRevisionRef={"name": "buckets-1"})
    (folder / "a.yaml").write_text(to_yaml_stream([XRD, live]))
    items = {"apiVersion": "v1", "kind": "List", "items": buckets()}
    (folder / "b.json").write_text(json.dumps(items))
    (folder / "c.yml").write_text(f"\N{ZERO WIDTH NO-BREAK SPACE}{revision}")
    assert "spec.size: 2 becomes 3" in run("plan", "new", "--cluster", "dump").out


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ('"properties": {"count"', '"required": ["owner"], "properties": {"count"', "invalid"),
        ('"integer"', '"integer", "maximum": 1', "unknown"),
        ('"region": {', '"region": {"maxLength": 1, ', "unknown"),
    ],
)
def test_new_xrd_is_compared_with_every_xr(plan: Plan, old: str, new: str, verdict: str) -> None:
    """The API server takes most values that are there, whatever a new schema says."""
    plan.change(LARGER)
    text = json.dumps(XRD)
    assert old in text
    (plan.directory / "new" / "xrd.yaml").write_text(text.replace(old, new))
    (row,) = plan.find_rows(*LIVE)
    assert row["verdict"] == verdict
    assert ("owner" in str(row["reason"])) is (verdict == "invalid")


def test_default_of_a_new_xrd_is_a_change(plan: Plan) -> None:
    """XRs get it when they are read, also those that keep their revision."""
    text = COMPOSITION.replace("size: 1", "size: {{ spec.size | default(1) }}")
    plan.write("composition.yaml", text)
    size = '"size": {"type": "integer", "default": 5}'
    xrd = json.dumps(XRD).replace('"region":', f'{size}, "region":')
    (plan.directory / "new" / "xrd.yaml").write_text(xrd)
    change = "2 objects of 1 XR: spec.size: 1 becomes 5"
    assert change in plan(*LIVE)
    assert change in plan(xr(compositionUpdatePolicy="Manual"), *buckets())
    paused = xr()
    paused["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
    assert "outside of the change: it is paused" in plan(paused, *buckets())
    # The Composition is no part of the change.
    (plan.directory / "new" / "composition.yaml").unlink()
    dump = to_yaml_stream([XRD, yaml.safe_load(text), *LIVE])
    assert change in plan.of_dump(dump).out


def test_field_that_a_new_xrd_lacks_is_unknown(plan: Plan) -> None:
    """The API server drops it from the XR."""
    xrd = json.dumps(XRD).replace('"region"', '"place"')
    (plan.directory / "new" / "xrd.yaml").write_text(xrd)
    text = plan(*LIVE)
    reason = "the XRD after the change does not allow what it has: unknown field of the XR: "
    assert f"unknown: {reason}" in text


def test_xr_whose_composition_is_removed_is_unknown(plan: Plan) -> None:
    (plan.directory / "new" / "composition.yaml").write_text(
        COMPOSITION.replace("name: buckets", "name: others")
    )
    text = plan(*LIVE, flags=("--fail-on", "unknown"), code=exit_codes.REPORTED)
    assert text.startswith('unknown: there is no Composition "buckets" after the change\n')
    assert text.endswith('No XR of the dump has Composition "others".\n')


def test_folder_without_a_change_is_an_error(plan: Plan) -> None:
    """An XRD as the dump has it is none."""
    (plan.directory / "new" / "composition.yaml").unlink()
    (plan.directory / "new" / "xrd.yaml").write_text(json.dumps(XRD))
    printed = plan.of_dump(to_yaml_stream([XRD, *LIVE]), code=exit_codes.PROBLEM)
    assert 'cannot plan: there is no Composition in "new"' in printed.err


def test_composition_without_an_xr_is_named(plan: Plan) -> None:
    """The dump may be that of another cluster."""
    note = 'No XR of the dump has Composition "buckets".'
    for form in ("text", "json", "markdown"):
        assert note in plan.of_dump(to_yaml_stream([XRD]), "-o", form).out.replace('\\"', '"')


def test_template_of_a_chart_is_named(plan: Plan) -> None:
    templates = plan.directory / "new/chart/templates"
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("name: chart\n")
    (templates / "composition.yaml").write_text(COMPOSITION)
    note = '"new/chart/templates/composition.yaml" is left out: it is a template of a Helm chart.'
    assert note in plan(*LIVE)


@pytest.mark.parametrize("kind", ["List", "CompositionList"])
def test_list_of_compositions_is_named(plan: Plan, kind: str) -> None:
    """That is how kubectl prints several."""
    items = [yaml.safe_load(COMPOSITION)]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": kind, "items": items})
    (plan.directory / "new/list.yaml").write_text(text)
    reason = "it has a List: write its items as documents of their own"
    assert f'"new/list.yaml" is left out: {reason}.' in plan(*LIVE)


def test_object_that_neither_side_desires_is_drift(plan: Plan) -> None:
    """It goes with or without the change."""
    more = xr(count=3)
    more["spec"]["count"] = 2
    text = plan(more, *buckets(count=3))
    assert 'drift: resource "bucket-2" (the next reconcile destroys its Bucket) is not what' in text
    assert "1 XR looked at, 1 with drift." in text


def test_objects_of_an_xr_without_its_xrd_are_unknown(plan: Plan) -> None:
    """The XR above destroys it, and so all that it composes."""
    inner = "        apiVersion: example.org/v1\n        kind: XBucket\n"
    other = inner.replace("example.org", "s3.example.org").replace("XBucket", "XOther")
    before = OUTER.replace(inner, other)
    plan.write("outer.yaml", before, before.replace("resource-name: inner", "resource-name: other"))
    text = json.dumps(nested()[:3]).replace(
        '"example.org/v1", "kind": "XBucket"', '"s3.example.org/v1", "kind": "XOther"'
    )
    definition, outer, live = json.loads(text)
    reference = {"apiVersion": "s3.example.org/v1", "kind": "XOther", "name": "demo"}
    outer["spec"]["crossplane"]["resourceRefs"] = [reference]
    flags = ("--fail-on", "unknown")
    printed = plan(definition, outer, live, flags=flags, code=exit_codes.REPORTED)
    assert "1 to add, 0 to change, 1 to destroy" in printed
    assert "unknown: the dump lacks its XRD, and the XR above it changes or destroys it" in printed
    assert "  = XOther/demo" in printed


def test_objects_of_a_new_xr_are_unknown(plan: Plan) -> None:
    more = OUTER[OUTER.index("        apiVersion: example.org") :].replace(
        "name: inner", "name: more"
    )
    plan.write("outer.yaml", OUTER, f"{OUTER}        ---\n{more}")
    text = plan(*nested(), flags=("--fail-on", "unknown"), code=exit_codes.REPORTED)
    assert "Plan: 1 to add, 0 to change, 0 to destroy." in text
    assert "unknown: it is a new XR: what it composes is not planned" in text


OUTER_EDITS = {
    "its spec": (("region: eu", "region: us"), "0 to add, 3 to change, 0 to destroy"),
    "less": (("count: 2", "count: 1"), "0 to add, 1 to change, 1 to destroy"),
    "another kind, which leaves the XR behind": (
        ("        apiVersion: example.org/v1\n", "        # none\n        apiVersion: v1\n"),
        "1 to add, 0 to change, 0 to destroy",
    ),
    "the XR": (
        ("resource-name: inner", "resource-name: other"),
        "1 to add, 0 to change, 3 to destroy",
    ),
}


@pytest.mark.parametrize(("edit", "totals"), OUTER_EDITS.values(), ids=OUTER_EDITS)
def test_change_of_an_outer_xr_reaches_the_objects_of_inner_ones(
    plan: Plan, edit: tuple[str, str], totals: str
) -> None:
    plan.write("outer.yaml", OUTER, OUTER.replace(*edit))
    assert totals in plan(*nested())


def test_data_of_a_secret_is_not_printed(plan: Plan) -> None:
    """Connection details are in tests/unit/tools/plan/test_secrets.py."""
    before = COMPOSITION.replace("s3.example.org/v1", "v1").replace("Bucket\n", "Secret\n")
    before = before.replace("kind: XSecret", "kind: XBucket")
    before = before.replace("  size: 1", "  size: 1\n        data: {a: Y2FuYXJ5LTE=}")
    plan.change(("Y2FuYXJ5LTE=", "Y2FuYXJ5LTI="), before=before)
    text = json.dumps(LIVE).replace("s3.example.org/v1", "v1")
    objects = json.loads(text.replace('"Bucket"', '"Secret"'))
    for each in objects[1:]:
        each["data"] = {"a": "Y2FuYXJ5LTE="}
    for form in ("text", "json", "markdown"):
        printed = plan(*objects, flags=("-o", form))
        assert "data.a" in printed or '"data"' in printed
        # The frame shows the line of the program.
        assert "Y2FuYXJ5" not in printed.replace("data: {a: Y2FuYXJ5LTI=}", "")


def test_name_in_a_dump_has_no_meaning_in_markdown(plan: Plan) -> None:
    """Whoever names an object must not write into a pull request."""
    plan.change(LARGER)
    evil = "x` <b>@everyone</b>\n# Title"
    live: Object = {**xr(), "metadata": {"name": "demo", "namespace": evil, "uid": "uid-demo"}}
    text = plan(live, *buckets(), flags=("-o", "markdown"))
    lines = [line for line in text.splitlines() if "everyone" in line]
    assert lines
    assert all(line.count("`") % 2 == 0 and "`` <b>" not in line for line in lines)
    assert not any(line.startswith("# ") for line in text.splitlines())


@needs_git
def test_revision_of_git_has_the_compositions_before(plan: Plan) -> None:
    """An object that goes has its position there."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init",), ("add", "new"), (*identity, "commit", "--message=one")):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    plan.change(("range(spec.count)", "range(1)"))
    dump = to_yaml_stream([XRD, *LIVE])
    text = plan.of_dump(dump, "--before", "HEAD").out
    assert 'destroy: 1 object of 1 XR: Bucket "demo-1"\n  --> HEAD:new/composition.yaml:17:' in text
    plan.of_dump(dump, "--before", "mian", code=exit_codes.PROBLEM)


def test_programs_in_files_are_those_of_each_side(plan: Plan) -> None:
    head, program = COMPOSITION.split("      inline: |\n")
    source = "      source: FileSystem\n      fileSystem: {dirPath: buckets}\n"
    plan.write("composition.yaml", head + source)
    for name in ("old", "new"):
        (plan.directory / name / "programs/buckets").mkdir(parents=True)
    text = dedent(program)
    plan.write("programs/buckets/main.j2", text, text.replace(*LARGER))
    printed = plan(*LIVE)
    assert (
        "2 objects of 1 XR: spec.size: 1 becomes 2\n  --> new/programs/buckets/main.j2:" in printed
    )
    # Nothing of a Composition says what such a program reads.
    assert 'the dump lacks Secret "password"' in plan(xr(), *details())


POD = "kind: Pod\napiVersion: v1\nmetadata: "
BROKEN = {
    "empty": ("", "cannot read the dump: it has no objects"),
    "truncated": ('{"apiVersion": "v1", "kind"', "it is not JSON"),
    "without its end": (
        "apiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: a}\n",
        "the end is missing",
    ),
    "other": ("a: 1\n", "a value that is no object"),
    "no name": (f"{POD}{{}}\n", "no metadata.name"),
    "two clusters": (
        "\n---\n".join(f"{POD}{{name: a, resourceVersion: '7', uid: {uid}}}" for uid in "bc"),
        'Pod "a" has two states, in object 1 of "dump.yaml" and object 2 of "dump.yaml"',
    ),
    "two states": (
        f"{POD}{{name: a}}\n---\n{POD}{{name: b}}\n---\n{POD}{{name: a}}\nspec: {{}}\n",
        'Pod "a" has two states, in object 1 of "dump.yaml" and object 3 of "dump.yaml"',
    ),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_dump_is_an_error(plan: Plan, text: str, message: str) -> None:
    assert message in plan.of_dump(text, code=exit_codes.PROBLEM).err


def test_state_that_is_in_a_dump_twice_is_one(plan: Plan) -> None:
    """The one with managedFields counts, wherever it stands."""
    plan.change(("          size: 1\n", ""))
    (brief,) = buckets(count=1)
    brief["metadata"]["resourceVersion"] = "7"
    live = managed((CROSSPLANE, SIZE))
    live["metadata"]["resourceVersion"] = "7"
    text = plan(xr(count=1), live)
    assert text not in {plan(xr(count=1), brief), ""}
    assert plan(xr(count=1), brief, live) == plan(xr(count=1), live, brief) == text


def test_moved_object_that_is_composed_no_longer_is_destroyed(plan: Plan) -> None:
    """Crossplane has it by its former name."""
    plan.change(("range(spec.count)", "range(1)"), before=COMPOSITION.replace(*STORE))
    live = buckets()
    for number, each in enumerate(live):
        each["metadata"]["annotations"]["script.fn.crossplane.io/moved-to"] = f"store-{number}"
    text = plan(xr(), *live)
    assert text.startswith('destroy: 1 object of 1 XR: Bucket "demo-1"\n')
    assert "Plan: 0 to add, 0 to change, 1 to destroy." in text


def test_progress_is_on_a_terminal_alone(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = to_yaml_stream([XRD, *LIVE])
    assert not plan.of_dump(dump, "--before", "old").err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "planning   0 %" in plan.of_dump(dump, "--before", "old").err


@pytest.mark.usefixtures("plan")
def test_interrupt_leaves_no_process() -> None:
    """The dump is read, and the sandbox has started."""
    pipe = "dump.json"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "function_script", "plan", "new", "--cluster", pipe]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    descriptor = None
    while descriptor is None and process.poll() is None:
        # There is no reader yet.
        with suppress(OSError):
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)
    assert descriptor is not None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    os.close(descriptor)
    assert process.returncode == exit_codes.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("is_planned", [True, False])
def test_values_below_an_xr_with_a_secret_are_not_printed(plan: Plan, is_planned: bool) -> None:
    """The outer XR may have written them into the inner one, also if it does not change itself."""
    if is_planned:
        plan.write("outer.yaml", OUTER)
    plan.change(("{{ spec.region }}", "x-{{ spec.region }}"))
    definition, outer, inner, *others = json.loads(json.dumps(nested()).replace("eu", "canary"))
    outer["spec"]["writeConnectionSecretToRef"] = {"name": "a", "namespace": "b"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"}}
    text = plan(definition, outer, inner, *others, secret)
    assert '2 objects of 1 XR: spec.region: "(hidden)" becomes "(hidden)"' in text
    assert "canary" not in text


@pytest.mark.parametrize("name", ["dump.yaml", "cluster/dump.yaml"])
def test_dump_beside_the_compositions_is_none_of_them(plan: Plan, run: Run, name: str) -> None:
    """The CI job of a project of `init` plans all of it."""
    plan.change(LARGER)
    file = plan.directory / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{to_yaml_stream([XRD, *LIVE])}---\n{COMPOSITION}")
    cluster = f"new/{Path(name).parts[0]}"
    assert "spec.size: 1 becomes 2" in run("plan", "new", "--cluster", cluster).out

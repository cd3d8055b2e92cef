"""Plans of edits that a server-side apply treats in a way of its own."""

import base64
import json
from typing import cast

import pytest
from support.plans import CROSSPLANE, HEAD, XRD, Plan, applied, buckets, crd, list_fields, xr

from function_script.documents import to_yaml_stream
from function_script.request.values import Object
from function_script.tools import manifests

ANNOTATION: Object = {"script.fn.crossplane.io/composition-resource-name": "bucket-0"}
BUCKET: Object = {"apiVersion": "s3.example.org/v1", "kind": "Bucket"}
SERVICE: Object = {"apiVersion": "v1", "kind": "Service"}
MASKED: Object = {"script.fn.crossplane.io/masked": "true"}
CONFIG: Object = {"apiVersion": "v1", "kind": "ConfigMap"}
SECRET: Object = {"apiVersion": "v1", "kind": "Secret"}
TEXTS: Object = {"type": "object", "additionalProperties": {"type": "string"}}
SET: Object = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}


def to_composition(kind: Object, body: Object) -> str:
    """Return a Composition of one resource."""
    document = to_yaml_stream([{**kind, "metadata": {"annotations": ANNOTATION}, **body}])
    return HEAD + "".join(f"        {line}\n" for line in document.splitlines())


def plan_edit(
    plan: Plan,
    kind: Object,
    bodies: tuple[Object, Object],
    *definitions: Object,
    live: Object | None = None,
    flags: tuple[str, ...] = (),
) -> Object:
    """Plan the edit of one resource; ``live`` is what its object has if not what is desired."""
    plan.write("composition.yaml", *(to_composition(kind, body) for body in bodies))
    (bucket,) = buckets(count=1)
    metadata = bucket["metadata"]
    metadata["managedFields"] = [applied(CROSSPLANE, list_fields(bodies[0]), kind["apiVersion"])]
    subject = xr(count=1, resourceRefs=[{**kind, "name": "demo-0"}])
    body = bodies[0] if live is None else {**live}
    annotations = manifests.texts_at(body, "metadata", "annotations")
    manifest: Object = {**kind, **body, "metadata": metadata}
    manifests.add_texts(manifest, annotations, "metadata", "annotations")
    (row,) = plan.find_rows(subject, manifest, *definitions, flags=flags)
    assert not row["drift"], row
    return row


def spec(before: Object, after: Object) -> tuple[Object, Object]:
    """Two specs with one field that does not change."""
    return {"spec": {"region": "eu", **before}}, {"spec": {"region": "eu", **after}}


FLAGS = spec({"flags": {"a": "x"}}, {"flags": {}})
BELOW: Object = {"type": "object", "properties": {"rules": SET}}
ITEMS: Object = {
    "type": "array",
    "items": {"type": "object", "properties": {"a": {}, "b": {"type": "string", "default": "z"}}},
}
# Before and after, the schema of the field, and the path, value and certainty of the change.
FIELDS = {
    "last field of a map with a default": (
        FLAGS,
        {"flags": {**TEXTS, "default": {"b": "y"}}},
        ("spec.flags", {"b": "y"}, True),
    ),
    "last field of a map that may be null": (
        FLAGS,
        {"flags": {**TEXTS, "nullable": True}},
        ("spec.flags", None, True),
    ),
    "last field of an atomic map": (
        FLAGS,
        {"flags": {**TEXTS, "x-kubernetes-map-type": "atomic"}},
        ("spec.flags.a", None, True),
    ),
    "last item of a set with a default": (
        spec({"rules": ["a"]}, {"rules": []}),
        {"rules": {**SET, "default": ["z"]}},
        ("spec.rules", ["z"], True),
    ),
    "map of an empty set alone": (
        spec({"below": {"rules": ["a"]}}, {"below": {"rules": []}}),
        {"below": BELOW},
        ("spec.below", None, True),
    ),
    "field of an item with a default": (
        spec({"rules": [{"a": "x", "b": "y"}]}, {"rules": [{"a": "x"}]}),
        {"rules": ITEMS},
        ("spec.rules.0.b", "z", True),
    ),
    # It goes where the map above it has no other field.
    "set without an item": (spec({"rules": []}, {}), {"rules": SET}, ("spec.rules", [], False)),
    "new set without an item": (spec({}, {"rules": []}), {"rules": SET}, ("spec.rules", [], True)),
}
EDITS = {
    "own kind": (SERVICE, spec({"type": "ClusterIP"}, {}), [], ("spec.type", None, False)),
    "own kind, field of an item": (
        SERVICE,
        spec({"rules": [{"a": "x", "b": "y"}]}, {"rules": [{"a": "x"}]}),
        [],
        ("spec.rules.0.b", None, False),
    ),
    "data without defaults": (
        CONFIG,
        ({"data": {"a": "x", "b": "y"}}, {"data": {"a": "x"}}),
        [],
        ("data.b", None, True),
    ),
    **{
        name: (BUCKET, bodies, [crd(fields)], expected)
        for name, (bodies, fields, expected) in FIELDS.items()
    },
}


@pytest.mark.parametrize(("kind", "bodies", "definitions", "expected"), EDITS.values(), ids=EDITS)
def test_field_that_goes_leaves_what_the_api_server_leaves(
    plan: Plan,
    kind: Object,
    bodies: tuple[Object, Object],
    definitions: list[Object],
    expected: tuple[str, object, bool],
) -> None:
    row = plan_edit(plan, kind, bodies, *definitions)
    assert row["verdict"] == "planned", row
    (change,) = row["changes"]
    assert (".".join(map(str, change["path"])), change["after"], change["certain"]) == expected


@pytest.mark.parametrize("is_below", [False, True])
def test_list_that_goes_without_items_is_written_by_a_later_reconcile(
    plan: Plan, *, is_below: bool
) -> None:
    bodies: list[Object] = [{"rules": ["a"]}, {"rules": []}]
    if is_below:
        bodies = [{"below": body} for body in bodies]
    schema: Object = {"below": BELOW} if is_below else {"rules": SET}
    row = plan_edit(plan, BUCKET, spec(*bodies), crd(schema), flags=("--until-ready",))
    values = [(each["after"], each["later"]) for each in row["changes"]]
    assert values == [(None, False), (bodies[1]["below"] if is_below else [], True)]


def test_item_has_its_default_in_a_later_reconcile_too(plan: Plan) -> None:
    bodies = spec({}, {"rules": [{"a": "x"}]})
    (change,) = plan_edit(plan, BUCKET, bodies, crd({"rules": ITEMS}), flags=("--until-ready",))[
        "changes"
    ]
    assert (change["after"], change["later"]) == ([{"a": "x", "b": "z"}], False)


def test_map_that_would_become_null_is_refused(plan: Plan) -> None:
    """The API server makes null of a map whose last field an apply removes."""
    row = plan_edit(plan, BUCKET, FLAGS, crd({"flags": TEXTS}))
    assert row["verdict"] == "invalid"
    assert str(row["reason"]).startswith("Bucket: spec.flags: {} in place of its last field")


TWO: Object = {"stringData": {"a": "x", "b": "y"}}
BOTH: Object = {"data": {"k": "QQ==", "z": "QQ=="}, "stringData": {"k": "B"}}
ONE: Object = {"data": {"k": "QQ==", "z": "QQ=="}}
STRING_DATA = {
    "same": (TWO, TWO, []),
    "changed": (TWO, {"stringData": {"a": "x", "b": "z"}}, [["stringData"]]),
    "added": (TWO, {"stringData": {"a": "x", "b": "y", "c": "z"}}, [["stringData"]]),
    # It stays in the data of the Secret.
    "removed": (TWO, {"stringData": {"a": "x"}}, []),
    "overridden value": (BOTH, {**BOTH, "data": {"k": "Qw==", "z": "QQ=="}}, []),
    "no longer in stringData": (BOTH, ONE, [["data", "k"]]),
    "no longer in data": (BOTH, {**BOTH, "data": {"z": "QQ=="}}, []),
    "in none": (BOTH, {"data": {"z": "QQ=="}}, [["data", "k"]]),
    "overridden from now on": (ONE, BOTH, [["stringData"]]),
    "the same value in data": ({"stringData": {"k": "A"}, "data": {"z": "QQ=="}}, ONE, []),
    "no data at all": ({"stringData": {"k": "A"}}, {}, []),
}


@pytest.mark.parametrize(("before", "after", "paths"), STRING_DATA.values(), ids=STRING_DATA)
def test_string_data_overrides_the_data_of_a_secret(
    plan: Plan, before: Object, after: Object, paths: list[object]
) -> None:
    """The object has all of it in its data."""
    texts = manifests.texts_at(before, "stringData")
    data = manifests.texts_at(before, "data") | {
        name: base64.b64encode(text.encode()).decode() for name, text in texts.items()
    }
    row = plan_edit(plan, SECRET, (before, after), live={"data": {**data}, "type": "Opaque"})
    assert [each["path"] for each in row["changes"]] == paths


ROW: Object = {"type": "object", "properties": {"b": {"type": "integer", "default": 7}}}
SAME = {
    "default in an item of a list that is applied as a whole": (
        BUCKET,
        {"spec": {"rows": [{"a": 1}]}},
        {"spec": {"rows": [{"a": 1, "b": 7}]}},
        [crd({"rows": {"type": "array", "items": ROW}})],
    ),
    "default below an empty map": (
        BUCKET,
        {"spec": {"below": {}}},
        {"spec": {"below": {"b": 7}}},
        [crd({"below": ROW})],
    ),
    "others in a map": (BUCKET, {"spec": {"below": {}}}, {"spec": {"below": {"x": 1}}}, []),
    "empty set": (BUCKET, *spec({"rules": []}, {}), [crd({"rules": SET})]),
    "empty data": (CONFIG, {"data": {}}, {}, []),
    "masks": (
        SECRET,
        {"data": {"a": "eA=="}, "stringData": {"b": "y"}},
        {"metadata": {"annotations": MASKED}, "data": {"a": "bWFzaw==", "b": "bWFzaw=="}},
        [],
    ),
}


@pytest.mark.parametrize(("kind", "body", "live", "definitions"), SAME.values(), ids=SAME)
def test_object_as_the_api_server_completes_it_has_no_drift(
    plan: Plan, kind: Object, body: Object, live: Object, definitions: list[Object]
) -> None:
    row = plan_edit(plan, kind, (body, body), *definitions, live=live)
    assert row["verdict"] == "unchanged", row


RULE = {"x-kubernetes-validations": [{"rule": "self < 2", "message": "it is too great"}]}
VIOLATIONS = {
    "unknown field": ({}, {"colour": "red"}, 'Bucket: unknown field "spec.colour"'),
    "type": ({}, {"size": "two"}, "Bucket: spec.size: Invalid value"),
    "rule": ({"size": 1}, {"size": 2}, "Bucket: spec.size: Invalid value: 2: it is too great"),
    "rule that it violates before": ({"size": 2}, {"size": 2, "region": "us"}, ""),
    "there before": ({"colour": "red"}, {"colour": "blue"}, ""),
}


@pytest.mark.parametrize(("before", "after", "reason"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_object_that_its_schema_does_not_allow_is_refused(
    plan: Plan, before: Object, after: Object, reason: str
) -> None:
    """A cluster refuses fields that are not in the schema, too; it drops them with other writes."""
    row = plan_edit(plan, BUCKET, spec(before, after), crd(**RULE))
    assert row["verdict"] == ("invalid" if reason else "planned")
    assert reason in str(row["reason"])


def test_object_that_was_refused_before_is_refused_with_another_value(plan: Plan) -> None:
    """It is not there, as a dump of the whole cluster shows."""
    bodies = spec({"colour": "red"}, {"colour": "blue"})
    plan.write("composition.yaml", *(to_composition(BUCKET, body) for body in bodies))
    definition = crd()
    manifests.object_at(definition, "spec")["scope"] = "Cluster"
    items = [XRD, xr(count=1), definition]
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "unread": {}, "items": items})
    text = plan.of_dump(dump, "--before", "old").out
    assert 'refused: Bucket: unknown field "spec.colour"' in text


def test_version_that_the_definition_of_a_kind_lacks_is_refused(plan: Plan) -> None:
    """Crossplane refers to it first, and can read no object of the XR from then on."""
    bodies = spec({}, {})
    edit = (bodies[0], {"apiVersion": "s3.example.org/v9", **bodies[1]})
    unserved = crd()
    versions = cast("list[Object]", cast("Object", unserved["spec"])["versions"])
    versions.append({**versions[0], "name": "v9", "served": False})
    for definition in (crd(), unserved):
        row = plan_edit(plan, BUCKET, edit, definition)
        assert row["verdict"] == "invalid"
        assert "Bucket: it has s3.example.org/v1, and no s3.example.org/v9" in str(row["reason"])


def test_version_that_an_own_kind_lacks_is_refused(plan: Plan) -> None:
    """Crossplane finds no such kind."""
    before, after = spec({}, {})
    row = plan_edit(plan, SERVICE, (before, {"apiVersion": "v9", **after}))
    assert row["verdict"] == "invalid"
    assert " has it in v1, not in v9" in str(row["reason"])


def run_image(image: str) -> Object:
    """The specification of a Job."""
    return {"template": {"spec": {"containers": [{"name": "a", "image": image}]}}}


SELECTOR: Object = {"matchLabels": {"a": "b"}}
ROLLING: Object = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}
LABELS: Object = {"selector": SELECTOR, "template": {"metadata": {"labels": {"a": "b"}}}}
FINAL: dict[str, tuple[str, tuple[Object, Object], Object | None, str]] = {
    "selector": (
        "apps/v1 Deployment",
        spec({"selector": SELECTOR}, {"selector": {"matchLabels": {"a": "c"}}}),
        None,
        "Deployment: spec.selector: Invalid value",
    ),
    "selector with an empty part": (
        "apps/v1 Deployment",
        spec({"selector": SELECTOR}, {"selector": {**SELECTOR, "matchExpressions": []}}),
        None,
        "",
    ),
    "strategy with defaults": (
        "apps/v1 Deployment",
        spec({}, {"strategy": {"type": "Recreate"}}),
        {"spec": {"region": "eu", "strategy": ROLLING}},
        "Deployment: spec.strategy.rollingUpdate: Forbidden: may not be specified",
    ),
    "image of a Job": (
        "batch/v1 Job",
        spec(run_image("b"), run_image("c")),
        None,
        "Job: spec.template: Invalid value: field is immutable",
    ),
    "image of a CronJob": (
        "batch/v1 CronJob",
        spec({"jobTemplate": {"spec": run_image("b")}}, {"jobTemplate": {"spec": run_image("c")}}),
        None,
        "",
    ),
    "labels that the selector does not match": (
        "apps/v1 Deployment",
        spec(LABELS, {**LABELS, "template": {"metadata": {"labels": {"a": "c"}}}}),
        None,
        "Deployment: spec.template.metadata.labels: Invalid value",
    ),
    "role": (
        "rbac.authorization.k8s.io/v1 RoleBinding",
        ({"roleRef": {"kind": "Role", "name": "a"}}, {"roleRef": {"kind": "Role", "name": "b"}}),
        None,
        "RoleBinding: roleRef: Invalid value: cannot change roleRef",
    ),
    "address": (
        "v1 Service",
        spec({}, {"clusterIP": "None"}),
        {"spec": {"region": "eu", "clusterIP": "10.0.0.1"}},
        "Service: spec.clusterIP: Invalid value",
    ),
}


@pytest.mark.parametrize(("type_", "bodies", "live", "reason"), FINAL.values(), ids=FINAL)
def test_field_that_an_own_kind_never_changes_is_refused(
    plan: Plan, type_: str, bodies: tuple[Object, Object], live: Object | None, reason: str
) -> None:
    api_version, kind = type_.split()
    row = plan_edit(plan, {"apiVersion": api_version, "kind": kind}, bodies, live=live)
    assert (row["verdict"], reason in str(row["reason"])) == (
        "invalid" if reason else "planned",
        True,
    )


def test_new_object_that_its_schema_does_not_allow_is_refused(plan: Plan) -> None:
    plan.change(("range(spec.count)", "range(3)"), ("size: 1", "size: {{ i }}"))
    for schema in ({"maximum": 1}, RULE):
        text = plan(xr(), *buckets(), crd(**schema))
        assert "refused: Bucket: spec.size: Invalid value: 2" in text


def test_new_object_without_a_namespace_is_refused_for_an_xr_with_one(plan: Plan) -> None:
    document = "---\n        apiVersion: resource.k8s.io/v1\n        kind: DeviceClass\n"
    name = "metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: scope}}\n"
    plan.change(
        ("        {% endfor %}\n", f"        {{% endfor %}}\n        {document}        {name}")
    )
    things = [xr(), *buckets()]
    for each in things:
        each["metadata"]["namespace"] = "here"
    text = "refused: DeviceClass has no namespace: an XR with one cannot compose it"
    assert text in plan(*things)


STATUS = """\
        {% endfor %}
        ---
        apiVersion: example.org/v1
        kind: XBucket
        status: {buckets: 2}
"""


def test_status_that_the_xrd_does_not_have_is_refused(plan: Plan) -> None:
    """Crossplane writes nothing of the status then."""
    plan.change(("        {% endfor %}\n", STATUS))
    printed = plan(xr(), *buckets())
    assert 'refused: XBucket: unknown field "status.buckets"' in printed

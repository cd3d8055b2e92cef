"""Plans of edits that a server-side apply treats in a way of its own."""

import base64
import json
from pathlib import Path
from typing import cast

import pytest
from support.plans import COMPOSITION, CROSSPLANE, buckets, change, crd, plan, xr

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
SET: Object = {
    "type": "array",
    "items": {"type": "string"},
    "x-kubernetes-list-type": "set",
}


def write(path: Path, kind: Object, body: Object) -> None:
    """Write a Composition of one resource."""
    document = to_yaml_stream([{**kind, "metadata": {"annotations": ANNOTATION}, **body}])
    lines = "".join(f"        {line}\n" for line in document.splitlines())
    head = COMPOSITION[: COMPOSITION.index("        {% for")]
    (path / "composition.yaml").write_text(f"{head}{lines}")


def owned(value: object) -> Object:
    """Return the set of all fields of a value; lists of texts have their values as items."""
    if isinstance(value, dict):
        return {f"f:{key}": owned(item) for key, item in value.items()}
    items = value if isinstance(value, list) else []
    return {f'v:"{item}"': {} for item in items if isinstance(item, str)}


def definition(**properties: object) -> Object:
    """The CRD of buckets with a schema of these fields of their spec."""
    text = json.dumps(crd()).replace('"region":', f'{json.dumps(properties)[1:-1]}, "region":')
    return cast("Object", json.loads(text))


def plan_edit(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    kind: Object,
    bodies: tuple[Object, Object],
    *definitions: Object,
    live: Object | None = None,
) -> Object:
    """Plan the edit of one resource; ``live`` is what its object has if not what is desired."""
    before, after = bodies
    write(project / "old", kind, before)
    write(project / "new", kind, after)
    (bucket,) = buckets(count=1)
    metadata = cast("Object", bucket["metadata"])
    metadata["managedFields"] = [
        {
            "manager": CROSSPLANE,
            "operation": "Apply",
            "apiVersion": kind["apiVersion"],
            "fieldsV1": owned(before),
        }
    ]
    subject = xr(count=1)
    reference: Object = {**kind, "name": "demo-0"}
    cast("Object", cast("Object", subject["spec"])["crossplane"])["resourceRefs"] = [reference]
    body = before if live is None else {**live}
    annotations = manifests.texts_at(body, "metadata", "annotations")
    manifest: Object = {**kind, **body, "metadata": metadata}
    manifests.add_texts(manifest, annotations, "metadata", "annotations")
    report = json.loads(plan(capsys, subject, manifest, *definitions, flags=("-o", "json")))
    (row,) = report["xrs"]
    assert not row["drift"], row
    return cast("Object", row)


def spec(before: Object, after: Object) -> tuple[Object, Object]:
    """Two specs with one field that does not change."""
    return {"spec": {"region": "eu", **before}}, {"spec": {"region": "eu", **after}}


EDITS = {
    "own kind": (SERVICE, spec({"type": "ClusterIP"}, {}), [], [("spec.type", None, False)]),
    "data without defaults": (
        CONFIG,
        ({"data": {"a": "x", "b": "y"}}, {"data": {"a": "x"}}),
        [],
        [("data.b", None, True)],
    ),
    "last field of a map with a default": (
        BUCKET,
        spec({"flags": {"a": "x"}}, {"flags": {}}),
        [definition(flags={**TEXTS, "default": {"b": "y"}})],
        [("spec.flags", {"b": "y"}, True)],
    ),
    "last field of a map that may be null": (
        BUCKET,
        spec({"flags": {"a": "x"}}, {"flags": {}}),
        [definition(flags={**TEXTS, "nullable": True})],
        [("spec.flags", None, True)],
    ),
    "last field of an atomic map": (
        BUCKET,
        spec({"flags": {"a": "x"}}, {"flags": {}}),
        [definition(flags={**TEXTS, "x-kubernetes-map-type": "atomic"})],
        [("spec.flags.a", None, True)],
    ),
    "last item of a set with a default": (
        BUCKET,
        spec({"rules": ["a"]}, {"rules": []}),
        [definition(rules={**SET, "default": ["z"]})],
        [("spec.rules", ["z"], True)],
    ),
    "map of an empty set alone": (
        BUCKET,
        spec({"below": {"rules": ["a"]}}, {"below": {"rules": []}}),
        [definition(below={"type": "object", "properties": {"rules": SET}})],
        [("spec.below", None, True)],
    ),
    "new set without an item": (
        BUCKET,
        spec({}, {"rules": []}),
        [definition(rules=SET)],
        [("spec.rules", [], True)],
    ),
}


@pytest.mark.parametrize(("kind", "bodies", "definitions", "expected"), EDITS.values(), ids=EDITS)
def test_field_that_goes_leaves_what_the_api_server_leaves(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    kind: Object,
    bodies: tuple[Object, Object],
    definitions: list[Object],
    expected: list[object],
) -> None:
    row = plan_edit(project, capsys, kind, bodies, *definitions)
    assert row["verdict"] == "planned", row
    changes = cast("list[Object]", row["changes"])
    paths = [".".join(cast("list[str]", each["path"])) for each in changes]
    assert [
        (path, each["after"], each["certain"]) for path, each in zip(paths, changes, strict=True)
    ] == expected


def test_map_that_would_become_null_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The API server makes null of a map whose last field an apply removes."""
    bodies = spec({"flags": {"a": "x"}}, {"flags": {}})
    row = plan_edit(project, capsys, BUCKET, bodies, definition(flags=TEXTS))
    assert row["verdict"] == "invalid"
    assert str(row["reason"]).startswith("Bucket: spec.flags: {} in place of its last field")


STRING_DATA = {
    "same": ({"a": "x", "b": "y"}, []),
    "changed": ({"a": "x", "b": "z"}, [["stringData"]]),
    "added": ({"a": "x", "b": "y", "c": "z"}, [["stringData"]]),
    # It stays in the data of the Secret.
    "removed": ({"a": "x"}, []),
}


@pytest.mark.parametrize(("after", "paths"), STRING_DATA.values(), ids=STRING_DATA)
def test_string_data_is_in_the_data_of_a_secret(
    project: Path, capsys: pytest.CaptureFixture[str], after: Object, paths: list[object]
) -> None:
    bodies: tuple[Object, Object] = (
        {"stringData": {"a": "x", "b": "y"}},
        {"stringData": after},
    )
    live: Object = {"data": {"a": "eA==", "b": "eQ=="}, "type": "Opaque"}
    row = plan_edit(project, capsys, SECRET, bodies, live=live)
    assert [each["path"] for each in cast("list[Object]", row["changes"])] == paths


BOTH: Object = {"data": {"k": "QQ==", "z": "QQ=="}, "stringData": {"k": "B"}}
ONE: Object = {"data": {"k": "QQ==", "z": "QQ=="}}
IN_BOTH = {
    "overridden value": (BOTH, {**BOTH, "data": {"k": "Qw==", "z": "QQ=="}}, []),
    "no longer in stringData": (BOTH, ONE, [["data", "k"]]),
    "no longer in data": (BOTH, {**BOTH, "data": {"z": "QQ=="}}, []),
    "in none": (BOTH, {"data": {"z": "QQ=="}}, [["data", "k"]]),
    "overridden from now on": (ONE, BOTH, [["stringData"]]),
    "the same value in data": ({"stringData": {"k": "A"}, "data": {"z": "QQ=="}}, ONE, []),
    "no data at all": ({"stringData": {"k": "A"}}, {}, []),
}


@pytest.mark.parametrize(("before", "after", "paths"), IN_BOTH.values(), ids=IN_BOTH)
def test_string_data_overrides_the_data_of_a_secret(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    before: Object,
    after: Object,
    paths: list[object],
) -> None:
    texts = manifests.texts_at(before, "stringData")
    data = manifests.texts_at(before, "data") | {
        name: base64.b64encode(text.encode()).decode() for name, text in texts.items()
    }
    row = plan_edit(project, capsys, SECRET, (before, after), live={"data": {**data}})
    assert [each["path"] for each in cast("list[Object]", row["changes"])] == paths
    assert not row["drift"]


ROW: Object = {"type": "object", "properties": {"b": {"type": "integer", "default": 7}}}
SAME = {
    "default in an item of a list that is applied as a whole": (
        BUCKET,
        {"spec": {"rows": [{"a": 1}]}},
        {"spec": {"rows": [{"a": 1, "b": 7}]}},
        [definition(rows={"type": "array", "items": ROW})],
    ),
    "default below an empty map": (
        BUCKET,
        {"spec": {"below": {}}},
        {"spec": {"below": {"b": 7}}},
        [definition(below=ROW)],
    ),
    "others in a map": (BUCKET, {"spec": {"below": {}}}, {"spec": {"below": {"x": 1}}}, []),
    "empty set": (
        BUCKET,
        {"spec": {"region": "eu", "rules": []}},
        {"spec": {"region": "eu"}},
        [definition(rules=SET)],
    ),
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
    project: Path,
    capsys: pytest.CaptureFixture[str],
    kind: Object,
    body: Object,
    live: Object,
    definitions: list[Object],
) -> None:
    row = plan_edit(project, capsys, kind, (body, body), *definitions, live=live)
    assert row["verdict"] == "unchanged", row


VIOLATIONS = {
    "unknown field": ({}, {"colour": "red"}, 'Bucket: unknown field "spec.colour"'),
    "type": ({}, {"size": "two"}, "Bucket: spec.size: Invalid value"),
    "there before": ({"colour": "red"}, {"colour": "blue"}, ""),
}


@pytest.mark.parametrize(("before", "after", "reason"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_object_that_its_schema_does_not_allow_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], before: Object, after: Object, reason: str
) -> None:
    """A cluster refuses fields that are not in the schema, too; it drops them with other writes."""
    row = plan_edit(project, capsys, BUCKET, spec(before, after), crd())
    assert row["verdict"] == ("invalid" if reason else "planned")
    assert reason in str(row["reason"])


def test_new_object_that_its_schema_does_not_allow_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project, ("range(spec.count)", "range(3)"), ("size: 1", "size: {{ i }}"))
    text = plan(capsys, xr(), *buckets(), crd(maximum=1))
    assert "refused by the API server: Bucket: spec.size: Invalid value: 2" in text


def test_status_that_the_xrd_does_not_have_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Crossplane writes nothing of the status then."""
    status = """\
        ---
        apiVersion: example.org/v1
        kind: XBucket
        status: {buckets: 2}
"""
    text = (project / "new" / "composition.yaml").read_text()
    (project / "new" / "composition.yaml").write_text(f"{text.rstrip()}\n{status}")
    printed = plan(capsys, xr(), *buckets())
    assert 'refused by the API server: XBucket: unknown field "status.buckets"' in printed

"""A Composition of buckets, dumps of clusters with its XRs, and plans of its changes."""

from pathlib import Path

import pytest
from support import one_step

from function_script import cli, documents
from function_script.documents import to_yaml_stream
from function_script.request.values import Object
from function_script.texts.source import Source

COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: buckets
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XBucket}
  mode: Pipeline
  pipeline:
  - step: render
    functionRef: {name: function-script}
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: JinjaTemplate
      inline: |
        {% for i in range(spec.count) %}
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          annotations:
            script.fn.crossplane.io/composition-resource-name: bucket-{{ i }}
        spec:
          region: {{ spec.region }}
          size: 1
        {% endfor %}
"""
_PROPERTIES = "{count: {type: integer}, region: {type: string}}"


def _xrd(kind: str) -> Object:
    """The XRD of a cluster-scoped kind of XRs."""
    spec = f"spec: {{type: object, properties: {_PROPERTIES}}}"
    text = one_step.xrd(spec, kind).replace("\nspec:", "\nspec:\n  scope: Cluster", 1)
    (document,) = documents.read_source(Source(name="xrd.yaml", text=text))
    return {**document.value, "metadata": {"name": f"{kind.lower()}s.example.org", "uid": "xrd"}}


XRD: Object = _xrd("XBucket")


def _reference(kind: str, name: str, **more: object) -> dict[str, object]:
    group = "s3.example.org" if kind == "Bucket" else "example.org"
    return {"apiVersion": f"{group}/v1", "kind": kind, "name": name, **more}


def xr(name: str = "demo", count: int = 2, **crossplane: object) -> Object:
    """A live XR with references to what it composes."""
    return {
        "apiVersion": "example.org/v1",
        "kind": "XBucket",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {"crossplane.io/composite": name},
        },
        "spec": {
            "count": count,
            "region": "eu",
            "crossplane": {
                "compositionRef": {"name": "buckets"},
                "resourceRefs": [
                    _reference("Bucket", f"{name}-{number}") for number in range(count)
                ],
                **crossplane,
            },
        },
    }


def buckets(name: str = "demo", count: int = 2) -> list[Object]:
    """The composed resources of an XR."""
    owner = _reference("XBucket", name, uid=f"uid-{name}", controller=True)
    return [
        {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "metadata": {
                "name": f"{name}-{number}",
                "uid": f"uid-{name}-{number}",
                "annotations": {"crossplane.io/composition-resource-name": f"bucket-{number}"},
                "ownerReferences": [owner],
            },
            "spec": {"region": "eu", "size": 1},
        }
        for number in range(count)
    ]


_HEAD = COMPOSITION[: COMPOSITION.index("        {% for")]
OUTER = (
    _HEAD.replace("name: buckets", "name: outer").replace("XBucket", "XOuter")
    + """\
        apiVersion: example.org/v1
        kind: XBucket
        metadata:
          annotations:
            script.fn.crossplane.io/composition-resource-name: inner
        spec:
          count: 2
          region: eu
"""
)


def nested() -> list[Object]:
    """An XR that composes the usual one."""
    inner = xr()
    metadata = inner["metadata"]
    assert isinstance(metadata, dict)
    metadata["annotations"] = {"crossplane.io/composition-resource-name": "inner"}
    metadata["labels"] = {"crossplane.io/composite": "top"}
    metadata["ownerReferences"] = [_reference("XOuter", "top", uid="t", controller=True)]
    crossplane = {
        "compositionRef": {"name": "outer"},
        "resourceRefs": [_reference("XBucket", "demo")],
    }
    outer: Object = {
        "apiVersion": "example.org/v1",
        "kind": "XOuter",
        "metadata": {"name": "top", "uid": "t"},
        "spec": {"crossplane": crossplane},
    }
    return [_xrd("XOuter"), outer, inner, *buckets()]


def change(project: Path, *edits: tuple[str, str]) -> None:
    """Edit the new Composition."""
    text = COMPOSITION
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    (project / "new" / "composition.yaml").write_text(text)


def plan(
    capsys: pytest.CaptureFixture[str],
    *manifests: Object,
    flags: tuple[str, ...] = (),
    code: int = 0,
) -> str:
    """Plan the change for a dump of these objects; return what is printed."""
    Path("dump.yaml").write_text(to_yaml_stream([XRD, *manifests]))
    args = ["plan", "new", "--cluster", "dump.yaml", "--before", "old", *flags]
    printed_code = cli.execute(args)
    output = capsys.readouterr()
    assert printed_code == code, output.err
    return output.out


DETAILS = {"writeConnectionSecretToRef": {"name": "password", "namespace": "default"}}
CROSSPLANE = "apiextensions.crossplane.io/composed/abc"
SIZE = {"f:region": {}, "f:size": {}}


def managed(*owners: tuple[str, dict[str, object]], **spec: object) -> list[Object]:
    """The one composed resource, with the fields of its spec that each manager has."""
    (bucket,) = buckets(count=1)
    metadata = bucket["metadata"]
    assert isinstance(metadata, dict)
    metadata["managedFields"] = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": "s3.example.org/v1",
            "fieldsV1": {"f:spec": fields},
        }
        for manager, fields in owners
    ]
    bucket["spec"] = {"region": "eu", "size": 1, **spec}
    return [bucket]


def crd(**size: object) -> Object:
    """The CRD of buckets; ``size`` is more of the schema of that field."""
    properties = {"region": {"type": "string"}, "size": {"type": "integer", **size}}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "buckets.s3.example.org"},
        "spec": {
            "group": "s3.example.org",
            "names": {"kind": "Bucket", "plural": "buckets"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        },
    }

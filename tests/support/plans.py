"""A Composition of buckets, dumps of clusters with its XRs, and plans of its changes."""

import json
from pathlib import Path
from typing import cast

import yaml
from support import one_step
from support.commands import Printed, Run

from function_script.documents import to_yaml_stream
from function_script.request.values import Object

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


def _read(text: str) -> Object:
    value: Object = yaml.load(text, yaml.CSafeLoader)
    return value


def _xrd(kind: str) -> Object:
    """The XRD of a cluster-scoped kind of XRs."""
    spec = f"spec: {{type: object, properties: {_PROPERTIES}}}"
    text = one_step.xrd(spec, kind).replace("\nspec:", "\nspec:\n  scope: Cluster", 1)
    return {**_read(text), "metadata": {"name": f"{kind.lower()}s.example.org", "uid": "xrd"}}


XRD: Object = _xrd("XBucket")


def _reference(kind: str, name: str, **more: object) -> dict[str, object]:
    group = "s3.example.org" if kind == "Bucket" else "example.org"
    return {"apiVersion": f"{group}/v1", "kind": kind, "name": name, **more}


def xr(name: str = "demo", count: int = 2, **crossplane: object) -> Object:
    """A live XR with references to what it composes."""
    references = [_reference("Bucket", f"{name}-{number}") for number in range(count)]
    machinery = {"compositionRef": {"name": "buckets"}, "resourceRefs": references, **crossplane}
    labels = {"crossplane.io/composite": name}
    return {
        "apiVersion": "example.org/v1",
        "kind": "XBucket",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"count": count, "region": "eu", "crossplane": machinery},
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


HEAD = COMPOSITION[: COMPOSITION.index("        {% for")]
"""The Composition as far as the text of its template."""
OUTER = (
    HEAD.replace("name: buckets", "name: outer").replace("XBucket", "XOuter")
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
    inner["metadata"] |= {
        "annotations": {"crossplane.io/composition-resource-name": "inner"},
        "labels": {"crossplane.io/composite": "top"},
        "ownerReferences": [_reference("XOuter", "top", uid="t", controller=True)],
    }
    references = [_reference("XBucket", "demo")]
    machinery = {"compositionRef": {"name": "outer"}, "resourceRefs": references}
    outer: Object = {
        "apiVersion": "example.org/v1",
        "kind": "XOuter",
        "metadata": {"name": "top", "uid": "t"},
        "spec": {"crossplane": machinery},
    }
    return [_xrd("XOuter"), outer, inner, *buckets()]


class Plan:
    """A project with the Composition before a change in ``old`` and after it in ``new``."""

    def __init__(self, run: Run, directory: Path) -> None:
        self._run = run
        self.directory = directory
        for name in ("old", "new"):
            (directory / name).mkdir()
        self.write("composition.yaml", COMPOSITION)

    def write(self, name: str, before: str, after: str | None = None) -> None:
        """Write a file of both sides, which are the same unless the second is given."""
        (self.directory / "old" / name).write_text(before)
        (self.directory / "new" / name).write_text(before if after is None else after)

    def change(self, *edits: tuple[str, str], before: str = COMPOSITION) -> None:
        """Edit the new Composition."""
        after = before
        for text, other in edits:
            assert text in after
            after = after.replace(text, other)
        self.write("composition.yaml", before, after)

    def __call__(self, *manifests: Object, flags: tuple[str, ...] = (), code: int = 0) -> str:
        """Plan the change for a dump of these objects and their XRD; return what is printed."""
        has_xrd = any(each["metadata"] == XRD["metadata"] for each in manifests)
        dump = to_yaml_stream(manifests if has_xrd else [XRD, *manifests])
        return self.of_dump(dump, "--before", "old", *flags, code=code).out

    def of_dump(self, dump: str, *flags: str, code: int = 0) -> Printed:
        """Plan the change for a dump with this text; return what is printed."""
        (self.directory / "dump.yaml").write_text(dump)
        return self._run("plan", "new", "--cluster", "dump.yaml", *flags, code=code)

    def find_rows(self, *manifests: Object, flags: tuple[str, ...] = ()) -> list[Object]:
        """Plan the change; return the XRs of the report in JSON."""
        report = json.loads(self(*manifests, flags=("-o", "json", *flags)))
        return cast("list[Object]", report["xrs"])


def details(name: str = "password") -> list[Object]:
    """The composed resources, one of which has connection details in a Secret."""
    live = buckets()
    reference = {"name": name, "namespace": "default"}
    live[0]["spec"] = {"writeConnectionSecretToRef": reference, "region": "eu", "size": 1}
    return live


CROSSPLANE = "apiextensions.crossplane.io/composed/abc"
SIZE = {"f:region": {}, "f:size": {}}


def list_fields(value: object) -> Object:
    """The set of all fields of a value; lists of texts have their values as items, or nothing."""
    if isinstance(value, dict):
        return {f"f:{key}": list_fields(item) for key, item in value.items() if item != []}
    items = value if isinstance(value, list) else []
    return {f'v:"{item}"': {} for item in items if isinstance(item, str)}


def applied(manager: str, fields: Object, api_version: object = "s3.example.org/v1") -> Object:
    """An entry of managedFields."""
    entry: Object = {"manager": manager, "operation": "Apply", "apiVersion": api_version}
    return {**entry, "fieldsV1": fields}


def managed(*owners: tuple[str, Object], **spec: object) -> Object:
    """The one composed resource, with the fields of its spec that each manager has."""
    (bucket,) = buckets(count=1)
    entries = [applied(manager, {"f:spec": fields}) for manager, fields in owners]
    metadata = {**cast("Object", bucket["metadata"]), "managedFields": entries}
    return {**bucket, "metadata": metadata, "spec": {"region": "eu", "size": 1, **spec}}


def crd(properties: Object | None = None, **size: object) -> Object:
    """The CRD of buckets with more fields of their spec; ``size`` is more of that schema."""
    fields = json.dumps(
        {"region": {"type": "string"}, "size": {"type": "integer", **size}, **(properties or {})}
    )
    text = one_step.crd(f"spec: {{type: object, properties: {fields}}}", "Bucket", "s3.example.org")
    return _read(text)

"""Requests to function-go-templating in its own apiVersion, and responses in a form to compare."""

import json
from dataclasses import dataclass, field
from typing import cast

import yaml
from google.protobuf import json_format, struct_pb2
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

TABLE = ROOT / "tests" / "conformance" / "gotemplating" / "cases.yaml"
API_VERSION = "gotemplating.fn.crossplane.io/v1beta1"
META = "meta.gotemplating.fn.crossplane.io/v1alpha1"
TAG = "a-tag"
# The first fields of inputs in public Compositions, and of inputs that Go marshals.
HEADS: dict[str, Object] = {
    "its own": {"apiVersion": API_VERSION, "kind": "GoTemplate"},
    "as Go marshals it": {"metadata": {}, "ttl": ""},
    "template.fn": {"apiVersion": "template.fn.crossplane.io/v1beta1", "kind": "GoTemplate"},
    "gotemplate.fn": {"apiVersion": "gotemplate.fn.crossplane.io/v1beta1", "kind": "GoTemplate"},
    "example.org": {"apiVersion": "example.org/v1", "kind": "GoTemplate", "ttl": ""},
    "another kind": {"apiVersion": API_VERSION, "kind": "GoTemplatingRequest"},
}
XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XR",
    "metadata": {"name": "cool-xr"},
    "spec": {"count": 2},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row of the table: see the table's head. ``want`` is the whole response."""

    name: str
    request: Object
    want: Object
    fatal: tuple[str, ...] = ()
    defaults: dict[str, str] = field(default_factory=dict)
    directory: dict[str, str] = field(default_factory=dict)


def load(head: Object = HEADS["its own"]) -> list[Case]:
    """Load all cases of the table, in its order, with ``head`` in their inputs."""
    return [_case(row, head) for row in yaml.safe_load(TABLE.read_text())["cases"]]


def _case(row: Object, head: Object) -> Case:
    request = _request(row, head)
    stated = cast("Object", row.get("want") or {})
    want: Object = {
        "meta": {"tag": TAG, "ttl": stated.pop("ttl", "60s")},
        **{part: request[part] for part in ("desired", "context") if part in request},
        **stated,
    }
    return Case(
        name=str(row["name"]),
        request=request,
        want=comparable(json_format.ParseDict(want, pb.RunFunctionResponse())),
        fatal=tuple(cast("list[str]", row.get("fatal", ()))),
        defaults=cast("dict[str, str]", row.get("defaults", {})),
        directory=cast("dict[str, str]", row.get("directory", {})),
    )


def _request(row: Object, head: Object) -> Object:
    base: Object = {"meta": {"tag": TAG}, "observed": {"composite": {"resource": XR}}}
    base["desired"] = base["observed"]
    own = row.get("input", {})
    if own is not None:
        base["input"] = {**head, "source": "Inline", **_template(row), **cast("Object", own)}
    base |= cast("Object", row.get("request", {}))
    return {part: value for part, value in base.items() if value is not None}


def _template(row: Object) -> Object:
    if "objects" not in row:
        return {}
    objects = cast("list[Object]", row["objects"])
    return {"inline": {"template": "".join(json.dumps(value) for value in objects)}}


def request(case: Case, directory: str) -> pb.RunFunctionRequest:
    """Return the case's request, with its files below ``directory``."""
    text = json.dumps(case.request).replace("@DIR@", directory)
    return json_format.Parse(text, pb.RunFunctionRequest())


def comparable(response: pb.RunFunctionResponse) -> Object:
    """Return the response as plain data, without a desired XR that is empty."""
    if response.desired.composite == pb.Resource(resource=struct_pb2.Struct()):
        response.desired.ClearField("composite")
    if not response.desired.ByteSize():
        response.ClearField("desired")
    value: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    return value

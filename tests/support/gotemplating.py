"""Requests to function-go-templating in its own apiVersion, and responses in a form to compare."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

import yaml
from google.protobuf import json_format, struct_pb2
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.step import function

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
    """A row of a table: see the table's head. ``want`` is the whole response."""

    name: str
    request: Object
    want: Object
    fatal: tuple[str, ...] = ()
    defaults: dict[str, str] = field(default_factory=dict)
    directory: dict[str, str] = field(default_factory=dict)


def load(head: Object = HEADS["its own"]) -> list[Case]:
    """Load all cases of the table, in its order, with ``head`` in their inputs."""
    return [to_case(row, {**head, "source": "Inline", **_template(row)}) for row in _rows()]


@cache
def _rows() -> list[Object]:
    return cast("list[Object]", yaml.load(TABLE.read_text(), yaml.CSafeLoader)["cases"])


def to_case(row: Object, step_input: Object) -> Case:
    """Make a case of a row; its own input's fields stand over those of ``step_input``."""
    request = _request(row, step_input)
    stated = dict(cast("Object", row.get("want") or {}))
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


def _request(row: Object, step_input: Object) -> Object:
    base: Object = {"meta": {"tag": TAG}, "observed": {"composite": {"resource": XR}}}
    base["desired"] = base["observed"]
    own = row.get("input", {})
    if own is not None:
        base["input"] = {**step_input, **cast("Object", own)}
    base |= cast("Object", row.get("request", {}))
    return {part: value for part, value in base.items() if value is not None}


def _template(row: Object) -> Object:
    if "objects" not in row:
        return {}
    objects = cast("list[Object]", row["objects"])
    return {"inline": {"template": "".join(json.dumps(value) for value in objects)}}


def run(case: Case, directory: Path) -> pb.RunFunctionResponse:
    """Return the response; files of the case are below ``directory``."""
    for name, text in case.directory.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    text = json.dumps(case.request).replace("@DIR@", str(directory))
    limits = Limits(
        program_root=str(directory),
        default_source=case.defaults.get("source", ""),
        default_options=case.defaults.get("options", ""),
    )
    request = json_format.Parse(text, pb.RunFunctionRequest())
    answer = function.handle(request.SerializeToString(), limits, lambda _: None)
    return pb.RunFunctionResponse.FromString(answer.response)


def check(case: Case, directory: Path) -> None:
    """The response is that of the table; a fatal one is the request with one result, no TTL."""
    response = run(case, directory)
    results = list(response.results)
    del response.results[:]
    if case.fatal:
        assert response.meta.HasField("ttl")
        assert response.meta.ttl.ToSeconds() == 0
        response.meta.ttl.FromSeconds(60)
        (result,) = results
        assert result.severity == pb.SEVERITY_FATAL
        for text in case.fatal:
            assert text.replace("@DIR@", str(directory)).lower() in result.message.lower()
    else:
        assert results == []
        if find_path(case.want, "meta.ttl") == "60s" and "60s" not in str(case.request):
            # That function's default; here it is by the cause.
            seconds = 60 if case.directory else 3240
            assert response.meta.ttl.ToSeconds() == 10 or response.meta.ttl.ToSeconds() >= seconds
            response.meta.ttl.FromSeconds(60)
    assert comparable(response) == case.want


def comparable(response: pb.RunFunctionResponse) -> Object:
    """Return the response as plain data, without a desired XR that is empty."""
    if response.desired.composite == pb.Resource(resource=struct_pb2.Struct()):
        response.desired.ClearField("composite")
    if not response.desired.ByteSize():
        response.ClearField("desired")
    value: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    return value

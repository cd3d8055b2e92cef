"""Make requests for tests from short plain data, with protobuf itself, and read responses back."""

from google.protobuf import json_format

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function

API_VERSION = "script.fn.crossplane.io/v1beta1"
PEER_VERSION = "gotemplating.fn.crossplane.io/v1beta1"
NAME_KEY = "script.fn.crossplane.io/composition-resource-name"
"""The annotation with the name of a composed resource."""
XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XThing",
    "metadata": {"name": "demo", "namespace": "here", "uid": "8a4c2f0e"},
    "spec": {"count": 2, "size": "small"},
}


def observed(name: str) -> Object:
    """Observed state with an XR of that name, for whom what other XRs did makes no difference."""
    return {"composite": {"resource": {**XR, "metadata": {"name": name}}}}


def composed(name: str, **spec: object) -> Object:
    """A small composed resource."""
    return {
        "apiVersion": "example.org/v1",
        "kind": "Thing",
        "metadata": {"labels": {"name": name}},
        "spec": dict(spec),  # type: ignore[dict-item] # tests pass plain values only
    }


def starlark(script: str, **fields: object) -> Object:
    """A StarlarkScript input."""
    base = {"apiVersion": API_VERSION, "kind": "StarlarkScript", "script": script}
    return {**base, **fields}  # type: ignore[dict-item] # tests pass plain values only


def jinja(inline: str, **fields: object) -> Object:
    """A JinjaTemplate input."""
    base = {"apiVersion": API_VERSION, "kind": "JinjaTemplate", "inline": inline}
    return {**base, **fields}  # type: ignore[dict-item] # tests pass plain values only


def gotemplate(inline: str, **fields: object) -> Object:
    """A GoTemplate input."""
    return {**jinja(inline, **fields), "kind": "GoTemplate"}


def peer(template: str, **fields: object) -> Object:
    """An input of function-go-templating."""
    head = {"apiVersion": PEER_VERSION, "kind": "GoTemplate", "source": "Inline"}
    return {**head, "inline": {"template": template}, **fields}  # type: ignore[dict-item] # tests pass plain values only


def document(name: str, rest: str = "spec: {}\n", **annotations: str) -> str:
    """A document of a composed resource; ``annotations`` are this function's."""
    keys = {"composition-resource-name": name, **annotations}
    lines = [
        f'    script.fn.crossplane.io/{key.replace("_", "-")}: "{value}"\n'
        for key, value in keys.items()
    ]
    head = "---\napiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
    return head + "".join(lines) + rest


def request(step_input: Object | None = None, **parts: object) -> pb.RunFunctionRequest:
    """A RunFunctionRequest; ``parts`` in protobuf JSON, by default an observed XR and a tag."""
    whole: dict[str, object] = {
        "meta": {"tag": "a-tag"},
        "observed": {"composite": {"resource": XR}},
        "desired": {},
        "context": {},
        **parts,
    }
    if step_input is not None:
        whole["input"] = step_input
    return json_format.ParseDict(whole, pb.RunFunctionRequest())


def required(name: str, *items: Object) -> Object:
    """Required resources of a request: the objects that were found for a requirement."""
    return {name: {"items": [{"resource": item} for item in items]}}


def call(
    message: pb.RunFunctionRequest, limits: Limits | None = None, seed: bytes = b""
) -> pb.RunFunctionResponse:
    """The response, in this process and without a sandbox."""
    data = message.SerializeToString()
    answer = function.handle(data, limits or Limits(), lambda _: None, seed)
    return pb.RunFunctionResponse.FromString(answer.response)


def fatal(response: pb.RunFunctionResponse) -> str:
    """The message of the only result, which stops the step: nothing may keep such an answer."""
    (result,) = response.results
    assert result.severity == pb.SEVERITY_FATAL
    assert response.meta.ttl.ToTimedelta().total_seconds() == 0
    return result.message


def to_dict(message: pb.RunFunctionResponse) -> Object:
    """Protobuf JSON with the protocol's field names."""
    value: Object = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return value

"""Build, run and judge steps in the apiVersion of function-go-templating."""

from google.protobuf import json_format
from support.builders import fatal
from support.gotemplating import API_VERSION, META, XR

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function

PREFIX = "gotemplating.fn.crossplane.io"
EXTRA = "apiextensions.crossplane.io/extra-resources"
XR_HEAD = "apiVersion: example.org/v1\nkind: XR\n"


def request(*templates: str, fields: Object | None = None, **parts: object) -> bytes:
    """Return a request with templates; ``fields`` are its input's, ``parts`` its own."""
    inline: Object = (
        {"template": templates[0]} if len(templates) == 1 else {"templates": [*templates]}
    )
    head: Object = {"apiVersion": API_VERSION, "kind": "GoTemplate", "source": "Inline"}
    whole = {"observed": {"composite": {"resource": XR}}, **parts}
    whole["input"] = {**head, "inline": inline, **(fields or {})}
    return json_format.ParseDict(whole, pb.RunFunctionRequest()).SerializeToString()


def respond(data: bytes, limits: Limits | None = None) -> pb.RunFunctionResponse:
    """Return the response."""
    answer = function.handle(data, limits or Limits(), lambda _: None)
    return pb.RunFunctionResponse.FromString(answer.response)


def run(*templates: str, **parts: object) -> pb.RunFunctionResponse:
    """Return the response to a request that must succeed."""
    response = respond(request(*templates, **parts))
    assert [result.message for result in response.results] == []
    return response


def refusal(*templates: str, **parts: object) -> str:
    """Return the message of the only result, which is FATAL; nothing else is in the response."""
    response = respond(request(*templates, **parts))
    assert not response.HasField("requirements")
    assert not response.conditions
    return fatal(response)


def warnings(*templates: str, **parts: object) -> list[str]:
    """Return the warnings of a response that has no other results."""
    results = respond(request(*templates, **parts)).results
    assert {result.severity for result in results} <= {pb.SEVERITY_WARNING}
    return [result.message for result in results]


def composed(name: str, rest: str = "") -> str:
    """Return the document of a composed resource; ``rest`` follows its annotations."""
    key = f"{PREFIX}/composition-resource-name"
    return f"---\napiVersion: v1\nkind: CD\nmetadata:\n  annotations:\n    {key}: {name}\n{rest}"


def meta(kind: str, rest: str) -> str:
    """Return a meta document."""
    return f"---\napiVersion: {META}\nkind: {kind}\n{rest}\n"


def extra(selector: str) -> str:
    """Return a document that requires ``things``."""
    return meta("ExtraResources", f"requirements:\n  things: {{{selector}}}")

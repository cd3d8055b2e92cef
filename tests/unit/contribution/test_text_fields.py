"""Fields of Kubernetes objects that hold texts: what is refused before the API server does it."""

import pytest
from support.builders import call, request, starlark

from function_script.request.values import Object, Value


def refusal(resource: Object) -> str:
    """Return why a resource of a script is refused; "" where it is not."""
    desired: Object = {"resources": {"a": {"resource": resource}}}
    response = call(request(starlark(f"def main(req):\n    return {{'desired': {desired}}}\n")))
    return "".join(result.message for result in response.results)


def resource(api_version: Value, kind: Value, **fields: Value) -> Object:
    return {"apiVersion": api_version, "kind": kind, **fields}


def secret(text: str) -> Object:
    return resource("v1", "Secret", data={"a": text})


POD: Object = {"containers": [{"env": [{"name": "A", "value": 1}]}]}
TEMPLATE: Object = {"template": {"spec": POD}}
ODD: Value = [None, {"env": "x"}, {"env": [{"name": "A"}]}]
NUMBER = "must be a string, not an integer"
ENV = "containers[0].env[0].value"
REFUSED = {
    **{text: (secret(text), "data.a: must be base64")
       for text in ("hunter2!", "abc", "YQ", "a b c d ", "YQ==YQ==")},
    "number": (resource("v1", "ConfigMap", data={"a": 1}), f"data.a: {NUMBER}"),
    "boolean": (
        resource("v1", "Secret", stringData={"a": True}),
        "stringData.a: must be a string, not a boolean",
    ),
    "pod": (resource("v1", "Pod", spec=POD), f"spec.{ENV}: {NUMBER}"),
    "deployment": (
        resource("apps/v1", "Deployment", spec=TEMPLATE),
        f"spec.template.spec.{ENV}: {NUMBER}",
    ),
    "cron job": (
        resource("batch/v1", "CronJob", spec={"jobTemplate": {"spec": TEMPLATE}}),
        f"spec.jobTemplate.spec.template.spec.{ENV}: {NUMBER}",
    ),
    "name": (resource("v1", "A", metadata={"name": 1}), f"metadata.name: {NUMBER}"),
    "namespace": (resource("v1", "A", metadata={"namespace": 1}), f"metadata.namespace: {NUMBER}"),
    "null": (resource("v1", "A", metadata={"annotations": {"a": None}}), "leave the key out"),
    "type that is no text": (resource("v1", ["a"], data={"a": 1}), "kind: must be a string"),
}  # fmt: skip
ACCEPTED = {
    **{text: secret(text) for text in ("", "aGk=", "aGVsbG8=", "aGVs\nbG8=\n", "YQ==")},
    "null": resource("v1", "ConfigMap", data={"a": None}),
    "plain text": resource("v1", "Secret", stringData={"a": "plain"}),
    "other group": resource("example.org/v1", "Secret", data={"a": 1}),
    "text": resource("v1", "Secret", data="x"),
    "no template": resource("apps/v1", "Deployment", spec={"template": None}),
    "list": resource("apps/v1", "Deployment", spec={"template": {"spec": []}}),
    "odd containers": resource("v1", "Pod", spec={"containers": ODD}),
}


@pytest.mark.parametrize(("resource", "problem"), REFUSED.values(), ids=REFUSED)
def test_value_that_is_no_text_is_refused(resource: Object, problem: str) -> None:
    assert problem in refusal(resource)


@pytest.mark.parametrize("resource", ACCEPTED.values(), ids=ACCEPTED)
def test_text_and_what_others_judge_is_accepted(resource: Object) -> None:
    assert refusal(resource) == ""

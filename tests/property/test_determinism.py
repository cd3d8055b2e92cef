"""Neither the order of maps in a request nor the seed of Python's hashes changes a response."""

import os
import random
import subprocess
import sys

import pytest
from google.protobuf import json_format
from support.builders import XR, jinja, request, starlark

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.step import function

WORDS = ["zone", "app", "team", "cost", "stage", "b", "a"]
JINJA = """
{% for name, entry in observed.resources.items() %}
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: "{{ name }}"}
data:
  order: "{{ entry.resource.metadata.labels | join(',') }}"
  params: "{{ params | join(',') }}"
  context: "{{ context | join(',') }}"
{% endfor %}
"""
STARLARK = """
def main(req):
    resources = {}
    for name, entry in req["observed"]["resources"].items():
        data = {
            "order": ",".join(entry["resource"]["metadata"]["labels"].keys()),
            "params": ",".join(req["params"].keys()),
            "context": ",".join(req["context"].keys()),
        }
        resources[name] = {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "data": data}}
    return {"desired": {"resources": resources}}
"""

HANDLE = """
import sys
from function_script.request.limits import Limits
from function_script.step import function
answer = function.handle(sys.stdin.buffer.read(), Limits(), lambda _: None)
sys.stdout.buffer.write(answer.response)
"""
MACRO = "{% macro m(name) %}{{ name }}{% endmacro %}{{ m(zone=1, team=2, cost=3, stage=4) }}"


def shuffled(value: object, seed: random.Random) -> object:
    """Return the data with the entries of every map in another order."""
    if isinstance(value, dict):
        keys = list(value)
        seed.shuffle(keys)
        return {key: shuffled(value[key], seed) for key in keys}
    return [shuffled(item, seed) for item in value] if isinstance(value, list) else value


def encoded(value: object) -> bytes:
    """Encode a request with its maps in the order of the dicts: Go sends them in any order."""
    message = json_format.ParseDict(value, pb.RunFunctionRequest())  # type: ignore[arg-type] # it is a dict
    return message.SerializeToString()


@pytest.mark.parametrize(
    "step_input",
    [
        jinja(JINJA, params=dict.fromkeys(WORDS, 1)),
        starlark(STARLARK, params=dict.fromkeys(WORDS, 1)),
    ],
    ids=["jinja", "starlark"],
)
def test_response_is_independent_of_map_order(step_input: dict[str, object]) -> None:
    """The same request in fifty orders gives the same bytes."""
    labels = dict.fromkeys(WORDS, "x")
    thing = {"apiVersion": "v1", "kind": "Thing", "metadata": {"labels": labels}}
    whole = json_format.MessageToDict(
        request(
            step_input,  # type: ignore[arg-type] # plain data
            observed={
                "composite": {"resource": XR},
                "resources": {word: {"resource": thing} for word in WORDS},
            },
            context={word: {"deep": 1} for word in WORDS},
        )
    )
    responses = set()
    for number in range(50):
        data = encoded(shuffled(whole, random.Random(number)))  # noqa: S311 - reproducible orders, not secrets
        answer = function.handle(data, Limits(), lambda _: None)
        assert answer.diagnostics == ()
        response = pb.RunFunctionResponse.FromString(answer.response)
        response.ClearField("context")  # passed through in the order it came
        responses.add(response.SerializeToString(deterministic=True))
    assert len(responses) == 1


@pytest.mark.parametrize(
    "step_input",
    [
        starlark('def main(req):\n    return {"ttl": 1, "composite": {}, "resources": {}}'),
        starlark(STARLARK, params=dict.fromkeys(WORDS, 1)),
        jinja(MACRO),
    ],
    ids=["misplaced fields", "maps", "arguments of a macro"],
)
def test_response_is_independent_of_hash_seed(step_input: dict[str, object]) -> None:
    """Two processes with seeds of their own give the same bytes."""
    data = request(step_input, context=dict.fromkeys(WORDS, 1)).SerializeToString()  # type: ignore[arg-type] # plain data
    responses = {
        subprocess.run(
            [sys.executable, "-c", HANDLE],
            input=data,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "4")
    }
    assert len(responses) == 1

"""Warm-up: the requests that a zygote evaluates before it forks workers, one for each language."""

from __future__ import annotations

from google.protobuf import json_format

from function_script.inputs.kinds import API_VERSION
from function_script.proto.v1 import run_function_pb2 as pb

_XR = {"apiVersion": "example.org/v1", "kind": "XRehearsal", "metadata": {"name": "rehearsal"}}
_SCRIPT = """
def main(req):
    name = req["observed"]["composite"]["resource"]["metadata"]["name"]
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name}}
    return {"desired": {"resources": {"rehearsal": {"resource": resource}}}}
"""
_DOCUMENT = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: rehearsal
data:
  name: %s
"""
_INPUTS = (
    {"kind": "StarlarkScript", "script": _SCRIPT},
    {"kind": "JinjaTemplate", "inline": _DOCUMENT % "{{ 1 + 1 }}"},
    {"kind": "GoTemplate", "inline": _DOCUMENT % '{{ printf "%d" 1 }}'},
)


def build_requests() -> tuple[bytes, ...]:
    """Return the encoded requests."""
    observed = {"composite": {"resource": _XR}}
    documents = [
        {"observed": observed, "input": {"apiVersion": API_VERSION, **step_input}}
        for step_input in _INPUTS
    ]
    return tuple(
        json_format.ParseDict(document, pb.RunFunctionRequest()).SerializeToString()
        for document in documents
    )

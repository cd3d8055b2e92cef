"""The places where a request has secrets, each with the same one, and captures of requests."""

import base64
import json
from pathlib import Path

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import capture
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function
from function_script.tools.cases import command, model
from function_script.tools.cases.runner import RunOptions
from function_script.tools.cases.verdicts import CaseVerdict

MARKER = "hunter2-marker"
PLAIN = "def main(req):\n    return {}\n"


def to_base64(text: str) -> str:
    """Return a text as the data of a Secret has it."""
    return base64.b64encode(text.encode()).decode()


ENCODED = to_base64(MARKER)
SECRET: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
DATA: Object = {"resource": {**SECRET, "data": {"value": ENCODED}}}
TEXT: Object = {"resource": {**SECRET, "stringData": {"value": MARKER}}}
_DETAILS: Object = {"resource": builders.XR, "connection_details": {"value": ENCODED}}
_CREDENTIALS: Object = {"api": {"credential_data": {"data": {"value": ENCODED}}}}
_WRAPPED = f"{ENCODED[:8]}\n{ENCODED[8:]}\n"
OLD = json.dumps({"data": {"value": ENCODED}})
_APPLIED: Object = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": OLD}}
_LIST: Object = {
    "annotations": {"e.org/original": json.dumps({"kind": "List", "items": [DATA["resource"]]})}
}
_TWICE: Object = {
    "annotations": {"a": json.dumps({"metadata": {"annotations": {"b": json.dumps(DATA)}}})}
}
_NESTED: Object = {"kind": "Object", "spec": {"forProvider": {"manifest": DATA["resource"]}}}
PLACES = [
    pytest.param({"credentials": _CREDENTIALS}, id="credentials"),
    pytest.param({"observed": {"composite": _DETAILS}}, id="details of the XR"),
    pytest.param({"desired": {"composite": _DETAILS}}, id="desired details of the XR"),
    pytest.param({"observed": {"resources": {"a": _DETAILS}}}, id="details"),
    pytest.param({"desired": {"resources": {"a": _DETAILS}}}, id="desired details"),
    pytest.param({"required_resources": {"a": {"items": [_DETAILS]}}}, id="required details"),
    pytest.param({"observed": {"resources": {"a": DATA}}}, id="observed Secret"),
    pytest.param({"desired": {"resources": {"a": TEXT}}}, id="desired Secret"),
    pytest.param({"required_resources": {"a": {"items": [DATA]}}}, id="required Secret"),
    pytest.param({"extra_resources": {"a": {"items": [TEXT]}}}, id="extra Secret"),
    pytest.param({"context": {"made": [TEXT["resource"]]}}, id="Secret in context"),
    *(
        pytest.param({"observed": {"resources": {"a": {"resource": resource}}}}, id=name)
        for name, resource in (
            ("Secret in another", _NESTED),
            ("Secret as it was applied before", {**SECRET, "metadata": _APPLIED}),
            ("another annotation of a Secret", {**SECRET, "metadata": {"annotations": {"a": OLD}}}),
            ("Secret in another as it was applied before", {"kind": "O", "metadata": _LIST}),
            ("Secret in a text in a text", {"kind": "O", "metadata": _TWICE}),
            ("base64 in lines", {**SECRET, "data": {"v": _WRAPPED}}),
        )
    ),
]
"""Parts of a request, in protobuf JSON."""


def captured(message: pb.RunFunctionRequest) -> str:
    """Return the case of a request and its response."""
    data = message.SerializeToString()
    answer = function.handle(data, Limits(), lambda _: None)
    return capture.to_case(data, answer.response, answer.diagnostics)


def replayed(text: str, directory: Path) -> CaseVerdict:
    """Run the case, and return the report of `test`."""
    path = directory / "a.case.yaml"
    path.write_text(text)
    (verdict,) = command.run_all(model.find_cases([path]), RunOptions())
    return verdict

"""Built-in functions answer as the real ones: recorded pairs of requests and responses.

The requests are random ones of our own making; the last of each file were answered otherwise here
once. In a FATAL response only severity, desired state and context are compared.
"""

import json
from pathlib import Path

import pytest
from google.protobuf import json_format

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.tools.render import builtin

PAIRS = [
    pytest.param(path.stem, *json.loads(line).values(), id=f"{path.stem}-{number}")
    for path in sorted((Path(__file__).parent / "builtin_functions").glob("*.jsonl"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
]


def _comparable(response: pb.RunFunctionResponse) -> Object:
    value: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    if any(result.severity == pb.SEVERITY_FATAL for result in response.results):
        value = {key: value[key] for key in ("meta", "desired", "context") if key in value}
        value["meta"] = {"tag": response.meta.tag}
        value["results"] = [{"severity": "SEVERITY_FATAL"}]
    return {key: part for key, part in value.items() if part != {}}


@pytest.mark.parametrize(("name", "request_value", "response_value"), PAIRS)
def test_builtin_function_answers_as_the_real_one(
    name: str, request_value: Object, response_value: Object
) -> None:
    function = builtin.FUNCTIONS[name]
    request = json_format.ParseDict(request_value, pb.RunFunctionRequest())
    assert _comparable(builtin.call(function, request).response) == response_value


def test_builtin_function_has_pairs() -> None:
    names = {str(pair.values[0]) for pair in PAIRS}
    assert names == {
        "function-auto-ready",
        "function-environment-configs",
        "function-extra-resources",
    }
    assert len(PAIRS) == 346

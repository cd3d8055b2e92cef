"""The limits of results, conditions and requirements."""

import pytest
from support import gotemplating_steps
from support.builders import call, request, starlark, to_dict

from function_script.proto.v1 import run_function_pb2 as pb

RESULTS = """
def main(req):
    text = "x" * %d
    return {"results": [{"severity": "Warning", "message": text}] * %d}
"""
CONDITIONS = """
def main(req):
    return {"conditions": [
        {"type": "T%%d" %% n, "status": "True", "reason": "R" * %d, "message": "x" * %d}
        for n in range(%d)
    ]}
"""
REQUIREMENTS = """
def main(req):
    kind = {"api_version": "v1", "kind": "ConfigMap"}
    resources = {"r%%d" %% n: dict(kind, match_name = "a") for n in range(%d)}
    schemas = {"s%%d" %% n: kind for n in range(%d)}
    return {"requirements": {"resources": resources, "schemas": schemas}}
"""
MANY_NAMES = """{{ range $n := until 150 }}---
apiVersion: v1
kind: ConfigMap
metadata:
  name: NOT_A_NAME_{{ $n }}
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: thing-{{ $n }}
{{ end }}"""
ALLOWED = [
    pytest.param(REQUIREMENTS % (600, 400), id="requirements"),
    pytest.param(RESULTS % (10, 1_000), id="results"),
    pytest.param(RESULTS % (32 * 1024, 3), id="long messages"),
    pytest.param(CONDITIONS % (5, 10, 100), id="conditions"),
    pytest.param(CONDITIONS % (1024, 32 * 1024, 3), id="long conditions"),
]
REFUSED = [
    pytest.param(
        REQUIREMENTS % (600, 401),
        "cannot return 1,001 requirements: a step may return 1,000",
        id="requirements",
    ),
    pytest.param(
        RESULTS % (1, 1_001), "cannot return 1,001 results: a step may return 1,000", id="results"
    ),
    pytest.param(
        RESULTS % (32 * 1024 + 1, 3),
        "cannot return the message of result 1: it has 32,769 bytes, and 32,768 are allowed",
        id="a long message",
    ),
    pytest.param(
        CONDITIONS % (1, 1, 101),
        "cannot return 101 conditions: a step may return 100",
        id="conditions",
    ),
    pytest.param(
        CONDITIONS % (1025, 1, 1),
        'cannot return the reason of condition "T0": it has 1,025 bytes, and 1,024 are allowed',
        id="a long reason",
    ),
    pytest.param(
        CONDITIONS % (1, 32 * 1024 + 1, 1),
        'cannot return the message of condition "T0": it has 32,769 bytes, and 32,768 are allowed',
        id="a long message of a condition",
    ),
]


@pytest.mark.parametrize("script", ALLOWED)
def test_results_within_limits_are_sent(script: str) -> None:
    response = call(request(starlark(script)))
    severities = {result.severity for result in response.results}
    assert severities <= {pb.SEVERITY_WARNING}
    assert response.results or response.conditions or len(response.requirements.schemas) == 400


@pytest.mark.parametrize(("script", "text"), REFUSED)
def test_results_beyond_limits_are_one_fatal(script: str, text: str) -> None:
    earlier = {"resources": {"earlier": {"resource": {"kind": "A"}}}}
    response = call(request(starlark(script), desired=earlier))
    (fatal,) = response.results
    assert fatal.severity == pb.SEVERITY_FATAL
    assert text in fatal.message
    assert not response.conditions
    assert to_dict(response.desired) == earlier


def test_warnings_of_the_function_beyond_limit_are_dropped() -> None:
    """A template with many odd resources still composes them."""
    response = gotemplating_steps.respond(gotemplating_steps.request(MANY_NAMES))
    assert len(response.desired.resources) == 150
    assert {result.reason for result in response.results} == {"BadName"}
    assert len(response.results) == 100

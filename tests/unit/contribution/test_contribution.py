"""Contributions of scripts and templates in a response."""

import time

from google.protobuf import json_format
from support.builders import NAME_KEY, call, composed, fatal, jinja, request, starlark
from support.timing import stretched


def test_resource_of_script_replaces_and_of_template_merges() -> None:
    """The annotation ``merge`` changes it for a document."""
    earlier = {"resources": {"a": {"resource": composed("a", old=1)}}}
    head = "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
    text = f"{head}    {NAME_KEY}: a\n"
    spec = "spec: {new: 2}\n"
    replace = "    script.fn.crossplane.io/merge: Replace\n"
    entry = '{"resource": {"apiVersion": "example.org/v1", "kind": "Thing", "spec": {"new": 2}}}'
    script = 'def main(req):\n    return {"desired": {"resources": {"a": ' + entry + "}}}\n"
    inputs = (jinja(text + spec), jinja(text + replace + spec), starlark(script))
    responses = [call(request(step_input, desired=earlier)) for step_input in inputs]
    resources = [
        json_format.MessageToDict(response.desired.resources["a"].resource)
        for response in responses
    ]
    specs = [resource["spec"] for resource in resources]
    assert specs == [{"old": 1, "new": 2}, {"new": 2}, {"new": 2}]


def test_fatal_result_of_program_leaves_desired_state() -> None:
    script = starlark(
        "def main(req):\n"
        '    return {"desired": {"resources": {"a": None}}, "context": {"k": 1}, "results": ['
        '{"severity": "Warning", "message": "w"}, {"severity": "Fatal", "message": "no"}]}\n'
    )
    message = request(script, desired={"resources": {"a": {"resource": composed("a")}}})
    response = call(message)
    assert [result.message for result in response.results] == ["w", "no"]
    assert (response.desired, response.context) == (message.desired, message.context)
    assert not response.meta.ttl.seconds


def test_thousands_of_problems_are_told_in_time() -> None:
    """To find the position of each one would take the time limit of the run."""
    entries = '{"r%d" % i: {"x": 1} for i in range(10000)}'
    script = starlark(f'def main(req):\n    return {{"desired": {{"resources": {entries}}}}}\n')
    began = time.process_time()
    message = fatal(call(request(script)))
    assert time.process_time() - began < stretched(0.5)
    assert message.startswith("script:2:")

"""Contributions of scripts and templates in a response."""

import pytest
from google.protobuf import json_format
from support.builders import (
    NAME_KEY,
    XR,
    call,
    composed,
    document,
    fatal,
    jinja,
    request,
    starlark,
)
from support.timing import taking_less

from function_script import documents
from function_script.request.values import Object


def returning(value: Object) -> Object:
    """A StarlarkScript that returns a value."""
    return starlark(f"def main(req):\n    return {value}\n")


def annotated(value: str, helper: str = "") -> Object:
    """A StarlarkScript with an expression as the value of an annotation."""
    body = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"annotations": {{"x": {value}}}}}}}'
    entry = f'{{"a": {{"resource": {body}}}}}'
    main = f'def main(req):\n    return {{"desired": {{"resources": {entry}}}}}\n'
    return starlark(f"{helper}{main}")


POD = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"annotations": {{"{NAME_KEY}": "a"}}}}}}'
REMOVAL = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Removal\nresources: "
# Others are in the catalogue of tests/diagnostics.
INVALID = {
    "another version of the XR": (
        jinja("apiVersion: example.org/v2\nkind: XThing\nstatus: {}\n"),
        "has the XR's kind but not its apiVersion example.org/v1",
    ),
    "the XR's status in another kind": (
        jinja("apiVersion: example.org/v1\nkind: Thing\nstatus: {}\n"),
        "has the XR's apiVersion but not its kind XThing",
    ),
    "an object of the XR's apiVersion": (
        jinja("apiVersion: example.org/v1\nkind: XThings\nspec: {}\n"),
        "(it names the composed resource; give each one a name of its own)",
    ),
    "the result of a function without one": (
        annotated("text()", "def text():\n    x = 1\n"),
        "a string, not null (text returns nothing: write `return value`)",
    ),
    "a misspelt field": (
        annotated('get_xr(req, "metadata.nmae")'),
        'a string, not null (observed.composite.resource.metadata has no "nmae", did you mean',
    ),
    "a field that is null": (
        annotated('get_xr(req, "metadata.zone")'),
        "; leave the key out, or give it a text)",
    ),
    "another null": (annotated("None"), "not null (leave the key out, or give it a text)"),
    "a number that is a default": (
        annotated('get_xr(req, "metadata.nmae", 5)'),
        "not an integer (quote it in YAML, or make it a text in a script)",
    ),
    "an object for a text": (annotated("{}"), "must be a string, not an object"),
    "annotations of misspelt metadata": (
        jinja(POD.replace("metadata", "metadta")),
        f'metadta.annotations["{NAME_KEY}"]: this names no composed resource',
    ),
    "misspelt annotations": (
        jinja(POD.replace("annotations", "annotation")),
        f'metadata.annotation["{NAME_KEY}"]: this names no composed resource',
    ),
    "annotations in the line of their key": (
        jinja(POD.replace('annotations": {"', "annotations:").replace('"a"}', '"a"')),
        "this names no composed resource (begin a line behind `annotations:`)",
    ),
    "a name twice on one line": (jinja(2 * POD), 'resource name "a" is used twice'),
    "unknown field": (
        returning({"desird": {}}),
        'main returned desird: unknown field (did you mean "desired"?)',
    ),
    "a wrong readiness": (
        returning({"desired": {"resources": {"a": {"resource": composed("a"), "ready": "Yes"}}}}),
        'desired.resources.a.ready: must be one of False, True, Unspecified, not "Yes"',
    ),
    "a list for an object": (
        returning({"desired": {"resources": []}}),
        "desired.resources: must be an object, not a list",
    ),
    "an unknown severity": (
        returning({"results": [{"severity": "Waring", "message": "x"}]}),
        'did you mean "Warning"?',
    ),
    "a result without message": (
        returning({"results": [{"severity": "Warning"}]}),
        "results[0].message: is required",
    ),
    "a requirement without a match": (
        returning({"requirements": {"resources": {"a": {"api_version": "v1", "kind": "Secret"}}}}),
        "needs exactly one of match_name and match_labels",
    ),
    "a TTL beyond Go's": (
        returning({"meta": {"ttl": "9999999h"}}),
        "meta.ttl: cannot use duration",
    ),
    "bad base64": (
        returning({"desired": {"composite": {"connection_details": {"a": {"base64": "?"}}}}}),
        "desired.composite.connection_details.a: must be text",
    ),
    "a map for the names of a Removal": (
        jinja(REMOVAL + "{a: null}"),
        "Removal: resources: must be a list of names",
    ),
    "a number for a name of a Removal": (
        jinja(REMOVAL + "[a, 1]"),
        "Removal: resources: must be a list of names",
    ),
    "two problems": (
        returning({"results": [{"severity": "x", "message": "y"}], "output": 3}),
        "; script:2:61: main returned output: must be an object",
    ),
}


@pytest.mark.parametrize(("step_input", "message"), INVALID.values(), ids=INVALID)
def test_invalid_part_is_rejected_with_its_place(step_input: Object, message: str) -> None:
    text = fatal(call(request(step_input)))
    assert message in text
    assert text.startswith(("inline:", "script:"))


def status(*fields: str) -> object:
    """Return the XR's status after documents with a field below ``a`` each."""
    head = f"---\napiVersion: {XR['apiVersion']}\nkind: {XR['kind']}\nstatus:\n  a:\n"
    response = call(request(jinja("".join(f"{head}    {field}\n" for field in fields))))
    return json_format.MessageToDict(response.desired.composite.resource)["status"]


def test_status_of_cached_document_is_not_changed_by_merge() -> None:
    for number in range(3):
        status("b: 1", f"c: {number}")
    assert status("b: 1") == {"a": {"b": 1}}
    assert status("b: 1", "c: 0") == {"a": {"b": 1, "c": 0}}


def test_document_is_remembered_for_few_types_of_xrs() -> None:
    text = document("a")
    for number in range(9):
        xr = {**XR, "kind": f"X{number}"}
        call(request(jinja(text), observed={"composite": {"resource": xr}}))
    (read,) = documents.read_stream(text)
    assert 0 < len(read.derived) <= 2


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
    entries = '{"r%d" % i: {"x": 1} for i in range(4000)}'
    script = starlark(f'def main(req):\n    return {{"desired": {{"resources": {entries}}}}}\n')
    with taking_less(0.5):
        message = fatal(call(request(script)))
    assert message.startswith("script:2:")

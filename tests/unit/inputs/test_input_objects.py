"""References to inputs: which inputs have one, and what becomes of the two objects' fields."""

import pytest

from function_script import inputs
from function_script.inputs import input_objects
from function_script.inputs.step import InputReference
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.problems import Problem, ProblemList

HEAD: Object = {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "JinjaTemplate"}
PLACE: Object = {"name": "network", "namespace": "platform"}
RESOURCE: Object = {**HEAD, **PLACE}


def find(**fields: object) -> InputReference | None:
    """The reference of an input with these fields."""
    value: Object = {**HEAD, **fields}  # type: ignore[dict-item] # plain values
    return input_objects.find(ObjectReader(value, "input", ProblemList()))


def merged(own: Object, stored: Object) -> Object:
    """The whole input without apiVersion and kind."""
    reference = find(inputRef=PLACE, **own)
    assert reference is not None
    whole = input_objects.merge(reference, [stored])
    return {key: part for key, part in whole.items() if key not in HEAD}


@pytest.mark.parametrize(
    "fields",
    [
        {"inline": "a: 1"},
        {"inputRef": None, "inline": "a: 1"},
        {"source": "RequiredResource", "requiredResource": {**RESOURCE, "fieldPath": "inline"}},
        {"source": "RequiredResource", "requiredResource": {**RESOURCE, "main": "main.j2"}},
        {"source": "RequiredResource", "requiredResource": {**RESOURCE, "apiVersion": "v1"}},
        {"source": "RequiredResource", "requiredResource": "network"},
        {"source": "Inline", "requiredResource": RESOURCE},
    ],
)
def test_whole_input_has_no_reference(fields: Object) -> None:
    assert find(**fields) is None
    assert inputs.find_reference({**HEAD, **fields}) is None


def test_both_forms_name_the_same_object() -> None:
    first = find(inputRef=PLACE, ttl="1m")
    second = find(source="RequiredResource", requiredResource=RESOURCE, ttl="1m")
    assert first is not None
    assert second is not None
    assert first.selector == second.selector
    assert first.own_fields == second.own_fields == {**HEAD, "ttl": "1m"}
    assert (first.path, second.path) == ("input.inputRef", "input.requiredResource")
    assert first.origin == second.origin == "JinjaTemplate platform/network"


@pytest.mark.parametrize(
    ("path", "message", "field"),
    [
        ("input.ttl", "input.ttl: is wrong", "input.ttl"),
        ("input.limits.timeout", "limits.timeout: is wrong", "input.inputRef"),
        ('input.modules["a b"]', 'modules["a b"]: is wrong', "input.inputRef"),
        ('input["a b"][0].c', '["a b"][0].c: is wrong', "input.inputRef"),
        ("input.input", "input: is wrong", "input.inputRef"),
    ],
)
def test_problem_names_the_object_that_has_the_field(path: str, message: str, field: str) -> None:
    reference = find(inputRef=PLACE, ttl="soon")
    assert reference is not None
    diagnostic = reference.to_diagnostic(Problem(path, "is wrong", "mend it"))
    origin = "" if field == path else "JinjaTemplate platform/network: "
    assert diagnostic.message == f"{origin}{message}"
    assert (diagnostic.field, diagnostic.hint) == (field, "mend it")


@pytest.mark.parametrize(
    ("own", "stored", "whole"),
    [
        ({}, {"ttl": "1m"}, {"ttl": "1m"}),
        ({"ttl": "2m"}, {"ttl": "1m"}, {"ttl": "2m"}),
        ({"ttl": None}, {"ttl": "1m"}, {}),
        ({"params": {"a": 1}}, {"params": {"b": 2}}, {"params": {"a": 1, "b": 2}}),
        ({"params": {"a": {"b": None}}}, {"params": {"a": {"b": 1}}}, {"params": {"a": {}}}),
        ({"params": {"a": {"b": 1}}}, {"params": {"a": "text"}}, {"params": {"a": {"b": 1}}}),
        ({"params": {"a": [1]}}, {"params": {"a": [2, 3]}}, {"params": {"a": [1]}}),
        ({}, {"params": {"a": None}}, {"params": {"a": None}}),
        ({}, {"metadata": {"name": "x"}, "status": {}, "kind": "JinjaTemplate"}, {}),
    ],
)
def test_own_fields_are_a_merge_patch(own: Object, stored: Object, whole: Object) -> None:
    before = repr(stored)
    assert merged(own, stored) == whole
    assert repr(stored) == before

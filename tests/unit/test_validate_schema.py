from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script.tools import schemas
from function_script.tools.validate import formats, openapi

if TYPE_CHECKING:
    from function_script.values import Object, Value

INT_OR_STRING: Object = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}


def obj(**properties: Value) -> Object:
    """The schema of an object with these fields."""
    return {"type": "object", "properties": properties}


PROBLEMS = [
    pytest.param(
        {"type": "integer"},
        "ten",
        'a: Invalid value: "string": a in body must be of type integer: "string"',
        id="type",
    ),
    pytest.param(
        {"type": "string"},
        ["x"],
        'a: Invalid value: "array": a in body must be of type string: "array"',
        id="list-is-array",
    ),
    pytest.param(
        {"type": "string"},
        None,
        'a: Invalid value: "null": a in body must be of type string: "null"',
        id="null",
    ),
    pytest.param(
        {"type": "string", "enum": ["s", "m"]},
        "xl",
        'a: Unsupported value: "xl": supported values: "s", "m"',
        id="enum",
    ),
    pytest.param(obj() | {"required": ["b"]}, {}, "a.b: Required value", id="required"),
    pytest.param(
        {"type": "integer", "minimum": 1},
        0,
        "a: Invalid value: 0: a in body should be greater than or equal to 1",
        id="minimum",
    ),
    pytest.param(
        {"type": "number", "maximum": 1.5, "exclusiveMaximum": True},
        1.5,
        "a: Invalid value: 1.5: a in body should be less than 1.5",
        id="exclusive-maximum",
    ),
    pytest.param(
        {"type": "string", "pattern": "^[a-z]+$"},
        "A",
        "a: Invalid value: \"A\": a in body should match '^[a-z]+$'",
        id="pattern",
    ),
    pytest.param(
        {"type": "string", "pattern": "^[a-z]+$"},
        "a\n",
        "a: Invalid value: \"a\\n\": a in body should match '^[a-z]+$'",
        id="a-pattern-s-end-is-the-text-s",
    ),
    pytest.param(
        {"type": "string", "maxLength": 3},
        "long",
        'a: Invalid value: "long": a in body should be at most 3 chars long',
        id="length",
    ),
    pytest.param(
        {"type": "array", "minItems": 1},
        [],
        'a: Invalid value: "array": a in body should have at least 1 items',
        id="items",
    ),
    pytest.param(
        {"type": "string", "format": "date-time"},
        "yesterday",
        'a: Invalid value: "yesterday": a in body must be of type date-time: "yesterday"',
        id="format",
    ),
    pytest.param(
        INT_OR_STRING,
        [],
        'a: Invalid value: "array": a in body must be of type integer or string: "array"',
        id="int-or-string-once",
    ),
    pytest.param(
        {"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
        {},
        'a: Invalid value: "object": a in body must validate one and only one schema (oneOf)',
        id="one-of",
    ),
    pytest.param(
        {"type": "object", "not": {"required": ["x"]}},
        {"x": 1},
        'a: Invalid value: "object": a in body must not validate the schema (not)',
        id="not",
    ),
    pytest.param(
        {"type": "object", "x-kubernetes-embedded-resource": True},
        {"apiVersion": "v1"},
        "a.kind: Required value",
        id="embedded-objects-have-a-kind",
    ),
]


@pytest.mark.parametrize(("schema", "value", "message"), PROBLEMS)
def test_problems_are_worded_as_the_api_server_does(
    schema: Object, value: Value, message: str
) -> None:
    """One problem, with the path of its field."""
    found = openapi.problems({"a": value}, obj(a=schema))
    assert [problem.message for problem in found] == [message]
    assert message.startswith(found[0].field)


ALLOWED = [
    pytest.param({"type": "string", "nullable": True}, None, id="nullable"),
    pytest.param({"type": "integer"}, 3.0, id="a-whole-number-is-an-integer"),
    pytest.param(INT_OR_STRING, 3, id="integer"),
    pytest.param(INT_OR_STRING, "30%", id="string"),
    pytest.param(INT_OR_STRING | {"nullable": True, "anyOf": []}, None, id="nullable-either"),
    pytest.param({"type": "string", "format": "unheard-of"}, "x", id="other-format"),
    pytest.param({"type": "string", "pattern": "^(" + "a?" * 600 + ")$"}, "a", id="long-pattern"),
    pytest.param({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {}, id="any"),
]


@pytest.mark.parametrize(("schema", "value"), ALLOWED)
def test_kubernetes_ideas_are_honoured(schema: Object, value: Value) -> None:
    """What differs from JSON Schema is allowed as a cluster allows it."""
    schema = {key: part for key, part in schema.items() if part != []}
    assert openapi.problems({"a": value}, obj(a=schema)) == []


def test_problems_come_in_the_order_of_fields() -> None:
    """All of them, whatever the order in which they were found."""
    schema = obj(b={"type": "string"}, a=obj(x={"type": "string"})) | {"required": ["c"]}
    found = openapi.problems({"b": 1, "a": {"x": 2}}, schema)
    assert [problem.field for problem in found] == ["a.x", "b", "c"]


FORMATS = [
    ("date-time", "2026-01-02T03:04:05Z", "2026-13-02T03:04:05Z"),
    ("date-time", "2026-01-02T03:04:05.5+01:00", "2026-01-02"),
    ("date", "2026-01-02", "02.01.2026"),
    ("duration", "1m30s", "60"),
    ("byte", "aGk=", "a"),
    ("ipv4", "10.0.0.1", "10.0.0.256"),
    ("ipv6", "::1", "10.0.0.1"),
    ("cidr", "10.0.0.0/8", "10.0.0.0/40"),
    ("uuid", "60aa46dc-5505-53e4-a362-4d602bb8f73e", "60aa46dc"),
    ("hostname", "a.example.org", "-a.example.org"),
    ("int32", 2**31 - 1, 2**31),
    ("int64", -(2**63), 2**63),
]


@pytest.mark.parametrize(("name", "good", "bad"), FORMATS)
def test_formats(name: str, good: Value, bad: Value) -> None:
    """A format tells what has it from what has not."""
    assert formats.is_valid(good, name)
    assert not formats.is_valid(bad, name)


DEFAULTS = [
    pytest.param(obj(a={"default": 1}), {}, {"a": 1}, id="absent"),
    pytest.param(obj(a={"default": 1}), {"a": 0}, {"a": 0}, id="present"),
    pytest.param(obj(a={"default": 1}), {"a": None}, {"a": 1}, id="null-is-absent"),
    pytest.param(
        obj(a={"default": 1, "nullable": True}), {"a": None}, {"a": None}, id="null-is-allowed"
    ),
    pytest.param(obj(a={"type": "string"}), {"a": None}, {}, id="null-without-default-goes"),
    pytest.param(obj(a=obj(b={"default": 1})), {}, {}, id="absent-parents-stay-absent"),
    pytest.param(
        obj(a=obj(b={"default": 1}) | {"default": {}}), {}, {"a": {"b": 1}}, id="default-in-default"
    ),
    pytest.param(
        {"additionalProperties": obj(b={"default": 1})}, {"x": {}}, {"x": {"b": 1}}, id="map"
    ),
    pytest.param(
        obj(a={"items": {"default": 7}}), {"a": [None, 1]}, {"a": [7, 1]}, id="items-of-lists"
    ),
    pytest.param(
        obj(a={"items": {"type": "string"}}), {"a": [None]}, {"a": [None]}, id="items-keep-nulls"
    ),
]


@pytest.mark.parametrize(("schema", "value", "expected"), DEFAULTS)
def test_defaults_are_filled_in(schema: Object, value: Object, expected: Object) -> None:
    """As the API server fills them in, before it validates."""
    schemas.add_defaults(value, schema)
    assert value == expected


def test_a_default_is_not_shared() -> None:
    """Two objects never hold the same container."""
    schema = obj(a={"default": {"b": []}})
    first: Object = {}
    second: Object = {}
    schemas.add_defaults(first, schema)
    schemas.add_defaults(second, schema)
    assert first["a"] is not second["a"]


UNKNOWN = [
    pytest.param(obj(a={}), {"b": 1}, ["b"], id="root"),
    pytest.param(obj(a=obj(b={})), {"a": {"c": 1, "b": 1}}, ["a.c"], id="below"),
    pytest.param(obj(a={"items": obj()}), {"a": [{}, {"x": 1}]}, ["a[1].x"], id="in-a-list"),
    pytest.param(obj(), {"apiVersion": "v1", "kind": "X", "metadata": {"x": 1}}, [], id="type"),
    pytest.param(
        obj(a={"x-kubernetes-preserve-unknown-fields": True}), {"a": {"x": {}}}, [], id="preserved"
    ),
    pytest.param(
        obj(a=obj(b=obj()) | {"x-kubernetes-preserve-unknown-fields": True}),
        {"a": {"x": 1, "b": {"y": 1}}},
        ["a.b.y"],
        id="known-fields-of-a-preserved-object",
    ),
    pytest.param({"additionalProperties": obj(b={})}, {"x": {"c": 1}}, ["x.c"], id="map"),
    pytest.param(
        obj(a=obj() | {"x-kubernetes-embedded-resource": True}),
        {"a": {"kind": "X", "metadata": {}, "spec": 1}},
        ["a.spec"],
        id="embedded",
    ),
    pytest.param(obj(a=obj()), {"a": {"kind": "X"}}, ["a.kind"], id="type-of-no-object"),
]


@pytest.mark.parametrize(("schema", "value", "paths"), UNKNOWN)
def test_unknown_fields_are_found(schema: Object, value: Object, paths: list[str]) -> None:
    """What a cluster would drop silently is named, wherever it stands."""
    assert [path for path, _ in schemas.unknown_fields(value, schema)] == paths

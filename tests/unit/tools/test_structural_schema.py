import pytest
from support.validate_helpers import obj

from function_script.request.values import Object
from function_script.texts.errors import LimitError
from function_script.tools import structural_schema

DEFAULTS = {
    "absent": (obj(a={"default": 1}), {}, {"a": 1}),
    "present": (obj(a={"default": 1}), {"a": 0}, {"a": 0}),
    "null-is-absent": (obj(a={"default": 1}), {"a": None}, {"a": 1}),
    "null-is-allowed": (obj(a={"default": 1, "nullable": True}), {"a": None}, {"a": None}),
    "null-without-default-stays": (obj(a={"type": "string"}), {"a": None}, {"a": None}),
    "absent-parents-stay-absent": (obj(a=obj(b={"default": 1})), {}, {}),
    "default-in-default": (obj(a=obj(b={"default": 1}) | {"default": {}}), {}, {"a": {"b": 1}}),
    "map": ({"additionalProperties": obj(b={"default": 1})}, {"x": {}}, {"x": {"b": 1}}),
    "items-of-lists": (obj(a={"items": {"default": 7}}), {"a": [None, 1]}, {"a": [7, 1]}),
    "items-keep-nulls": (obj(a={"items": {"type": "string"}}), {"a": [None]}, {"a": [None]}),
}


@pytest.mark.parametrize(("schema", "value", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults_are_filled_in(schema: Object, value: Object, expected: Object) -> None:
    """The API server fills in defaults before it validates."""
    structural_schema.add_defaults(value, schema)
    assert value == expected


def test_nulls_that_are_not_allowed_are_dropped() -> None:
    """The API server drops them from objects at any depth, and not from lists."""
    text: Object = {"type": "string"}
    value: Object = {"a": None, "b": None, "c": {"d": None}, "e": [None]}
    schema = obj(a=text, b=text | {"nullable": True}, c=obj(d=text), e={"items": text})
    structural_schema.drop_nulls(value, schema)
    assert value == {"b": None, "c": {}, "e": [None]}


def test_default_is_not_shared() -> None:
    """Two objects never hold the same container."""
    schema = obj(a={"default": {"b": []}})
    first: Object = {}
    second: Object = {}
    structural_schema.add_defaults(first, schema)
    structural_schema.add_defaults(second, schema)
    assert first["a"] is not second["a"]


def test_defaults_in_defaults_are_bounded() -> None:
    """Five levels of 20 items are 3.2 million, of 2 KB of schema."""
    schema: Object = {}
    for _ in range(5):
        schema = obj(a={"default": [{}] * 20, "items": schema})
    with pytest.raises(LimitError, match="cannot fill in the defaults of a schema"):
        structural_schema.add_defaults({}, schema)


UNKNOWN = {
    "root": (obj(a={}), {"b": 1}, ["b"]),
    "below": (obj(a=obj(b={})), {"a": {"c": 1, "b": 1}}, ["a.c"]),
    "in-a-list": (obj(a={"items": obj()}), {"a": [{}, {"x": 1}]}, ["a[1].x"]),
    "type": (obj(), {"apiVersion": "v1", "kind": "X", "metadata": {"x": 1}}, []),
    "preserved": (obj(a={"x-kubernetes-preserve-unknown-fields": True}), {"a": {"x": {}}}, []),
    "known-fields-of-a-preserved-object": (
        obj(a=obj(b=obj()) | {"x-kubernetes-preserve-unknown-fields": True}),
        {"a": {"x": 1, "b": {"y": 1}}},
        ["a.b.y"],
    ),
    "map": ({"additionalProperties": obj(b={})}, {"x": {"c": 1}}, ["x.c"]),
    "embedded": (
        obj(a=obj() | {"x-kubernetes-embedded-resource": True}),
        {"a": {"kind": "X", "metadata": {}, "spec": 1}},
        ["a.spec"],
    ),
    "type-of-no-object": (obj(a=obj()), {"a": {"kind": "X"}}, ["a.kind"]),
}


@pytest.mark.parametrize(("schema", "value", "paths"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_fields_are_found(schema: Object, value: Object, paths: list[str]) -> None:
    assert [path for path, _ in structural_schema.unknown_fields(value, schema)] == paths


NESTED = obj(a={"type": "array", "items": obj(b={"additionalProperties": {"type": "string"}})})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param([], NESTED, id="root"),
        pytest.param(["a", 0, "b", "any"], {"type": "string"}, id="field-item-other-field"),
        pytest.param(["a", "b"], None, id="field-of-a-list"),
        pytest.param(["x", "y"], None, id="below-an-unknown-field"),
    ],
)
def test_schema_is_found_by_the_path_of_a_value(
    path: list[str | int], expected: Object | None
) -> None:
    assert structural_schema.find(NESTED, path) == expected

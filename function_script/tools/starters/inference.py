"""Infer a structural schema from an example: one that the example itself is valid by."""

import re
from collections.abc import Sequence
from typing import Final

from function_script.request.values import Object, Value

_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
# Larger numbers pass through Crossplane as doubles.
_MAX_INTEGER: Final = 2**53
_FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def infer(examples: Sequence[Value], *, is_required: bool = True) -> Object:
    """Return a schema by which all examples are valid.

    Fields that all objects have are required, unless ``is_required`` is False. An object with keys
    that are no names of fields, such as labels, is a map. The schema leaves open the values that
    differ in type, and those that are absent: null, empty lists and empty objects.
    """
    values = [value for value in examples if value is not None]
    schema = _infer(values, is_required=is_required)
    if len(values) < len(examples):
        schema["nullable"] = True
    return schema


def infer_fields(examples: Sequence[Object], *, is_required: bool = True) -> Object:
    """Return the schema of objects whose keys are names of fields."""
    names = [*dict.fromkeys(name for each in examples for name in each)]
    schema: Object = {
        "type": "object",
        "properties": {
            name: infer([each[name] for each in examples if name in each], is_required=is_required)
            for name in names
        },
    }
    required: list[Value] = [
        name for name in names if all(each.get(name) is not None for each in examples)
    ]
    if is_required and required:
        schema["required"] = required
    return schema


def _infer(values: Sequence[Value], *, is_required: bool) -> Object:
    types = {_type_of(value) for value in values}
    if types == {"integer", "number"}:
        types = {"number"}
    if types == {"integer", "string"}:
        return {_INT_OR_STRING: True}
    if len(types) != 1:
        return {_PRESERVE: True}
    (type_,) = types
    if type_ == "object":
        return _object([value for value in values if isinstance(value, dict)], is_required)
    if type_ == "array":
        items = [item for value in values if isinstance(value, list) for item in value]
        return {"type": "array", "items": infer(items, is_required=is_required)}
    return {"type": type_}


def _object(objects: Sequence[Object], is_required: bool) -> Object:  # noqa: FBT001 - one caller
    names = [*dict.fromkeys(name for each in objects for name in each)]
    if not names:
        return {"type": "object", _PRESERVE: True}
    if not all(_FIELD_NAME.fullmatch(name) for name in names):
        values = [value for each in objects for value in each.values()]
        return {"type": "object", "additionalProperties": infer(values, is_required=is_required)}
    return infer_fields(objects, is_required=is_required)


def _type_of(value: Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer" if abs(value) < _MAX_INTEGER else "number"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"

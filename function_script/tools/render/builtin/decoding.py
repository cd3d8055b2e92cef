"""Objects of Kubernetes as Go's types decode them, by the schemas of Kubernetes' own kinds."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.go_time import parse_date
from function_script.request import objects, quantities
from function_script.request.values import Object, Value
from function_script.texts.problems import Problem
from function_script.tools import structural_schema

_RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_INT32: Final = 1 << 31
_INT64: Final = 1 << 63


def api_version_and_kind(value: Object) -> tuple[str, str]:
    """Return ``("v1", "Pod")`` as Go reads it: two empty texts for an apiVersion that is none."""
    api_version, kind = objects.api_version_and_kind(value)
    return ("", "") if api_version.count("/") > 1 else (api_version.removeprefix("/"), kind)


def can_decode(value: Value, schema: Object) -> bool:
    """Report whether Go reads ``value`` as this type; unknown and missing fields do no harm."""
    return not find_problems(value, schema)


def find_problems(
    value: Value, schema: Object, path: str = "", *, is_json: bool = False
) -> list[Problem]:
    """Return what Go cannot read as this type; a null is the type's zero.

    ``is_json``: as JSON is decoded, whose integers must fit; others are converted.
    """
    if value is None:
        return []
    marks = (
        structural_schema.PRESERVE,
        structural_schema.INT_OR_STRING,
        structural_schema.QUANTITY,
    )
    kind = next((mark for mark in marks if mark in schema), "")
    kind = kind or str(schema.get("format") or schema["type"])
    is_valid, words = _KINDS["int64" if is_json and kind == "integer" else kind]
    if not is_valid(value):
        return [Problem(path, f"must be {words}")]
    return [
        problem
        for key, part, field in structural_schema.below(value, schema)
        for problem in find_problems(part, field, structural_schema.at(path, key), is_json=is_json)
    ]


def parse_time(text: str) -> int:
    """Return the nanoseconds since 1970 of a time as Kubernetes writes it; raises ValueError."""
    try:
        return parse_date(_RFC3339, text).unix_nanoseconds()
    except CallError as error:
        raise ValueError(str(error)) from error


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Value) -> bool:
    return _is_number(value) and math.trunc(cast("float", value)) == value


def _is_integer_below(value: Value, bound: int) -> bool:
    return _is_integer(value) and -bound <= cast("float", value) < bound


def _is_time(value: Value) -> bool:
    if isinstance(value, str):
        with suppress(ValueError):
            parse_time(value)
            return True
    return False


_KINDS: Final[dict[str, tuple[Callable[[Value], bool], str]]] = {
    structural_schema.PRESERVE: (lambda _value: True, "anything"),
    structural_schema.INT_OR_STRING: (
        lambda value: isinstance(value, str) or _is_integer_below(value, _INT32),
        "an integer or a string",
    ),
    structural_schema.QUANTITY: (
        lambda value: (
            _is_number(value) or (isinstance(value, str) and quantities.is_quantity(value))
        ),
        "a quantity",
    ),
    "array": (lambda value: isinstance(value, list), "a list"),
    "boolean": (lambda value: isinstance(value, bool), "a boolean"),
    "date-time": (_is_time, "a time such as 2024-01-01T00:00:00Z"),
    # As a value is converted; `int64` is as JSON is decoded.
    "integer": (_is_integer, "an integer"),
    "int64": (lambda value: _is_integer_below(value, _INT64), "an integer"),
    "object": (lambda value: isinstance(value, dict), "an object"),
    "string": (lambda value: isinstance(value, str), "a string"),
}

"""Objects of Kubernetes as Go's types decode them.

``kubernetes_types.json`` has the fields of each type. The type of a field is a name there,
``[type]`` for a list, ``{"*": type}`` for a map, or a scalar of `_SCALARS`.
"""

import json
import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Final, TypeAlias, cast

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.go_time import parse_date
from function_script.request import objects, quantities
from function_script.request.values import Object, Value
from function_script.texts.problems import Problem
from function_script.tools import structural_schema

GoType: TypeAlias = "str | list[GoType] | dict[str, GoType]"

_RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_INT32: Final = 1 << 31
_INT64: Final = 1 << 63
# The part of a status that every resource may have.
CONDITIONED_STATUS: Final[GoType] = {
    "conditions": [
        {
            **dict.fromkeys(("type", "status", "reason", "message"), "text"),
            "lastTransitionTime": "time",
            "observedGeneration": "int64",
        }
    ]
}


def api_version_and_kind(value: Object) -> tuple[str, str]:
    """Return ``("v1", "Pod")`` as Go reads it: two empty texts for an apiVersion that is none."""
    api_version, kind = objects.api_version_and_kind(value)
    return ("", "") if api_version.count("/") > 1 else (api_version.removeprefix("/"), kind)


def can_decode(value: Value, kind: GoType) -> bool:
    """Report whether Go reads ``value`` as this type; unknown fields do no harm."""
    return not find_problems(value, kind)


def find_problems(
    value: Value, kind: GoType, path: str = "", *, is_strict: bool = False
) -> list[Problem]:
    """Return what Go cannot read as this type; a null is the type's zero.

    ``is_strict``: as JSON is decoded where unknown fields are rejected.
    """
    if value is None:
        return []
    if is_strict and kind == "integer":
        kind = "int64"
    if isinstance(kind, str) and kind in _SCALARS:
        is_valid, words = _SCALARS[kind]
        return [] if is_valid(value) else [Problem(path, f"must be {words}")]
    parts = _types()[kind] if isinstance(kind, str) else kind
    problems: list[Problem] = []
    below: list[tuple[str | int, Value, GoType | None]]
    if isinstance(parts, list):
        if not isinstance(value, list):
            return [Problem(path, "must be a list")]
        below = [(index, item, parts[0]) for index, item in enumerate(value)]
    else:
        if not isinstance(value, dict):
            return [Problem(path, "must be an object")]
        others = parts.get("*")
        below = [(key, part, parts.get(key, others)) for key, part in value.items()]
    for key, part, field in below:
        place = structural_schema.at(path, key)
        if field is not None:
            problems += find_problems(part, field, place, is_strict=is_strict)
        elif is_strict:
            problems.append(Problem(place, "unknown field"))
    return problems


def parse_time(text: str) -> int:
    """Return the nanoseconds since 1970 of a time as Kubernetes writes it; raises ValueError."""
    try:
        return parse_date(_RFC3339, text).unix_nanoseconds()
    except CallError as error:
        raise ValueError(str(error)) from error


@cache
def _types() -> dict[str, dict[str, GoType]]:
    file = resources.files(__package__) / "kubernetes_types.json"
    return cast("dict[str, dict[str, GoType]]", json.loads(file.read_text("utf-8")))


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


def _is_quantity(value: Value) -> bool:
    return quantities.is_quantity(value) if isinstance(value, str) else _is_number(value)


_SCALARS: Final[dict[str, tuple[Callable[[Value], bool], str]]] = {
    "any": (lambda _value: True, "anything"),
    "boolean": (lambda value: isinstance(value, bool), "a boolean"),
    # As a value is converted; `int64` is as JSON is decoded.
    "integer": (_is_integer, "an integer"),
    "int64": (lambda value: _is_integer_below(value, _INT64), "an integer"),
    "intOrString": (
        lambda value: isinstance(value, str) or _is_integer_below(value, _INT32),
        "an integer or a string",
    ),
    "quantity": (_is_quantity, "a quantity"),
    "text": (lambda value: isinstance(value, str), "a string"),
    "time": (_is_time, "a time such as 2024-01-01T00:00:00Z"),
}

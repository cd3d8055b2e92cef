"""Problems in the words of the Kubernetes API server.

The library behind the official command loses the field of some problems and prints ``<nil>``; the
path is then part of the text.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from function_script.documents.kubernetes_yaml import number_text
from function_script.request.values import Value, type_name
from function_script.texts.diagnostics import cut
from function_script.texts.problems import suggest
from function_script.tools.validate.report import Problem

NO_FIELD: Final = "<nil>"
# An enum of thousands, or a long text, would be in the message of each value that is wrong.
_MAX_LISTED: Final = 100
_MAX_BYTES: Final = 4096

_TYPES: Final = {"list": "array", "integer": "number"}
_OMITTED: Final = "<value omitted>"


def type_of(value: Value) -> str:
    """Return a value's type as schemas name it; there is only one type of numbers."""
    name = type_name(value)
    return _TYPES.get(name, name)


def wrong_type(path: str, expected: str, actual: str) -> Problem:
    """A value of another type, ``actual``, or a string of another format."""
    return invalid(path, actual, f"must be of type {expected}: {_compact(actual)}")


def invalid(path: str, value: Value, fault: str) -> Problem:
    """A value that violates a keyword; ``fault`` continues a sentence about the field."""
    return refused(path, value, f"{path} in body {fault}")


def refused(path: str, value: Value, reason: str) -> Problem:
    """A value that the API server's code refuses, and no schema."""
    return _problem(path, value, f"Invalid value: {format_value(value)}: {reason}")


def forbidden(path: str, key: str) -> Problem:
    """A field that a closed object must not have."""
    text = f"{path}.{key} in body is a forbidden property"
    return _problem(path, key, f"Invalid value: {_compact(key)}: {text}")


def denied(path: str, reason: str) -> Problem:
    """A field that the API server's code does not allow beside others."""
    return _problem(path, "", f"Forbidden: {reason}")


def whole(path: str, text: str) -> Problem:
    """A problem of the value at ``path``, whose field is named in its text only."""
    return replace(_problem("", "", f'Invalid value: "": {text}'), path=path)


def missing(path: str) -> Problem:
    """A required field that is absent."""
    return _problem(path, "", "Required value")


def too_long(path: str, longest: int) -> Problem:
    """A string of too many characters, which the API server calls bytes."""
    unit = "byte" if longest == 1 else "bytes"
    return _problem(path, _OMITTED, f"Too long: may not be more than {longest} {unit}")


def too_many(path: str, size: int, most: int) -> Problem:
    """A list or an object of too many items."""
    unit = "item" if most == 1 else "items"
    return _problem(path, size, f"Too many: {size}: must have at most {most} {unit}")


def unsupported(path: str, value: Value, allowed: Sequence[Value]) -> Problem:
    """A value that is not in an enum, of which the first values are listed."""
    texts = (item if isinstance(item, str) else _compact(item) for item in allowed[:_MAX_LISTED])
    listed = ", ".join([*map(_compact, texts), *["…"] * (len(allowed) > _MAX_LISTED)])
    text = f"Unsupported value: {format_value(value)}: supported values: {listed}"
    near = suggest(value, tuple(map(str, allowed))) if isinstance(value, str) else None
    return replace(_problem(path, value, text), hint=near)


def duplicate(path: str, value: Value) -> Problem:
    """A value that another item of the same list has."""
    return _problem(path, value, f"Duplicate value: {format_value(value)}")


def absent(path: str, value: Value) -> Problem:
    """A name of something that the object does not have."""
    return _problem(path, value, f"Not found: {format_value(value)}")


def to_official(problem: Problem) -> Problem:
    """Return a problem as officially reported; an unknown field of Kubernetes' kinds is not."""
    if problem.type != "unknownField":
        return replace(problem, hint=None)
    if not problem.field:
        return problem
    name = problem.value
    text = f'{problem.field}: Invalid value: "{name}": unknown field: "{name}"'
    return replace(problem, message=text, hint=None)


def format_value(value: Value) -> str:
    """Format a value for a message."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return _compact(value)


def number(value: float) -> str:
    """Format a number as Go does: ``3``, ``2.5``, ``3e+09``."""
    return number_text(float(value))


def _compact(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _problem(path: str, value: Value, text: str) -> Problem:
    field = path or NO_FIELD
    message = cut(f"{field}: {text}", _MAX_BYTES)
    return Problem(type="schema", field=field, value=value, message=message, path=path)

"""Problems as the Kubernetes API server words them, so that they read the same in both commands.

Called by the checks of schemas and rules. The library behind the official command forgets the
field of some problems and calls it ``<nil>``; the path then stands in the text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from function_script.documents.kubernetes_yaml import number_text
from function_script.tools.validate.findings import Problem
from function_script.values import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.values import Value

NO_FIELD: Final = "<nil>"

_TYPES: Final = {"list": "array", "integer": "number"}
_OMITTED: Final = "<value omitted>"


def type_of(value: Value) -> str:
    """The type's name in a schema; there are no integers among values."""
    name = type_name(value)
    return _TYPES.get(name, name)


def wrong_type(path: str, expected: str, found: str) -> Problem:
    """A value of another type, which is ``found``, or a text of another format."""
    return invalid(path, found, f"must be of type {expected}: {_quoted(found)}")


def invalid(path: str, value: Value, fault: str) -> Problem:
    """A value that breaks a keyword; ``fault`` goes on from the field."""
    return _problem(path, value, f"Invalid value: {shown(value)}: {path} in body {fault}")


def forbidden(path: str, key: str) -> Problem:
    """A field that a closed object does not have."""
    text = f"{path}.{key} in body is a forbidden property"
    return _problem(path, key, f"Invalid value: {_quoted(key)}: {text}")


def whole(text: str) -> Problem:
    """A problem whose field is named in its text only."""
    return _problem("", "", f'Invalid value: "": {text}')


def missing(path: str) -> Problem:
    """A required field that is not there."""
    return _problem(path, "", "Required value")


def too_long(path: str, longest: int) -> Problem:
    """A text of too many characters, which the API server calls bytes."""
    unit = "byte" if longest == 1 else "bytes"
    return _problem(path, _OMITTED, f"Too long: may not be more than {longest} {unit}")


def too_many(path: str, size: int, most: int) -> Problem:
    """A list or an object of too many items, as both are called."""
    unit = "item" if most == 1 else "items"
    return _problem(path, size, f"Too many: {size}: must have at most {most} {unit}")


def unsupported(path: str, value: Value, allowed: Iterable[Value]) -> Problem:
    """A value that is none of those in an enum."""
    texts = (item if isinstance(item, str) else _compact(item) for item in allowed)
    listed = ", ".join(map(_quoted, texts))
    text = f"Unsupported value: {shown(value)}: supported values: {listed}"
    return _problem(path, value, text)


def shown(value: Value) -> str:
    """A value within a message."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return _quoted(value) if isinstance(value, str) else _compact(value)


def number(value: float) -> str:
    """A number as Go prints it: ``3``, ``2.5``, ``3e+09``."""
    return number_text(float(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _compact(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _problem(path: str, value: Value, text: str) -> Problem:
    field = path or NO_FIELD
    return Problem(type="schema", field=field, value=value, message=f"{field}: {text}")

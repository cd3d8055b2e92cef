"""Compare a value with a partial expectation: maps in part, everything else exactly."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from function_script import field_names, objects
from function_script.problems import suggest
from function_script.reader import child
from function_script.values import Object, Value

_CONTAINS: Final = {"contains"}
_MAX_CHARACTERS = 160
_MAX_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A difference; ``at`` is the path of the expected value, below the whole expectation."""

    at: objects.Path
    message: str
    hint: str | None = None


def find_mismatches(
    actual: Value, expected: Value, at: objects.Path = (), path: str = ""
) -> Iterator[Mismatch]:
    """Yield every difference between ``actual`` and ``expected``.

    Maps may have more keys than expected; a key expected to be null must be absent. A list must
    be the same, unless ``{contains: [...]}`` is expected of it.
    """
    if isinstance(expected, dict) and isinstance(actual, list) and expected.keys() == _CONTAINS:
        yield from _missing_items(actual, expected["contains"], (*at, "contains"), path)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, item in expected.items():
            below = child(path, key)
            if item is not None and actual.get(key) is None:
                message = f"{below}: expected {to_text(item)}, but it is not there"
                yield Mismatch(at=(*at, key), message=message, hint=nearest_hint(key, actual))
            else:
                yield from find_mismatches(actual.get(key), item, (*at, key), below)
    elif not is_same(actual, expected):
        are_lists = isinstance(actual, list) and isinstance(expected, list)
        hint = "lists are compared as a whole; {contains: [...]} asks for some items"
        message = f"{path}: expected {to_text(expected)}, found {to_text(actual)}"
        yield Mismatch(at=at, message=message, hint=hint if are_lists else None)


def contains(actual: Value, expected: Value) -> bool:
    """Report whether there is no mismatch."""
    return next(find_mismatches(actual, expected), None) is None


def is_same(one: Value, other: Value) -> bool:
    """Report equality as in JSON: 1 equals 1.0, but true does not equal 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def to_text(value: Value) -> str:
    """Format a value on one line, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def nearest_hint(name: str, candidates: Object) -> str | None:
    """Return a hint with the names that exist instead of ``name``."""
    if hint := suggest(name, candidates):
        return hint
    if not candidates:
        return "there is none at all"
    return f"there is {field_names.listed(candidates, _MAX_NAMES)}"


def _missing_items(
    actual: list[Value], expected: Value, at: objects.Path, path: str
) -> Iterator[Mismatch]:
    items = expected if isinstance(expected, list) else [expected]
    for index, item in enumerate(items):
        if not any(contains(one, item) for one in actual):
            item_at = (*at, index) if isinstance(expected, list) else at
            message = f"{path}: expected an item {to_text(item)}, found {to_text(actual)}"
            yield Mismatch(at=item_at, message=message)

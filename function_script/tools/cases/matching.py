"""Whether a value contains what is expected of it: maps in part, everything else exactly.

Called for the partial expectations; every difference is told with its path.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.problems import suggest
from function_script.reader import child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script import objects
    from function_script.values import Object, Value

_CONTAINS: Final = {"contains"}
_MAX_SHOWN = 160
_MAX_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One difference. ``at`` is where the expected value stands, below what was compared."""

    at: objects.Path
    message: str
    hint: str | None = None


def find_mismatches(
    found: Value, expected: Value, at: objects.Path = (), path: str = ""
) -> Iterator[Mismatch]:
    """Where ``found`` is not what ``expected`` says.

    Maps may have more keys than expected; a key expected to be null must be absent. A list must
    be the same, unless ``{contains: [...]}`` is expected of it.
    """
    if isinstance(expected, dict) and isinstance(found, list) and expected.keys() == _CONTAINS:
        yield from _missing_items(found, expected["contains"], (*at, "contains"), path)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, item in expected.items():
            below = child(path, key)
            if item is not None and found.get(key) is None:
                yield _absent(found, key, item, (*at, key), path)
            else:
                yield from find_mismatches(found.get(key), item, (*at, key), below)
    elif not is_same(found, expected):
        message = f"{path}: expected {shown(expected)}, found {shown(found)}"
        yield Mismatch(at=at, message=message, hint=_list_hint(found, expected))


def contains(found: Value, expected: Value) -> bool:
    """Whether there is no mismatch."""
    return next(find_mismatches(found, expected), None) is None


def is_same(one: Value, other: Value) -> bool:
    """Equality as in JSON: 1 is 1.0, but true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def shown(value: Value) -> str:
    """The value on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def nearest_hint(name: str, known: Object) -> str | None:
    """What there is instead of ``name``."""
    if hint := suggest(name, known):
        return hint
    names = sorted(known)
    if not names:
        return "there is none at all"
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"there is {', '.join(names[:_MAX_NAMES])}{more}"


def _absent(found: Object, key: str, item: Value, at: objects.Path, path: str) -> Mismatch:
    message = f"{child(path, key)}: expected {shown(item)}, but it is not there"
    return Mismatch(at=at, message=message, hint=nearest_hint(key, found))


def _missing_items(
    found: list[Value], expected: Value, at: objects.Path, path: str
) -> Iterator[Mismatch]:
    items = expected if isinstance(expected, list) else [expected]
    for index, item in enumerate(items):
        if not any(contains(one, item) for one in found):
            place = (*at, index) if isinstance(expected, list) else at
            message = f"{path}: expected an item {shown(item)}, found {shown(found)}"
            yield Mismatch(at=place, message=message)


def _list_hint(found: Value, expected: Value) -> str | None:
    if isinstance(found, list) and isinstance(expected, list):
        return "lists are compared as a whole; {contains: [...]} asks for some items"
    return None

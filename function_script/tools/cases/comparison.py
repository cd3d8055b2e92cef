"""Compare the outcome of a step with what is expected of it, golden files aside.

Called once for each step; tells every mismatch, with its place in the expectation.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import diagnostics, objects
from function_script.fields import child
from function_script.tools.cases import matching, outcome
from function_script.tools.cases.matching import Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from function_script.errors import FatalError
    from function_script.tools.cases.model import Check, Expectation
    from function_script.values import Object, Readable, Value


def compare(found: Object, expected: Expectation) -> Iterator[Mismatch]:
    """Every mismatch of a step that succeeded; ``found`` is its outcome as an object."""
    if expected.error:
        message = "error: expected a failure, but it was rendered"
        yield Mismatch(at=("error",), message=message)
        return
    yield from matching.find_mismatches(found, expected.partial)
    yield from _present(found["resources"], expected.absent)
    if expected.ready is not None and outcome.is_ready(found) != expected.ready:
        yield _readiness(found, is_expected=expected.ready)
    for key, members in (("conditions", expected.conditions), ("events", expected.events)):
        yield from _missing_members(key, found[key], members)
    for index, check in enumerate(expected.checks):
        yield from _answers(found, index, check)


def compare_error(error: FatalError, expected: Expectation) -> Iterator[Mismatch]:
    """Every expected text that is not in the failure; excerpts of sources do not count."""
    frames = [diagnostics.to_frame(replace(one, excerpt=None)) for one in error.diagnostics]
    text = "\n".join(frames)
    for index, wanted in enumerate(expected.error):
        if wanted not in text:
            message = f"error: expected {matching.shown(wanted)} in the failure below"
            yield Mismatch(at=("error", index), message=message)


def _present(resources: Value, absent: Iterable[str]) -> Iterator[Mismatch]:
    for index, name in enumerate(absent):
        if isinstance(resources, dict) and name in resources:
            message = f"{child('resources', name)}: expected none, but it is composed"
            yield Mismatch(at=("absent", index), message=message)


def _readiness(found: Object, *, is_expected: bool) -> Mismatch:
    condition = objects.find_condition(found["xr"], "Ready") or {}
    reason = condition.get("message") or condition.get("reason")
    wanted = "ready" if is_expected else "not ready"
    hint = f"it says: {reason}" if reason else None
    return Mismatch(at=("ready",), message=f"ready: expected the XR to be {wanted}", hint=hint)


def _missing_members(key: str, found: Value, expected: Iterable[Object]) -> Iterator[Mismatch]:
    """Conditions and events: each that is expected is among them; messages may say more."""
    members = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    for index, wanted in enumerate(expected):
        if not any(_is_such(member, wanted) for member in members):
            known = [{name: member.get(name) for name in wanted} for member in members]
            nouns = {"conditions": "a condition", "events": "an event"}
            yield Mismatch(
                at=(key, index),
                message=f"{key}: expected {nouns[key]} {matching.shown(wanted)}",
                hint=_listed(known),
            )


def _listed(known: list[Object]) -> str:
    if not known:
        return "there is none at all"
    return f"there is {', '.join(map(matching.shown, known))}"


def _is_such(member: Object, wanted: Object) -> bool:
    for key, value in wanted.items():
        has = member.get(key)
        if key == "message" and isinstance(value, str) and isinstance(has, str):
            if value not in has:
                return False
        elif has != value:
            return False
    return True


def _answers(found: Object, index: int, check: Check) -> Iterator[Mismatch]:
    value = objects.deep_copy(objects.find_path(found, check.path))
    for question, wanted in check.questions:
        if question == "exists":
            is_right = (value is not None) == wanted
        else:
            is_right = value is not None and _QUESTIONS[question](value, wanted)
        if not is_right:
            what = "but it is not there" if value is None else f"found {matching.shown(value)}"
            yield Mismatch(
                at=("checks", index, question),
                message=f"{check.path}: expected {_asked(question, wanted)}, {what}",
                hint=_missing_hint(found, check.path) if value is None else None,
            )


def _asked(question: str, wanted: Value) -> str:
    if question == "exists":
        return "a value" if wanted else "none"
    words = {"equals": "", "matches": "a match of ", "oneOf": "one of "}
    return f"{words[question]}{matching.shown(wanted)}"


def _missing_hint(found: Object, path: str) -> str | None:
    """Which part of ``path`` is missing, and what there is instead."""
    here: Readable = found
    walked = ""
    for part in objects.parse_path(path):
        below = objects.find_path(here, (part,))
        if below is None:
            if not isinstance(part, str) or not isinstance(here, dict):
                return f"{walked} has no [{part}]" if isinstance(part, int) else None
            return f'{walked} has no "{part}": {matching.nearest_hint(part, here)}'
        walked = child(walked, part) if isinstance(part, str) else f"{walked}[{part}]"
        here = below
    return None


def _matches(value: Value, pattern: Value) -> bool:
    text = value if isinstance(value, str) else matching.shown(value)
    return isinstance(pattern, str) and re.search(pattern, text) is not None


def _is_one_of(value: Value, choices: Value) -> bool:
    return isinstance(choices, list) and any(matching.is_same(value, one) for one in choices)


_QUESTIONS: Final[dict[str, Callable[[Value, Value], bool]]] = {
    "equals": matching.is_same,
    "matches": _matches,
    "oneOf": _is_one_of,
}

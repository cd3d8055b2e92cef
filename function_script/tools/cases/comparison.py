"""Compare the outcome of a step with its expectation, apart from snapshots."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from function_script import diagnostics, objects
from function_script.errors import FatalError
from function_script.reader import child
from function_script.tools.cases import matching, outcome
from function_script.tools.cases.matching import Mismatch
from function_script.tools.cases.model import Check, Expectation
from function_script.values import Object, Readable, Value


def compare(actual: Object, expected: Expectation) -> Iterator[Mismatch]:
    """Yield every mismatch of a step that succeeded; ``actual`` is its outcome as an object."""
    if expected.error:
        message = "error: expected a failure, but it was rendered"
        yield Mismatch(at=("error",), message=message)
        return
    yield from matching.find_mismatches(actual, expected.partial)
    resources = actual["resources"]
    for index, name in enumerate(expected.absent):
        if isinstance(resources, dict) and name in resources:
            message = f"{child('resources', name)}: expected none, but it is composed"
            yield Mismatch(at=("absent", index), message=message)
    if expected.ready is not None and outcome.is_ready(actual) != expected.ready:
        condition = objects.find_condition(actual["xr"], "Ready") or {}
        reason = condition.get("message") or condition.get("reason")
        state = "ready" if expected.ready else "not ready"
        hint = f"it says: {reason}" if reason else None
        message = f"ready: expected the XR to be {state}"
        yield Mismatch(at=("ready",), message=message, hint=hint)
    for key, members in (("conditions", expected.conditions), ("events", expected.events)):
        yield from _missing_members(key, actual[key], members)
    for index, check in enumerate(expected.checks):
        yield from _failed_questions(actual, index, check)


def compare_error(error: FatalError, expected: Expectation) -> Iterator[Mismatch]:
    """Yield a mismatch for each text that is not in the failure; excerpts do not count."""
    frames = [diagnostics.to_frame(replace(one, excerpt=None)) for one in error.diagnostics]
    text = "\n".join(frames)
    for index, part in enumerate(expected.error):
        if part not in text:
            message = f"error: expected {matching.to_text(part)} in the failure below"
            yield Mismatch(at=("error", index), message=message)


def _missing_members(key: str, actual: Value, expected: Iterable[Object]) -> Iterator[Mismatch]:
    """Yield a mismatch for each expected condition or event that is missing."""
    members = (
        [item for item in actual if isinstance(item, dict)] if isinstance(actual, list) else []
    )
    for index, item in enumerate(expected):
        if not any(_has_fields(member, item) for member in members):
            others = [{name: member.get(name) for name in item} for member in members]
            nouns = {"conditions": "a condition", "events": "an event"}
            texts = ", ".join(map(matching.to_text, others))
            yield Mismatch(
                at=(key, index),
                message=f"{key}: expected {nouns[key]} {matching.to_text(item)}",
                hint=f"there is {texts or 'none at all'}",
            )


def _has_fields(member: Object, expected: Object) -> bool:
    """Report whether a condition or event has these fields; its message may be longer."""
    for key, value in expected.items():
        actual = member.get(key)
        if key == "message" and isinstance(value, str) and isinstance(actual, str):
            if value not in actual:
                return False
        elif actual != value:
            return False
    return True


def _failed_questions(actual: Object, index: int, check: Check) -> Iterator[Mismatch]:
    value = objects.deep_copy(objects.find_path(actual, check.path))
    for question, operand in check.questions:
        if question == "exists":
            is_right = (value is not None) == operand
        else:
            is_right = value is not None and _QUESTIONS[question](value, operand)
        if not is_right:
            what = "but it is not there" if value is None else f"found {matching.to_text(value)}"
            yield Mismatch(
                at=("checks", index, question),
                message=f"{check.path}: expected {_describe(question, operand)}, {what}",
                hint=_missing_hint(actual, check.path) if value is None else None,
            )


def _describe(question: str, operand: Value) -> str:
    if question == "exists":
        return "a value" if operand else "none"
    words = {"equals": "", "matches": "a match of ", "oneOf": "one of "}
    return f"{words[question]}{matching.to_text(operand)}"


def _missing_hint(actual: Object, path: str) -> str | None:
    """Name the part of ``path`` that is missing, and the nearest one that exists."""
    here: Readable = actual
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
    text = value if isinstance(value, str) else matching.to_text(value)
    return isinstance(pattern, str) and re.search(pattern, text) is not None


def _is_one_of(value: Value, choices: Value) -> bool:
    return isinstance(choices, list) and any(matching.is_same(value, one) for one in choices)


_QUESTIONS: Final[dict[str, Callable[[Value, Value], bool]]] = {
    "equals": matching.is_same,
    "matches": _matches,
    "oneOf": _is_one_of,
}

"""Parse the expectation of a case or a step from its fields."""

import re
from typing import Final

from function_script import objects
from function_script.problems import suggest
from function_script.reader import ObjectReader
from function_script.tools.cases.loader import ObjectLoader
from function_script.tools.cases.model import Check, Expectation
from function_script.tools.cases.outcome import PARTS
from function_script.values import Object, type_phrase

QUESTIONS: Final = ("equals", "exists", "matches", "oneOf")
_PARTIAL: Final = ("xr", "resources", "status", "ready", "requirements", "context")
_FIELDS: Final = ("documents", *_PARTIAL, "absent", "conditions", "events", "error", "checks")
_CONDITION: Final = ("type", "status", "reason", "message")
_EVENT: Final = ("severity", "reason", "message")


def parse(loader: ObjectLoader, fields: ObjectReader, at: objects.Path) -> Expectation | None:
    """Parse the field ``expect``; None if there is none."""
    expect = fields.object("expect")
    if expect is None:
        return None
    expect.refuse_unknown(*_FIELDS, hint=f"expected may be {', '.join(_FIELDS)}")
    snapshot = expect.text("documents")
    errors = texts(expect, "error")
    if "error" in expect.value:
        if not all(errors) or not errors:
            expect.problems.add(expect.at("error"), "must not be empty")
        for key in sorted(expect.value.keys() - {"error"}):
            expect.problems.add(expect.at(key), "cannot be expected together with an error")
    ready = expect.value.get("ready")
    return Expectation(
        at=at,
        snapshot=None if snapshot is None else loader.path(snapshot),
        error=errors,
        absent=texts(expect, "absent"),
        partial=_partial(expect),
        ready=ready if isinstance(ready, bool) else None,
        conditions=_members(expect, "conditions", _CONDITION),
        events=_members(expect, "events", _EVENT),
        checks=[_check(item) for item in expect.objects("checks")],
    )


def texts(fields: ObjectReader, key: str) -> list[str]:
    """Return a string or a list of strings as a list; [] if there is none."""
    value = fields.value.get(key)
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    strings = [item for item in items if isinstance(item, str)]
    if len(strings) < len(items):
        fields.problems.add(fields.at(key), "must be a string or a list of strings")
    return strings


def _partial(fields: ObjectReader) -> Object:
    partial: Object = {}
    for key in _PARTIAL:
        if key == "ready" and isinstance(fields.value.get(key), bool):
            continue
        part = fields.object(key)
        if part is not None:
            partial[key] = part.value
    return partial


def _members(fields: ObjectReader, key: str, names: tuple[str, ...]) -> list[Object]:
    """Return a list of objects whose fields ``names`` are texts."""
    members = []
    for item in fields.objects(key):
        item.refuse_unknown(*names)
        for name in names:
            item.text(name, required=name == "type")
        if not item.value:
            fields.problems.add(item.path, "must not be empty")
        members.append(item.value)
    return members


def _check(fields: ObjectReader) -> Check:
    fields.refuse_unknown("path", *QUESTIONS, hint=f"it may ask {', '.join(QUESTIONS)}")
    questions = [(key, fields.value[key]) for key in QUESTIONS if key in fields.value]
    if not questions:
        fields.problems.add(fields.path, f"must ask something: {', '.join(QUESTIONS)}")
    for key, value in questions:
        if key == "exists" and not isinstance(value, bool):
            fields.problems.add(fields.at(key), f"must be a boolean, not {type_phrase(value)}")
        if key == "oneOf" and not (isinstance(value, list) and value):
            fields.problems.add(fields.at(key), "must be a list that is not empty")
        if key == "matches":
            fields.parsed(key, _pattern)
            if not isinstance(value, str):
                fields.text(key, required=True)
    return Check(path=_path(fields), questions=questions)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"cannot read the regular expression: {error}") from error


def _path(fields: ObjectReader) -> str:
    path = fields.text("path", required=True) or ""
    try:
        first = str(objects.parse_path(path)[0]) if path else PARTS[0]
    except ValueError as error:
        fields.problems.add(fields.at("path"), str(error))
        return ""
    if first not in PARTS:
        hint = suggest(first, PARTS, f"it begins with one of {', '.join(PARTS)}")
        fields.problems.add(fields.at("path"), f'there is no "{first}" to look at', hint=hint)
    return path

"""What a case or a step expects, from its fields.

Called by the parser. What is compared with what is decided elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.fields import nearest, type_with_article
from function_script.tools.cases.model import Check, Expectation
from function_script.tools.cases.outcome import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.fields import ObjectReader
    from function_script.tools.cases.loader import ObjectLoader
    from function_script.values import Object, Value

QUESTIONS: Final = ("equals", "exists", "matches", "oneOf")
_PARTIAL: Final = ("xr", "resources", "status", "ready", "requirements", "context")
_KNOWN: Final = ("documents", *_PARTIAL, "absent", "conditions", "events", "error", "checks")
_CONDITION: Final = ("type", "status", "reason", "message")
_EVENT: Final = ("severity", "reason", "message")


def parse(loader: ObjectLoader, fields: ObjectReader, at: objects.Path) -> Expectation | None:
    """The field ``expect``; None when there is none."""
    found = fields.object("expect")
    if found is None:
        return None
    found.refuse_unknown(*_KNOWN, hint=f"expected may be {', '.join(_KNOWN)}")
    golden = found.text("documents")
    errors = texts(found, "error")
    if "error" in found.value:
        _check_error(found, errors)
    ready = found.value.get("ready")
    return Expectation(
        at=at,
        golden=None if golden is None else loader.path(golden),
        error=errors,
        absent=texts(found, "absent"),
        partial=_partial(found),
        ready=ready if isinstance(ready, bool) else None,
        conditions=_members(found, "conditions", _CONDITION),
        events=_members(found, "events", _EVENT),
        checks=[_check(item) for item in found.objects("checks")],
    )


def texts(fields: ObjectReader, key: str) -> list[str]:
    """A string or a list of strings; [] when there is none."""
    found = fields.value.get(key)
    if found is None:
        return []
    items = found if isinstance(found, list) else [found]
    read = [item for item in items if isinstance(item, str)]
    if len(read) < len(items):
        fields.problems.add(fields.at(key), "must be a string or a list of strings")
    return read


def _check_error(fields: ObjectReader, errors: Sequence[str]) -> None:
    if not all(errors) or not errors:
        fields.problems.add(fields.at("error"), "must not be empty")
    for key in sorted(fields.value.keys() - {"error"}):
        fields.problems.add(fields.at(key), "cannot be expected together with an error")


def _partial(fields: ObjectReader) -> Object:
    partial: Object = {}
    for key in _PARTIAL:
        if key == "ready" and isinstance(fields.value.get(key), bool):
            continue
        found = fields.object(key)
        if found is not None:
            partial[key] = found.value
    return partial


def _members(fields: ObjectReader, key: str, known: tuple[str, ...]) -> list[Object]:
    """A list of objects whose fields are texts."""
    members = []
    for item in fields.objects(key):
        item.refuse_unknown(*known)
        for name in known:
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
        _check_question(fields, key, value)
    return Check(path=_path(fields), questions=questions)


def _check_question(fields: ObjectReader, key: str, value: Value) -> None:
    if key == "exists" and not isinstance(value, bool):
        fields.problems.add(fields.at(key), f"must be a boolean, not {type_with_article(value)}")
    if key == "oneOf" and not (isinstance(value, list) and value):
        fields.problems.add(fields.at(key), "must be a list that is not empty")
    if key == "matches":
        fields.parsed(key, _pattern)
        if not isinstance(value, str):
            fields.text(key, required=True)


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
        near = nearest(first, PARTS)
        hint = f'did you mean "{near}"?' if near else f"it begins with one of {', '.join(PARTS)}"
        fields.problems.add(fields.at("path"), f'there is no "{first}" to look at', hint=hint)
    return path

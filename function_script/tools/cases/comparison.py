"""The outcome of a step as one object, and its comparison with what a case expects.

Cases expect partial objects, checks and snapshots.
"""

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from function_script import documents
from function_script.engines import regular_expressions
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.capture import responses
from function_script.request.reader import child, format_path
from function_script.request.values import Object, Readable, Value
from function_script.texts import diagnostics, field_names, spelling
from function_script.texts.diagnostics import Note
from function_script.texts.errors import FatalError, InputError
from function_script.texts.problems import list_choices
from function_script.tools import manifests
from function_script.tools.cases.model import Case, Expectation
from function_script.tools.render import conditions
from function_script.tools.render.renderer import Rendering

PARTS: Final = (
    "xr",
    "resources",
    "status",
    "ready",
    "conditions",
    "events",
    "requirements",
    "context",
)
_CONTAINS: Final = {"contains"}
_MAX_CHARACTERS = 160
_SUFFIX: Final = ".yaml"
_NOTHING: Final = "there is none at all"
_MAX_NAMES = 12


def to_outcome(rendering: Rendering) -> Object:
    """Build the outcome, which has the keys `PARTS`.

    ``resources`` are as Crossplane writes them, ``ready`` is the desired readiness of each,
    ``requirements`` are those of all steps.
    """
    result, answers = rendering.result, rendering.responses.values()
    xr = manifests.copy(result.file, conditions.with_times_replaced(result.xr))
    status = manifests.object_at(xr, "status")
    resources = result.resources
    names = {old: manifests.resource_name(resources[old]) or old for old in resources}
    *_, last = (fnv1.RunFunctionResponse(), *answers)
    desired = last.desired.resources
    return {
        "xr": xr,
        "resources": {
            names[old]: conditions.with_times_replaced(resources[old])
            for old in sorted(resources, key=names.__getitem__)
        },
        "status": status,
        "ready": {
            names.get(old, old): desired[old].ready == fnv1.READY_TRUE for old in sorted(desired)
        },
        "conditions": status.get("conditions") or [],
        "events": [*map(asdict, result.events)],
        "requirements": _requirements(answers),
        "context": result.context or {},
    }


def find_writer(rendering: Rendering, path: objects.Path) -> Note | str | None:
    """Return a note of the line that wrote the value at a path of the outcome.

    For one that does not exist it is the line of the nearest field above it, or what its resource
    waits for.
    """
    resources = rendering.result.resources
    resource, below = None, path[1:]
    match path:
        case ("resources", str(name), *_):
            names = {manifests.resource_name(resources[old]) or old: old for old in resources}
            resource, below = names.get(name, name), path[2:]
            for each in (each for call in rendering.calls for each in call.reply.blocked):
                if each.subject == name and resource not in resources:
                    return f"{name} waits {each.reason}"
        case ("status", *_):
            below = path
        case ("xr", *_):
            pass
        case _:
            return None
    for end in range(len(below), -1, -1):
        position = rendering.positions.locate(resource, below[:end])
        if position is not None:
            field = format_path(below[:end]) or resource or "the XR"
            verb = "written" if end == len(below) else f"{field} is written"
            if position.span is None:
                return f'{verb} by step "{position.step}"'
            return Note(f"{verb} at", position.span)
    return None


def is_ready(outcome: Object) -> bool:
    """Report whether the XR is ready."""
    condition = objects.find_condition(outcome["xr"], "Ready")
    return condition is not None and condition.get("status") == "True"


def _requirements(answers: Iterable[fnv1.RunFunctionResponse]) -> Object:
    parts: dict[str, Object] = {"resources": {}, "schemas": {}}
    for answer in answers:
        message = json_format.MessageToDict(answer.requirements, preserving_proto_field_name=True)
        for key, selectors in responses.to_requirements(message).items():
            parts[key] |= selectors
    return {**parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A difference; ``at`` is the path of the expected value, below the whole expectation.

    ``place`` is the path of the actual value in the outcome; None where it is that of ``at``.
    """

    at: objects.Path
    message: str
    hint: str | None = None
    place: objects.Path | None = None


def find_mismatches(
    actual: Value, expected: Value, at: objects.Path = (), path: str = ""
) -> Iterator[Mismatch]:
    """Yield every difference between ``actual`` and ``expected``.

    Maps may have more keys than expected; a key expected to be null must be absent. A list must
    be the same, unless ``{contains: [...]}`` is expected of it.
    """
    if isinstance(expected, dict) and isinstance(actual, list) and expected.keys() == _CONTAINS:
        members = expected["contains"]
        for index, item in enumerate(members if isinstance(members, list) else [members]):
            if all(any(find_mismatches(one, item)) for one in actual):
                message = f"{path}: expected an item {to_text(item)}, found {to_text(actual)}"
                yield Mismatch(at=(*at, "contains", index), message=message, place=at)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, item in expected.items():
            below = child(path, key)
            if item is not None and actual.get(key) is None:
                message = f"{below}: expected {to_text(item)}, but it is not there"
                near = spelling.nearest(key, actual.keys() - expected.keys())
                place = None if near is None else (*at, near)
                hint = nearest_hint(near, actual)
                yield Mismatch(at=(*at, key), message=message, hint=hint, place=place)
            else:
                yield from find_mismatches(actual.get(key), item, (*at, key), below)
    elif not objects.is_same(actual, expected):
        are_lists = isinstance(actual, list) and isinstance(expected, list)
        hint = "lists are compared as a whole; {contains: [...]} asks for some items"
        message = f"{path}: expected {to_text(expected)}, found {to_text(actual)}"
        yield Mismatch(at=at, message=message, hint=hint if are_lists else None)


def to_text(value: Value) -> str:
    """Format a value on one line, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def nearest_hint(near: str | None, candidates: Object) -> str | None:
    """Return a hint with the names that exist, or with the one that is almost the expected one."""
    if near is not None:
        return f'there is "{near}": one of the two names has a slip'
    if not candidates:
        return _NOTHING
    return list_choices(candidates, field_names.listed(candidates, _MAX_NAMES))


def compare(actual: Object, expected: Expectation) -> Iterator[Mismatch]:
    """Yield every mismatch of a step that succeeded; ``actual`` is its outcome as an object."""
    if expected.error:
        message = "expected an error, but nothing failed"
        yield Mismatch(at=("error",), message=message)
        return
    yield from find_mismatches(actual, expected.partial)
    resources = actual["resources"]
    for index, name in enumerate(expected.absent):
        if isinstance(resources, dict) and name in resources:
            message = f"{child('resources', name)}: expected none, but it is composed"
            yield Mismatch(at=("absent", index), message=message, place=("resources", name))
    if expected.ready is not None and is_ready(actual) != expected.ready:
        condition = objects.find_condition(actual["xr"], "Ready") or {}
        reason = condition.get("message") or condition.get("reason")
        state = "ready" if expected.ready else "not ready"
        hint = f"it says: {reason}" if reason else None
        message = f"ready: expected the XR to be {state}"
        yield Mismatch(at=("ready",), message=message, hint=hint)
    for key, members in (("conditions", expected.conditions), ("events", expected.events)):
        yield from _missing_members(key, actual, members)
    for index, (path, questions) in enumerate(expected.checks):
        value = objects.deep_copy(objects.find_path(actual, path))
        for question, operand in questions:
            if not _is_right(question, value, operand):
                what = "but it is not there" if value is None else f"found {to_text(value)}"
                yield Mismatch(
                    at=("checks", index, question),
                    message=f"{path}: expected {_describe(question, operand)}, {what}",
                    hint=_missing_hint(actual, path) if value is None else None,
                    place=objects.parse_path(path),
                )


def compare_error(error: FatalError, expected: Expectation) -> Iterator[Mismatch]:
    """Yield a mismatch for each text that is not in the failure; excerpts do not count."""
    frames = [diagnostics.to_frame(replace(one, excerpt=None)) for one in error.diagnostics]
    text = "\n".join(frames)
    for index, part in enumerate(expected.error):
        if part not in text:
            message = f"expected an error with {to_text(part)}, which the failure below lacks"
            yield Mismatch(at=("error", index), message=message)


def _missing_members(key: str, actual: Object, expected: Iterable[Object]) -> Iterator[Mismatch]:
    """Yield a mismatch for each expected condition or event that is missing."""
    members = manifests.objects_at(actual, key)
    for index, item in enumerate(expected):
        if not any(_has_fields(member, item) for member in members):
            # A condition of the same type is the one that is meant.
            same = [each for each in members if "type" in item and each["type"] == item["type"]]
            others = [{name: member.get(name) for name in item} for member in same or members]
            nouns = {"conditions": "a condition", "events": "an event"}
            texts = tuple(dict.fromkeys(map(to_text, others)))
            yield Mismatch(
                at=(key, index),
                message=f"{key}: expected {nouns[key]} {to_text(item)}",
                hint=list_choices(texts) if texts else _NOTHING,
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


def _is_right(question: str, value: Value, operand: Value) -> bool:
    """Report whether the answer to a question about a value is the one that is expected."""
    if question == "exists":
        return (value is not None) == operand
    if value is None:
        return False
    if question == "matches":
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return regular_expressions.compiled(str(operand)).search(text) is not None
    choices = operand if question == "oneOf" and isinstance(operand, list) else [operand]
    return any(objects.is_same(value, choice) for choice in choices)


def _describe(question: str, operand: Value) -> str:
    if question == "exists":
        return "a value" if operand else "none"
    words = {"equals": "", "matches": "a match of ", "oneOf": "one of "}
    return f"{words[question]}{to_text(operand)}"


def _missing_hint(actual: Object, path: str) -> str | None:
    """Name the part of ``path`` that is missing, and the nearest one that exists."""
    here: Readable = actual
    walked = ""
    for part in objects.parse_path(path):
        below = objects.find_path(here, (part,))
        if below is None:
            if not isinstance(part, str) or not isinstance(here, dict):
                return f"{walked} has no [{part}]" if isinstance(part, int) else None
            hint = nearest_hint(spelling.nearest(part, here), here)
            return f'{walked} has no "{part}"; {hint}'
        walked = child(walked, part) if isinstance(part, str) else f"{walked}[{part}]"
        here = below
    return None


def find_different(actual: Object, expected: Iterable[Object]) -> Iterator[objects.Path]:
    """Yield the paths in an outcome of what differs from the documents of a snapshot."""
    resources = actual["resources"]
    by_name = {manifests.resource_name(document): document for document in expected}
    for name, manifest in resources.items() if isinstance(resources, dict) else ():
        document = by_name.get(name)
        if document is None:
            yield "resources", name
            continue
        # Either direction alone allows keys that the other side lacks.
        mismatches = (*find_mismatches(manifest, document), *find_mismatches(document, manifest))
        yield from (("resources", name, *mismatch.at) for mismatch in mismatches)


def find_difference(path: Path, expected: list[Object], rendered: list[Object]) -> str | None:
    """Return a unified diff from a snapshot to the rendered documents; None if they are equal.

    Documents are compared, not texts: authors choose comments and layout.
    """
    if objects.is_same([*expected], [*rendered]):
        return None
    lines = difflib.unified_diff(
        documents.to_yaml_stream(expected).splitlines(),
        documents.to_yaml_stream(rendered).splitlines(),
        fromfile=str(path),
        tofile="rendered",
        lineterm="",
    )
    return "\n".join(lines)


def write_snapshot(path: Path, rendered: list[Object], case: Case) -> None:
    """Write the documents to the snapshot, which ``case`` names. Raises InputError."""
    _, parts = case.project.locate(path)
    if case.is_input(path):
        hint = "expected documents are a file of their own"
        raise InputError.of(f'cannot write "{path}": a case reads it', hint=hint)
    if path.suffix != _SUFFIX:
        raise InputError.of(f'cannot write "{path}": its name does not end in {_SUFFIX}')
    # Such as the workflows of a CI system.
    if any(part.startswith(".") for part in parts):
        raise InputError.of(f'cannot write "{path}": it is hidden, or in a hidden directory')
    case.project.write(path, documents.to_yaml_stream(rendered).encode())

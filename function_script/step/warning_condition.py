"""Warnings once: a condition holds what stays wrong, and an event comes when it changes.

Crossplane makes an event of each Warning in each response. The XR's condition of the reconcile
before tells which Warnings are old. All steps of a pipeline share the condition, with a section
for each; a step hands all sections to later ones in the context.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from function_script import wire
from function_script.contribution import Contribution
from function_script.request import objects
from function_script.request.request import (
    find_context,
    has_unanswered,
    identify_call,
    view_object,
)
from function_script.request.values import Object, Readable
from function_script.texts.diagnostics import cut, digest
from function_script.wire import enums

CONDITION: Final = "ProgramWarnings"
CONTEXT_KEY: Final = "script.fn.crossplane.io/warnings"
_CONDITION_BYTES: Final = CONDITION.encode()
_CONTEXT_KEY_BYTES: Final = CONTEXT_KEY.encode()
_WARNINGS: Final = "Warnings"
_NO_WARNINGS: Final = "NoWarnings"
_HEADER: Final = re.compile(r"(Generation \S+|Warnings)( of (?P<revision>\S+))?:")
_SECTION: Final = re.compile(r"(?P<label>\S+): (?P<text>.*)")
_MAX_BYTES: Final = 1_000
_NUMBER_SIGN: Final = "#"
_LAST_CALL: Final = ""
_REVISION_PATHS: Final = (
    ("spec", "crossplane", "compositionRevisionRef", "name"),
    ("spec", "compositionRevisionRef", "name"),
)


def apply(request: wire.Request, contribution: Contribution) -> Contribution:
    """Return the contribution with the condition, and without Warnings that it held before.

    An Operation has no condition that would remember, so its Warnings stay.
    """
    composite = request.observed.composite if request.observed is not None else None
    if composite is None or composite.struct_part is None or contribution.is_fatal:
        return contribution
    warnings = [
        result for result in contribution.results if result.severity == enums.SEVERITY_WARNING
    ]
    # Most XRs have neither. Finding the name in the bytes is cheaper than decoding them.
    if (
        not warnings
        and not composite.message.contains(_CONDITION_BYTES)
        and _CONTEXT_KEY_BYTES not in (request.context or b"")
    ):
        return contribution
    xr = view_object(composite.struct_part)
    names = (objects.find_path(xr, path) for path in _REVISION_PATHS)
    revision = next((name for name in names if isinstance(name, str)), "")
    observed = objects.find_condition(xr, CONDITION)
    old = _parse(observed, revision)
    sections, positions = _read_entry(request) or (dict(old), {})
    is_called_again = has_unanswered(request, contribution.resources, contribution.schemas)
    # Most calls are neither repeated nor behind others that warn, and need no digest.
    position = identify_call(request) if positions or is_called_again else _LAST_CALL
    label = _label(request, position, positions)
    sections.pop(label, None)
    results = contribution.results
    if warnings:
        text = _section(warnings)
        # A step that is called once more than it needs to be has no second section.
        earlier = {each: sections[each] for each in sections.keys() & positions.keys()}
        if not _has_text(label, text, earlier):
            sections[label] = text
        if _has_text(label, text, old):
            results = tuple(each for each in results if each.severity != enums.SEVERITY_WARNING)
    to_hand: Object = {
        "sections": _to_lines(sections),
        # The next call of the same step must not be taken for one of another with its input.
        "positions": {label: position if is_called_again else _LAST_CALL},
    }
    return replace(
        contribution,
        results=results,
        conditions=(*contribution.conditions, _build(sections, revision, xr)),
        context={**contribution.context, CONTEXT_KEY: to_hand},
    )


def _read_entry(request: wire.Request) -> tuple[dict[str, str], Object] | None:
    """Return the sections as earlier calls leave them, and the positions of these; None of none.

    A position is that of a call which Crossplane repeats with what it requires, or _LAST_CALL.
    """
    value = find_context(request, CONTEXT_KEY)
    lines = objects.find_path(value, ("sections",))
    positions = objects.find_path(value, ("positions",))
    if not isinstance(lines, str) or not isinstance(positions, dict):
        return None
    return _parse_lines(lines.split("\n")), positions


def _parse(condition: Mapping[str, Readable] | None, revision: str) -> dict[str, str]:
    """Return the sections of the observed condition.

    Those of another revision belong to steps that may be gone, or may have another input now.
    """
    if condition is None or condition.get("status") != "True":
        return {}
    header, *lines = str(condition.get("message", "")).split("\n")
    match = _HEADER.fullmatch(header)
    if match is None or (match["revision"] or "") != revision:
        return {}
    return _parse_lines(lines)


def _parse_lines(lines: list[str]) -> dict[str, str]:
    matches = filter(None, map(_SECTION.fullmatch, lines))
    return {match["label"]: match["text"] for match in matches}


def _to_lines(sections: Mapping[str, str]) -> str:
    return "\n".join(f"{label}: {text}" for label, text in sorted(sections.items()))


def _label(request: wire.Request, position: str, positions: Mapping[str, Readable]) -> str:
    """Return the name of the step: of its input, since Crossplane does not send the step's.

    A digest of the input distinguishes steps whose inputs have no name, and a number those that
    have the same input: a call is one of the next of them, unless the call before is repeated.
    ``positions`` are those of earlier calls by their labels.
    """
    value = wire.decode_struct(request.input or b"", sort_keys=True)
    name = objects.find_path(value, ("metadata", "name")) or value.get("kind")
    text = json.dumps(value, sort_keys=True)
    first = label = f"{'-'.join(str(name).split())}-{digest(text)}"
    number = 1
    while positions.get(label, position) != position:
        number += 1
        label = f"{first}{_NUMBER_SIGN}{number}"
    return label


def _has_text(label: str, text: str, sections: Mapping[str, str]) -> bool:
    """Report whether the section of a step, or of another one with the same input, is ``text``.

    The numbers of steps with the same input change when the first of them begins to warn.
    """
    first = label.partition(_NUMBER_SIGN)[0]
    return any(
        other_text == text
        for other, other_text in sections.items()
        if other.partition(_NUMBER_SIGN)[0] == first
    )


def _section(warnings: list[wire.Result]) -> str:
    """Return the Warnings as one line; a digest stands for what is cut off."""
    text = " ".join("; ".join(each.message for each in warnings).split())
    short = cut(text, _MAX_BYTES)
    if short == text:
        return text
    return f"{short} [{digest(text)}]"


def _build(
    sections: Mapping[str, str], revision: str, xr: Mapping[str, Readable]
) -> wire.Condition:
    if not sections:
        return wire.Condition(CONDITION, enums.STATUS_CONDITION_FALSE, _NO_WARNINGS)
    generation = objects.find_path(xr, ("metadata", "generation"))
    # An XR that no API server has stored, as in render, has no generation.
    header = f"Generation {generation}" if generation else _WARNINGS
    if revision:
        header += f" of {revision}"
    message = f"{header}:\n{_to_lines(sections)}"
    return wire.Condition(CONDITION, enums.STATUS_CONDITION_TRUE, _WARNINGS, message)

"""Warnings once: a condition holds what stays wrong, and an event comes when it changes.

Crossplane makes an event of each Warning in each response. The XR's condition of the reconcile
before tells which Warnings are old. All steps of a pipeline share the condition, with a section
for each; a step that changes its section hands the others on in the context.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from function_script import objects, wire
from function_script.contribution import Contribution
from function_script.diagnostics import cut
from function_script.values import Object, Readable
from function_script.wire import enums

CONDITION: Final = "ProgramWarnings"
CONTEXT_KEY: Final = "script.fn.crossplane.io/warnings"
_WARNINGS: Final = "Warnings"
_NO_WARNINGS: Final = "NoWarnings"
_HEADER: Final = re.compile(r"Generation \S+( of (?P<revision>\S+))?:")
_SECTION: Final = re.compile(r"(?P<label>\S+): (?P<text>.*)")
_MAX_BYTES: Final = 1_000
_LABEL_DIGITS: Final = 6
_REVISION_PATHS: Final = (
    ("spec", "crossplane", "compositionRevisionRef", "name"),
    ("spec", "compositionRevisionRef", "name"),
)


def apply(request: wire.Request, contribution: Contribution) -> Contribution:
    """Return the contribution with the condition, and without Warnings that it held before.

    An Operation has no condition that would remember, so its Warnings stay.
    """
    composite = request.observed.composite if request.observed is not None else None
    if composite is None or composite.struct is None or contribution.is_fatal:
        return contribution
    warnings = [
        result for result in contribution.results if result.severity == enums.SEVERITY_WARNING
    ]
    # Most XRs have neither. Finding the name in the bytes is cheaper than decoding them.
    if not warnings and CONDITION.encode() not in composite.struct and not _has_handed(request):
        return contribution
    xr = _read_xr(composite.struct)
    revision = _find_revision(xr)
    observed = objects.find_condition(xr, CONDITION)
    old = _parse(observed, revision)
    label = _label(request)
    handed = _read_handed(request)
    base = old if handed is None else handed
    sections = dict(base)
    sections.pop(label, None)
    if warnings:
        sections[label] = _section(warnings)
    is_old = sections.get(label) == old.get(label)
    results = contribution.results
    if is_old:
        results = tuple(each for each in results if each.severity != enums.SEVERITY_WARNING)
    changed: Object = {} if is_old and handed is None else {CONTEXT_KEY: _to_lines(sections)}
    conditions = contribution.conditions
    if sections or observed is not None or handed is not None:
        conditions = (*conditions, _build(sections, revision, xr))
    return replace(
        contribution,
        results=results,
        conditions=conditions,
        context={**contribution.context, **changed},
    )


def _has_handed(request: wire.Request) -> bool:
    return request.context is not None and CONTEXT_KEY.encode() in request.context


def _read_handed(request: wire.Request) -> dict[str, str] | None:
    """Return the sections that an earlier step of this reconcile has changed; None without one."""
    if not _has_handed(request) or request.context is None:
        return None
    fields = wire.decode_struct_fields(request.context)
    lines = wire.decode_value(fields[CONTEXT_KEY]) if CONTEXT_KEY in fields else None
    return _parse_lines(lines.split("\n")) if isinstance(lines, str) else None


def _read_xr(struct: bytes) -> Object:
    fields = wire.decode_struct_fields(struct)
    keys = fields.keys() & {"metadata", "spec", "status"}
    return {key: wire.decode_value(fields[key]) for key in keys}


def _find_revision(xr: Mapping[str, Readable]) -> str:
    """Return the name of the XR's CompositionRevision; "" if it has none."""
    names = (objects.find_path(xr, path) for path in _REVISION_PATHS)
    return next((name for name in names if isinstance(name, str)), "")


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


def _label(request: wire.Request) -> str:
    """Return the name of the step: of its input, since Crossplane does not send the step's.

    A digest of the input distinguishes steps whose inputs have no name.
    """
    value = wire.decode_struct(request.input or b"", sort_keys=True)
    name = objects.find_path(value, ("metadata", "name")) or value.get("kind")
    text = json.dumps(value, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_LABEL_DIGITS]
    return f"{'-'.join(str(name).split())}-{digest}"


def _section(warnings: list[wire.Result]) -> str:
    """Return the Warnings as one line; a digest stands for what is cut off."""
    text = " ".join("; ".join(each.message for each in warnings).split())
    short = cut(text, _MAX_BYTES)
    if short == text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_LABEL_DIGITS]
    return f"{short} [{digest}]"


def _build(
    sections: Mapping[str, str], revision: str, xr: Mapping[str, Readable]
) -> wire.Condition:
    if not sections:
        return wire.Condition(CONDITION, enums.STATUS_CONDITION_FALSE, _NO_WARNINGS)
    generation = objects.find_path(xr, ("metadata", "generation"))
    header = f"Generation {generation or 'unknown'}"
    if revision:
        header += f" of {revision}"
    message = f"{header}:\n{_to_lines(sections)}"
    return wire.Condition(CONDITION, enums.STATUS_CONDITION_TRUE, _WARNINGS, message)

"""The report a worker sends beside a response: JSON in, typed values out.

A worker has run a stranger's program, so its pool believes nothing that does not parse: reading
raises ValueError for any surprise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import orjson

from function_script.diagnostics import Diagnostic, Note, cut
from function_script.sandbox.ipc import MAX_REPORT_BYTES
from function_script.sandbox.outcome import Cause
from function_script.source import Excerpt, Span
from function_script.telemetry import COUNTS, RequestInfo

if TYPE_CHECKING:
    from function_script.values import Object, Value

_SURPRISES = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
# Of a report that is too long; JSON may take six bytes for one.
_MAX_PROBLEMS = 50
_MAX_LOG_BYTES = 16 * 1024
# Of a text of a RequestInfo, and of its numbers.
_MAX_CHARACTERS = 256
_MAX_NUMBER = 10**12
_NUMBERS = frozenset({*COUNTS, "program_microseconds"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """``cause`` is set when there is no answer; ``detail`` is then shown to the user.

    ``trace`` is for the operator's log only: where in our own code a bug struck.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    info: RequestInfo = field(default_factory=RequestInfo)
    log: str = ""
    cause: Cause | None = None
    detail: str = ""
    trace: str = ""


def to_bounded_json(report: WorkerReport) -> bytes:
    """The same as ``to_json``, shortened to what a pool takes; most reports are small."""
    text = to_json(report)
    if len(text) <= MAX_REPORT_BYTES:
        return text
    problems = tuple(_shortened(problem) for problem in report.diagnostics[:_MAX_PROBLEMS])
    return to_json(
        WorkerReport(
            diagnostics=problems,
            info=_shortened_info(report.info),
            log=cut(report.log, _MAX_LOG_BYTES),
            cause=report.cause,
            detail=cut(report.detail),
            trace=cut(report.trace, _MAX_LOG_BYTES),
        )
    )


def _shortened_info(info: RequestInfo) -> RequestInfo:
    members = {
        name: cut(value) if isinstance(value, str) else value
        for name, value in _from_info(info).items()
    }
    return RequestInfo(**members)  # type: ignore[arg-type] # of the same types


def _shortened(problem: Diagnostic) -> Diagnostic:
    """The problem without its source, which may be one line of any length."""
    return replace(
        problem,
        message=cut(problem.message),
        hint=None if problem.hint is None else cut(problem.hint),
        notes=(),
        excerpt=None,
        field=problem.field if len(problem.field) <= _MAX_CHARACTERS else "",
    )


def to_json(report: WorkerReport) -> bytes:
    """The report's bytes, without what is empty; lone surrogates and the like are replaced."""
    document: Object = {"info": _from_info(report.info)}
    if report.diagnostics:
        document["diagnostics"] = [_from_diagnostic(problem) for problem in report.diagnostics]
    if report.log:
        document["log"] = report.log
    if report.cause is not None:
        document["cause"] = report.cause.value
    if report.detail:
        document["detail"] = report.detail
    if report.trace:
        document["trace"] = report.trace
    try:
        return orjson.dumps(document)
    except TypeError:
        # It does not write lone surrogates.
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def from_json(data: bytes) -> WorkerReport:
    """The report in ``data``; raises ValueError."""
    try:
        document = orjson.loads(data)
        if len(document) == 1:
            return WorkerReport(info=_to_info(document["info"]))
        return _report(document)
    except _SURPRISES as error:
        raise ValueError(f"an unreadable report: {type(error).__name__}") from error


def _report(document: Object) -> WorkerReport:
    cause = document.get("cause")
    return WorkerReport(
        diagnostics=tuple(
            _to_diagnostic(_object(item)) for item in _list(document.get("diagnostics", []))
        ),
        info=_to_info(document["info"]),
        log=_text(document.get("log", "")),
        cause=None if cause is None else Cause(cause),
        detail=_text(document.get("detail", "")),
        trace=_text(document.get("trace", "")),
    )


def _from_info(info: RequestInfo) -> Object:
    """The fields that are known."""
    return {
        name: value
        for name, value in zip(RequestInfo._fields, info, strict=True)
        if value is not None and value != ""
    }


def _to_info(value: Value) -> RequestInfo:
    members = _object(value)
    for name, item in members.items():
        if name in _NUMBERS:
            if type(item) is not int or not 0 <= item < _MAX_NUMBER:
                raise ValueError
        elif not isinstance(item, str):
            raise TypeError
        elif len(item) > _MAX_CHARACTERS and name != "bug":
            members[name] = item[:_MAX_CHARACTERS]
    return RequestInfo(**members)  # type: ignore[arg-type] # checked, and other names are TypeErrors


def _from_diagnostic(problem: Diagnostic) -> Object:
    excerpt = problem.excerpt
    return {
        "message": problem.message,
        "hint": problem.hint,
        "notes": [
            note if isinstance(note, str) else [note.text, _from_span(note.span)]
            for note in problem.notes
        ],
        "span": _from_span(problem.span),
        "excerpt": [excerpt.first_line, *excerpt.lines] if excerpt else None,
        "field": problem.field,
        "mention": _from_span(problem.mention),
    }


def _from_span(span: Span | None) -> Value:
    return None if span is None else [span.name, span.line, span.column, span.width]


def _to_diagnostic(document: Object) -> Diagnostic:
    excerpt, hint = document["excerpt"], document["hint"]
    return Diagnostic(
        message=_text(document["message"]),
        hint=None if hint is None else _text(hint),
        notes=tuple(_note(note) for note in _list(document["notes"])),
        span=_to_span(document["span"]),
        excerpt=None if excerpt is None else _excerpt(_list(excerpt)),
        field=_text(document["field"]),
        mention=_to_span(document["mention"]),
    )


def _note(value: Value) -> str | Note:
    if isinstance(value, str):
        return value
    text, span = _list(value)
    return Note(_text(text), _span(_list(span)))


def _to_span(value: Value) -> Span | None:
    return None if value is None else _span(_list(value))


def _span(parts: list[Value]) -> Span:
    name, line, column, width = parts
    return Span(
        name=_text(name),
        line=_number(line),
        column=None if column is None else _number(column),
        width=_number(width),
    )


def _excerpt(parts: list[Value]) -> Excerpt:
    return Excerpt(first_line=_number(parts[0]), lines=tuple(_text(line) for line in parts[1:]))


def _object(value: Value) -> Object:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value

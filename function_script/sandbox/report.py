"""The report that a worker sends with a response, as JSON and as typed values.

Reports are untrusted input: parsing raises ValueError for anything unexpected.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Final, TypeVar, get_args

import orjson

from function_script.inputs import MissingContent
from function_script.request.program import Blocked
from function_script.request.remote import parsing
from function_script.request.remote.reference import RemoteReference, Transport
from function_script.request.values import Object, Value
from function_script.sandbox.ipc import MAX_REPORT_BYTES
from function_script.sandbox.outcome import Cause
from function_script.step.telemetry import COUNTS, RequestInfo
from function_script.texts.diagnostics import Code, CodeName, Diagnostic, Kind, Note, cut
from function_script.texts.source import Excerpt, Span

T = TypeVar("T")
_PARSE_ERRORS = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
_KINDS: Final[dict[str, Kind]] = {kind: kind for kind in get_args(Kind)}
_CODES: Final[dict[str, CodeName]] = {name: name for name in get_args(CodeName)}
# Bounds of a report that is too long; JSON may need six bytes for one.
_MAX_PROBLEMS = 50
_MAX_LOG_BYTES = 16 * 1024
# Bounds of a text and of a number of a RequestInfo.
_MAX_CHARACTERS = 256
_MAX_NUMBER = 10**12
# The positions of the fields of a RequestInfo.
_NUMBERS: Final = tuple(map(RequestInfo._fields.index, (*COUNTS, "program_microseconds")))
_TEXTS: Final = tuple(set(range(len(RequestInfo._fields))) - {*_NUMBERS})
# The members of a report that are as in JSON, and left out if they are empty.
_MEMBERS: Final = ("diagnostics", "blocked", "missing", "log", "detail", "trace")
_BUG: Final = RequestInfo._fields.index("bug")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """The facts about a run that its response does not show.

    ``cause`` is set when there is no response; ``detail`` is then shown to the user. ``trace``
    locates a bug in our own code, for the operator's log only.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    missing: tuple[MissingContent, ...] = ()
    info: RequestInfo = field(default_factory=RequestInfo)
    log: str = ""
    cause: Cause | None = None
    detail: str = ""
    trace: str = ""


def to_bounded_json(report: WorkerReport) -> bytes:
    """Return the report as JSON, shortened to the length that a pool accepts."""
    text = to_json(report)
    if len(text) <= MAX_REPORT_BYTES:
        return text
    # Without their source, which may be one line of any length.
    problems = tuple(
        replace(
            problem,
            message=cut(problem.message),
            hint=None if problem.hint is None else cut(problem.hint),
            notes=(),
            excerpt=None,
            field=problem.field if len(problem.field) <= _MAX_CHARACTERS else "",
            code=None,
        )
        for problem in report.diagnostics[:_MAX_PROBLEMS]
    )
    members = [cut(item) if isinstance(item, str) else item for item in report.info]
    return to_json(
        WorkerReport(
            diagnostics=problems,
            info=RequestInfo._make(members),
            log=cut(report.log, _MAX_LOG_BYTES),
            cause=report.cause,
            detail=cut(report.detail),
            trace=cut(report.trace, _MAX_LOG_BYTES),
        )
    )


def to_json(report: WorkerReport) -> bytes:
    """Return the report as JSON without empty members; lone surrogates are replaced."""
    document: dict[str, object] = {"info": list(report.info)}
    for name in _MEMBERS:
        if value := getattr(report, name):
            document[name] = value
    if report.cause is not None:
        document["cause"] = report.cause.value
    try:
        # Named tuples come to `default`.
        return orjson.dumps(document, default=list)
    except TypeError:
        # orjson does not write lone surrogates.
        text = json.dumps(document, ensure_ascii=False, default=asdict)
        return text.encode("utf-8", "replace")


def from_json(data: bytes) -> WorkerReport:
    """Parse a report; raise ValueError."""
    try:
        document = orjson.loads(data)
        info = _parse_info(document["info"])
        # The report of nearly every run, which had no problems.
        if len(document) == 1:
            return WorkerReport(info=info)
        diagnostics = _check(document.get("diagnostics", []), list)
        blocked = _check(document.get("blocked", []), list)
        missing = _check(document.get("missing", []), list)
        cause = document.get("cause")
        return WorkerReport(
            diagnostics=tuple(_parse_diagnostic(_check(item, dict)) for item in diagnostics),
            blocked=tuple(_parse_blocked(item) for item in blocked),
            missing=tuple(_parse_missing(item) for item in missing),
            info=info,
            log=_check(document.get("log", ""), str),
            cause=None if cause is None else Cause(cause),
            detail=_check(document.get("detail", ""), str),
            trace=_check(document.get("trace", ""), str),
        )
    except _PARSE_ERRORS as error:
        raise ValueError(f"an unreadable report: {type(error).__name__}") from error


def _parse_info(value: Value) -> RequestInfo:
    """Return the fields in their order, long texts cut."""
    items = _check(value, list)
    if len(items) != len(RequestInfo._fields):
        raise ValueError
    for index in _TEXTS:
        text = items[index]
        if not isinstance(text, str):
            raise TypeError
        if len(text) > _MAX_CHARACTERS and index != _BUG:
            items[index] = text[:_MAX_CHARACTERS]
    for index in _NUMBERS:
        number = items[index]
        # By its exact type: a boolean is an int, too.
        if number is not None and (type(number) is not int or not 0 <= number < _MAX_NUMBER):
            raise ValueError
    return RequestInfo._make(items)


def _parse_diagnostic(document: Object) -> Diagnostic:
    span, excerpt = document["span"], document["excerpt"]
    hint = document["hint"]
    return Diagnostic(
        message=_check(document["message"], str),
        hint=None if hint is None else _check(hint, str),
        notes=tuple(_parse_note(note) for note in _check(document["notes"], list)),
        span=None if span is None else _parse_span(span),
        excerpt=None if excerpt is None else _parse_excerpt(excerpt),
        field=_check(document["field"], str),
        kind=_KINDS[_check(document["kind"], str)],
        code=None if document["code"] is None else _parse_code(_check(document["code"], list)),
    )


def _parse_code(parts: list[Value]) -> Code:
    name, subject = (_check(item, str) for item in parts)
    return Code(_CODES[name], subject)


def _parse_blocked(value: Value) -> Blocked:
    subject, reason, dependencies = _check(value, list)
    names = tuple(_check(name, str) for name in _check(dependencies, list))
    return Blocked(_check(subject, str), _check(reason, str), names)


def _parse_missing(value: Value) -> MissingContent:
    path, fields = _check(value, list)
    texts = {key: _check(text, str) for key, text in _check(fields, dict).items()}
    transport: Transport = "oci" if texts.pop("transport") == "oci" else "git"
    reference = RemoteReference(transport=transport, **texts)
    if not parsing.is_valid(reference):
        raise ValueError
    return _check(path, str), reference


def _parse_note(value: Value) -> str | Note:
    if isinstance(value, str):
        return value
    text, span, is_cause = _check(value, list)
    return Note(_check(text, str), _parse_span(span), is_cause is True)


def _parse_span(value: Value) -> Span:
    fields = _check(value, dict)
    column = fields["column"]
    return Span(
        name=_check(fields["name"], str),
        line=_check(fields["line"], int),
        column=None if column is None else _check(column, int),
        width=_check(fields["width"], int),
    )


def _parse_excerpt(value: Value) -> Excerpt:
    fields = _check(value, dict)
    return Excerpt(
        first_line=_check(fields["first_line"], int),
        first_column=_check(fields["first_column"], int),
        lines=tuple(_check(line, str) for line in _check(fields["lines"], list)),
    )


def _check(value: Value, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError
    return value

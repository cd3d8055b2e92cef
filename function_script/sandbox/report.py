"""The report that a worker sends with a response, as JSON and as typed values.

Reports are untrusted input: parsing raises ValueError for anything unexpected.
"""

import json
from dataclasses import asdict, replace
from typing import Final, TypeVar, get_args

import orjson

from function_script.inputs import MissingContent
from function_script.request.program import Blocked
from function_script.request.remote import parsing
from function_script.request.remote.reference import RemoteReference, Transport
from function_script.request.values import Object, Value
from function_script.sandbox.ipc import MAX_REPORT_BYTES
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.step.telemetry import COUNTS, Answered, RequestInfo
from function_script.texts.diagnostics import Code, CodeName, Diagnostic, Kind, Note, cut
from function_script.texts.errors import LimitError, LimitName, SandboxError
from function_script.texts.source import Excerpt, Span

T = TypeVar("T")
_PARSE_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_KINDS: Final[dict[str, Kind]] = {kind: kind for kind in get_args(Kind)}
_CODES: Final[dict[str, CodeName]] = {name: name for name in get_args(CodeName)}
_LIMITS: Final[dict[str | None, LimitName | None]] = {
    None: None,
    **{name: name for name in get_args(LimitName)},
}
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
_MEMBERS: Final = ("diagnostics", "blocked", "missing", "log", "detail")
_BUG: Final = RequestInfo._fields.index("bug")


def to_bounded_json(reply: Reply) -> bytes:
    """Return the report of a reply, shortened to the length that a pool accepts."""
    text = to_json(reply)
    if len(text) <= MAX_REPORT_BYTES:
        return text
    log = cut(reply.log, _MAX_LOG_BYTES)
    if isinstance(reply, Failed):
        return to_json(replace(reply, log=log, detail=cut(reply.detail, _MAX_LOG_BYTES)))
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
        for problem in reply.diagnostics[:_MAX_PROBLEMS]
    )
    info = RequestInfo._make(cut(item) if isinstance(item, str) else item for item in reply.info)
    return to_json(Answered(response=b"", diagnostics=problems, info=info, log=log))


def to_json(reply: Reply) -> bytes:
    """Return the report of a reply without empty members; lone surrogates are replaced."""
    document: dict[str, object]
    if isinstance(reply, Answered):
        document = {"info": list(reply.info)}
    else:
        document = {"cause": reply.cause.value, "limit": reply.error.limit}
    for name in _MEMBERS:
        if value := getattr(reply, name, None):
            document[name] = value
    try:
        # Named tuples come to `default`.
        return orjson.dumps(document, default=list)
    except TypeError:
        # orjson does not write lone surrogates.
        text = json.dumps(document, ensure_ascii=False, default=asdict)
        return text.encode("utf-8", "replace")


def from_json(
    data: bytes, response: bytes = b"", waited_seconds: float = 0.0, cpu_seconds: float = 0.0
) -> Reply:
    """Return the reply of a report, with its response and the times of the run.

    Raise ValueError.
    """
    try:
        document = orjson.loads(data)
        problems = [_parse_diagnostic(item) for item in _read_list(document, "diagnostics")]
        log = _check(document.get("log", ""), str)
        if "cause" in document:
            kind = LimitError if problems[0].kind == "limit" else SandboxError
            return Failed(
                error=kind(*problems, limit=_LIMITS[document["limit"]]),
                cause=Cause(document["cause"]),
                log=log,
                detail=_check(document.get("detail", ""), str),
                waited_seconds=waited_seconds,
                cpu_seconds=cpu_seconds,
            )
        return Answered(
            response=response,
            diagnostics=tuple(problems),
            info=_parse_info(document["info"]),
            blocked=tuple(_parse_blocked(item) for item in _read_list(document, "blocked")),
            missing=tuple(_parse_missing(item) for item in _read_list(document, "missing")),
            log=log,
            waited_seconds=waited_seconds,
            cpu_seconds=cpu_seconds,
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


def _read_list(document: Object, name: str) -> list[Value]:
    return _check(document.get(name, []), list)


def _parse_diagnostic(value: Value) -> Diagnostic:
    document = _check(value, dict)
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

"""Convert the interpreter's error texts: message, span, hint and the script's calls.

The interpreter gives one text for each error; only this module knows its shape.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from function_script import objects
from function_script.diagnostics import Diagnostic, Note, cut
from function_script.engines.starlark import error_positions, hints, run_hints, syntax_hints
from function_script.engines.starlark.analysis import keys, missing
from function_script.engines.starlark.dialect import MAX_CALLS
from function_script.errors import DocumentError, FatalError, LimitError, LimitName, ProgramError
from function_script.limits import Limits
from function_script.source import Source, Span, excerpt, span_at
from function_script.values import Readable

# Names of our own sources. A program's source has the name of a field or a path.
BRIDGE = "<bridge>"
WRAPPER = "<wrapper>"
PRELUDE = "<prelude>"

Sources: TypeAlias = Mapping[str, Source]

# `fail` with a text of a megabyte gives an error of a megabyte.
_MAX_MESSAGE_BYTES = 8 * 1024
_MAX_CALLS_SHOWN = 8

_HEAD = re.compile(r"^error: ", re.MULTILINE)
_SPOT = re.compile(r"^ *--> (.+):([0-9]+):([0-9]+)$", re.MULTILINE)
_FRAME = re.compile(r"^  \* (.+):([0-9]+), in (.+)$", re.MULTILINE)
_UNDERLINE = re.compile(r"^ *\| ( *)(\^+)$", re.MULTILINE)
_MAIN_IS_CALLED = "main is called for every request: take the call at the top level out"
_MAIN_CALL = re.compile(r"\bmain\(")
_MAIN = re.compile(r"^def +main\b", re.MULTILINE)
# A lookup did not find its key.
_ABSENT = re.compile(r"^Key .* was not found$|`NoneType`")
# The interpreter's name for statements outside of functions.
_TOP = {"<module>": "the top level"}
_LINE_END = re.compile(r"\s*\n\s*")
_RAISED = re.compile(r"(?:ValueError|TypeError): ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    name: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """An error text in parts; ``frames`` run from the outermost call inward."""

    message: str
    spot: Span | None
    frames: tuple[_Frame, ...]


def main_span(source: Source) -> Span | None:
    """Return the span of the definition of ``main``."""
    match = _MAIN.search(source.text)
    return None if match is None else span_at(source, match.start(), len(match[0]))


def unparsable(text: str, source: Source) -> ProgramError:
    """Return the error of a source that does not parse."""
    failure = _read(text)
    message, spot = error_positions.of_syntax(failure.message, failure.spot, text, source)
    failure = replace(failure, message=message, spot=spot)
    problem = _diagnostic(f"cannot parse {source.name}", failure, {source.name: source})
    hint = syntax_hints.find(message, spot, source)
    if hint is not None:
        span = hint.span or problem.span
        frame = excerpt(source, span) if span is not None else None
        problem = replace(problem, hint=hint.text, span=span, excerpt=frame)
    return ProgramError(problem)


def unloadable(
    text: str, source: Source, sources: Sources, limits: Limits, hint: str | None = None
) -> FatalError:
    """Return the error of a source whose top level failed; ``hint`` is for a failed load."""
    failure = _read(text)
    verb = f"cannot load {source.name}"
    if limit := _limit(verb, failure, sources, limits):
        return limit
    problem = _diagnostic(verb, failure, sources)
    for frame in failure.frames:
        line = _line(sources.get(frame.name), Span(name=frame.name, line=frame.line))
        if frame.function in _TOP and _MAIN_CALL.search(line):
            problem = replace(problem, hint=_MAIN_IS_CALLED)
    return ProgramError(replace(problem, hint=hint or problem.hint))


def no_main(text: str, main: Source) -> ProgramError:
    """Return the error of a script without ``main``."""
    cause = _read(text).message
    if "no symbol `main`" in cause or "`main` is not exported" in cause:
        cause = "the script must define main(req)"
    hint = 'begin with `def main(req):` and return a dict such as {"desired": {"resources": {}}}'
    span = Span(name=main.name, line=1, column=1)
    return ProgramError.of(
        f"cannot run main: {cause}", span=span, excerpt=excerpt(main, span), hint=hint
    )


def is_absence(text: str) -> bool:
    """Report whether a script failed because a lookup did not find its key."""
    return _ABSENT.search(_read(text).message) is not None


def failed(  # noqa: PLR0913 - the script, its request, and what bounds both
    text: str,
    main: Source,
    sources: Sources,
    request: Mapping[str, Readable],
    limits: Limits,
    *,
    exceeded: LimitName | None,
) -> FatalError:
    """Return the error of a script that failed while it ran for this request.

    ``exceeded`` is the limit that a result has exceeded, if it was written and refused for that.
    """
    failure = _read(text)
    if limit := _limit("cannot run main", failure, sources, limits):
        return limit
    if failure.spot is not None and failure.spot.name == BRIDGE:
        is_limit = _RAISED.match(failure.message) is not None
        return _bad_result(failure.message, main, sources, exceeded if is_limit else None)
    if failure.spot is not None and failure.spot.name == WRAPPER:
        return _bad_contract(failure.message, main)
    problem = _diagnostic("cannot run main", failure, sources)
    if _ABSENT.search(failure.message):
        hint = problem.hint
        if cause := missing_key(text, sources, request):
            is_whole = cause.is_suggestion or hint is None
            problem = replace(problem, hint=cause.text if is_whole else f"{cause.text}; {hint}")
    return ProgramError(problem)


def missing_key(
    text: str, sources: Sources, request: Mapping[str, Readable]
) -> missing.MissingKey | None:
    """Return the key of the request that a failed lookup did not find; None when it is unclear."""
    span = _read(text).spot
    if span is None or span.name not in sources:
        return None
    start = (span.column or 1) - 1
    expression = _line(sources[span.name], span)[start : start + span.width]
    return missing.find(expression, [source.text for source in sources.values()], request)


def _read(text: str) -> _Failure:
    head = _HEAD.search(text)
    if head is None:
        return _Failure(message=_one_line(text), spot=None, frames=())
    # The last one: the text of `fail` may hold lines that look the same.
    spots = list(_SPOT.finditer(text, head.end()))
    end = spots[-1].start() if spots else len(text)
    frames = tuple(
        _Frame(name=match[1], line=int(match[2]), function=match[3])
        for match in _FRAME.finditer(text, 0, head.start())
    )
    spot = None
    if spots:
        name, line, column = spots[-1].groups()
        underline = _UNDERLINE.search(text, spots[-1].end())
        width = len(underline[2]) if underline else 1
        spot = Span(name=name, line=int(line), column=int(column), width=width)
    return _Failure(message=_one_line(text[head.end() : end]), spot=spot, frames=frames)


def _one_line(text: str) -> str:
    return cut(_LINE_END.sub(" ", text.strip()), _MAX_MESSAGE_BYTES)


def _diagnostic(verb: str, failure: _Failure, sources: Sources) -> Diagnostic:
    """Return the problem at its position in a source of the program."""
    span, calls = _position(failure, sources)
    source = sources.get(span.name) if span else None
    span = error_positions.of_run(failure.message, span, source)
    line = _line(source, span) if span else ""
    message, hint = hints.explain(failure.message, line, span.column if span else None)
    if certain := run_hints.find(failure.message, span, source):
        message, hint = certain.message or message, certain.hint or hint
        span = certain.span or span
    return Diagnostic(
        message=_message(verb, message),
        span=span,
        excerpt=excerpt(source, span) if source and span else None,
        hint=hint,
        notes=_notes(calls),
    )


def _message(verb: str, message: str) -> str:
    # A message of `fail` or of the library is whole, and no cause.
    if message.startswith("fail: "):
        return message.removeprefix("fail: ")
    if raised := _RAISED.match(message):
        return message[raised.end() :]
    return f"{verb}: {message}"


def _position(failure: _Failure, sources: Sources) -> tuple[Span | None, Sequence[_Frame]]:
    """Return the position in a source of the program, and the program's calls that lead there."""
    calls = [frame for frame in failure.frames if frame.name in sources]
    spot = failure.spot
    if spot is not None and spot.name in sources:
        # The last frame is the failed call itself, unless an operator failed inside of it.
        is_same = bool(calls) and (calls[-1].name, calls[-1].line) == (spot.name, spot.line)
        return spot, calls[:-1] if is_same else calls
    if not calls:
        return None, ()
    return _call_span(calls[-1], failure.frames, sources), calls[:-1]


def _call_span(call: _Frame, frames: Sequence[_Frame], sources: Sources) -> Span:
    """Return the span of a call into the prelude: of the function's name, as frames have lines."""
    span = Span(name=call.name, line=call.line)
    callee = next((frame for frame in frames[frames.index(call) :] if frame.name == PRELUDE), None)
    if callee is None:
        return span
    # The functions of a response are bound to it: `rsp.resource` is our `_resource`.
    name = callee.function.rpartition(".")[2].lstrip("_")
    matches = list(re.finditer(rf"\b{re.escape(name)}\b", _line(sources[call.name], span)))
    if len(matches) != 1:
        return span
    return replace(span, column=matches[0].start() + 1, width=len(name))


def _line(source: Source | None, span: Span) -> str:
    """Return the line of a place; "" of none."""
    lines = source.text.split("\n") if source is not None else []
    return lines[span.line - 1] if span.line <= len(lines) else ""


def _notes(calls: Sequence[_Frame]) -> tuple[str | Note, ...]:
    notes: list[str | Note] = [
        Note(
            f"called from {_TOP.get(frame.function, frame.function)} at",
            Span(name=frame.name, line=frame.line),
        )
        for frame in calls
    ]
    if len(notes) > _MAX_CALLS_SHOWN:
        half = _MAX_CALLS_SHOWN // 2
        notes[half:-half] = [f"… {len(notes) - 2 * half} more calls"]
    return tuple(reversed(notes))


def _limit(verb: str, failure: _Failure, sources: Sources, limits: Limits) -> LimitError | None:
    limit: LimitName | None = None
    if failure.message == "Evaluation cancelled":
        limit = "time"
        cause = f"it needs more CPU time than its limit of {limits.timeout_seconds:g} s"
        hint = "look for a loop that does not end, or runs over more than it must"
    elif failure.message.startswith("Starlark call stack overflow"):
        cause = f"calls are nested deeper than the limit of {MAX_CALLS}"
        hint = "a function calls itself without end; for long lists use a loop"
    else:
        return None
    problem = _diagnostic(verb, failure, sources)
    return LimitError(replace(problem, message=f"{verb}: {cause}", hint=hint), limit=limit)


def _bad_result(
    message: str, main: Source, sources: Sources, limit: LimitName | None
) -> FatalError:
    cause = _RAISED.sub("", message.removeprefix("fail: "), count=1)
    try:
        # Where the script writes the field that the cause begins with.
        span = keys.find(objects.parse_path(cause.partition(" ")[0]), sources.values())
    except ValueError:
        span = None
    span = span or main_span(main)
    frame = excerpt(sources[span.name], span) if span else None
    text = f"cannot read the result of main: {cause}"
    if limit is not None:
        return LimitError.of(text, span=span, excerpt=frame, limit=limit)
    hint = hints.for_result(cause)
    return DocumentError.of(text, span=span, excerpt=frame, hint=hint)


def _bad_contract(message: str, main: Source) -> FatalError:
    if "recursion limit" in message:
        return LimitError.of("cannot run main: the request is nested too deeply")
    cause = "main must take exactly one argument"
    if message.startswith("Operation `call()` not supported"):
        cause = "main must be a function"
    elif "argument" not in message and "parameter" not in message.lower():
        cause = message
    span = main_span(main)
    frame = excerpt(main, span) if span else None
    return ProgramError.of(
        f"cannot run main: {cause}", span=span, excerpt=frame, hint="write `def main(req):`"
    )

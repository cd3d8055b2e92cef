"""Make our errors of the interpreter's: message, span, hint and the script's calls."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Final, ParamSpec, TypeAlias, TypeVar

from function_script.engines import missing_values
from function_script.engines.library import ArgumentError
from function_script.engines.starlark import interpreter, mistakes, syntax_hints
from function_script.engines.starlark.analysis import missing, syntax
from function_script.engines.starlark.interpreter import MAX_CALLS, Failure, Frame, find_line
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.values import Readable, type_name
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic, Note
from function_script.texts.errors import (
    DocumentError,
    FatalError,
    HintedError,
    LimitError,
    LimitName,
    ProgramError,
)
from function_script.texts.source import Source, Span, span_at

# Names of our own sources. A program's source has the name of a field or a path.
BRIDGE = "<bridge>"
WRAPPER = "<wrapper>"
PRELUDE = "<prelude>"

Sources: TypeAlias = Mapping[str, Source]
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_MAX_CALLS_SHOWN = 8
_MAIN_IS_CALLED = "main is called for every request: take the call at the top level out"
_MAIN_CALL = re.compile(r"\bmain\(")
_MAIN = re.compile(r"^def +main\b", re.MULTILINE)
_FUNCTIONS = re.compile(r"^def +(\w+)", re.MULTILINE)
_RUN: Final = "cannot run main"
_GET_VALUE: Final = 'where it may be missing, use get(value, "a.b.c", default)'
# Its names in Crossplane's SDK for Python.
_OTHER_MAINS: Final = ("compose", "RunFunction")


# The hint for a refusal, by its code and its subject; "" is any other subject.
_HINTS: Final = {
    ("key", "function"): "call it, with parentheses",
    ("key", "int"): "use str(key)",
    ("main", ""): f"{mistakes.RESULT}, or what response() gives",
    ("main", "function"): "call it, with parentheses",
    ("main", "list"): mistakes.RESULT,
    ("main", "string"): f"{mistakes.RESULT}; from_yaml(text) reads an object",
    ("reserved", ""): "choose another type",
    ("reserved", "Ready"): "choose another type; rsp.ready(True) sets the readiness",
    ("request", ""): 'write get_xr(req), or get_observed(req, "name")',
    ("name", ""): "each has a name of its own: in a loop, make it of the item",
    ("selector", ""): 'write match_name = "NAME" or match_labels = {"LABEL": "VALUE"}',
    ("type", "function"): "call it, with parentheses",
    ("type", "range"): "write list(range(n))",
}


class RefusalError(ValueError):
    """A refusal of our own functions of Starlark: a code, and the path of a value of the result.

    ``subject`` is the type of that value, or what else the code is about.
    """

    def __init__(self, text: str, code: str = "", path: str = "", subject: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.path = path
        self.subject = subject

    @property
    def hint(self) -> str | None:
        """Return what the author does about it; None if that is not certain."""
        key = self.code, self.subject
        path = objects.parse_path(self.path) if key == ("type", "function") else ()
        if path[-1:] == ("build",):
            return "return rsp.build()"
        if "depends_on" in path:
            return "names of resources are in quotes"
        return _HINTS.get(key) or _HINTS.get((self.code, ""))


# The error of a function of ours that has stopped a script. The interpreter has its text only.
_raised: ContextVar[ValueError | None] = ContextVar("raised", default=None)


def recorded(call: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function for scripts, whose errors are told to `failed` as they are."""

    def call_recorded(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return call(*arguments, **named)
        except ValueError as error:
            _raised.set(error)
            raise

    return call_recorded


def take_raised() -> ValueError | None:
    """Return the error of a function of ours that has stopped a script, once; None without one."""
    error = _raised.get()
    _raised.set(None)
    return error


@recorded
def refuse(text: str, code: str = "", path: str = "", subject: str = "") -> None:
    """Stop a script: the function of that name in our sources."""
    raise RefusalError(text, code, path, subject)


def main_span(source: Source) -> Span | None:
    """Return the span of the definition of ``main``."""
    match = _MAIN.search(source.text)
    return None if match is None else span_at(source, match.start(), len(match[0]))


def unparsable(text: str, source: Source) -> ProgramError:
    """Return the error of a source that does not parse."""
    failure = interpreter.correct_syntax_position(interpreter.read(text), text, source)
    problem = _diagnostic(f"cannot parse {source.name}", failure, {source.name: source})
    if finding := syntax_hints.find(failure, source):
        problem = replace(problem, hint=finding.hint).at(source, finding.span or problem.span)
    return ProgramError(problem)


def unloadable(
    text: str, source: Source, sources: Sources, limits: Limits, hint: str | None = None
) -> FatalError:
    """Return the error of a source whose top level failed; ``hint`` is for a failed load."""
    failure = interpreter.read(text)
    verb = f"cannot load {source.name}"
    if limit := _limit(verb, failure, sources, limits):
        return limit
    problem = _diagnostic(verb, failure, sources, take_raised())
    spans = [
        Span(name=frame.name, line=frame.line)
        for frame in failure.frames
        if frame.function == interpreter.TOP
    ]
    tree = syntax.parse(source.text) if failure.code == "data" and failure.spot is None else None
    if tree is not None and tree.body:
        # The binding hands the value of the last statement to Python.
        end = syntax.span_of(tree.body[-1], source)
        message = f"{verb}: the value of this statement is no data, and nothing uses it"
        problem = replace(problem, message=message, hint="take it out").at(source, end)
        spans.append(end)
    if any(_MAIN_CALL.search(find_line(sources.get(span.name), span)) for span in spans):
        problem = replace(problem, hint=_MAIN_IS_CALLED)
    return ProgramError(replace(problem, hint=hint or problem.hint))


def no_main(main: Source) -> ProgramError:
    """Return the error of a script without ``main``."""
    hint = 'begin with `def main(req):` and return a dict such as {"desired": {"resources": {}}}'
    span = Span(name=main.name, line=1, column=1)
    names = _FUNCTIONS.findall(main.text)
    near = spelling.nearest("main", names) or next((n for n in _OTHER_MAINS if n in names), None)
    if near is not None and (match := re.search(rf"^def +{near}\b", main.text, re.MULTILINE)):
        span, hint = span_at(main, match.start(), len(match[0])), "write `def main(req):`"
    message = f"{_RUN}: the script must define main(req)"
    return ProgramError(Diagnostic(message=message, hint=hint).at(main, span))


def failed(  # noqa: PLR0913 - the script, its request, and what is known of the failure
    failure: Failure,
    main: Source,
    sources: Sources,
    request: Mapping[str, Readable],
    limits: Limits,
    *,
    raised: ValueError | None,
    is_deferring: bool,
    locate: Callable[[Path], Span | None],
) -> FatalError:
    """Return the error of a script that failed while it ran for this request.

    ``raised`` is the error of a function of ours that has stopped it. ``is_deferring``: resources
    that are functions wait for missing values. ``locate`` returns the place of a value that is
    refused.
    """
    if limit := _limit(_RUN, failure, sources, limits):
        return limit
    place = failure.spot.name if failure.spot is not None else ""
    if place == BRIDGE and isinstance(raised, RefusalError):
        return _bad_result(raised, main, sources, locate)
    if place == WRAPPER:
        return _bad_contract(failure, main)
    problem = _diagnostic(_RUN, failure, sources, raised, request)
    if problem.span is None and failure.code == "arguments":
        # The function of a resource, which is called when main has ended.
        problem = replace(problem, code=Code("program")).at(main, main_span(main))
        if body := mistakes.find_body(main, failure.arguments.get("parameter")):
            message = f"{_RUN}: {body.message}"
            problem = replace(problem, message=message, hint=body.hint).at(main, body.span)
    if not failure.is_absence:
        return ProgramError(problem)
    if cause := missing.find_missing_key(failure.spot, failure.arguments, sources, request):
        waiting = cause.waiting
        if waiting and is_deferring:
            waiting = missing_values.FUNCTION_WAITS_NOW
        # A name that is near is what its author meant: no other advice is needed.
        others = () if cause.is_final else (waiting, problem.hint or _GET_VALUE)
        problem = replace(problem, hint="; ".join(filter(None, (cause.text, *others))))
    return ProgramError(problem)


def describe_absence(
    text: str, sources: Sources, request: Mapping[str, Readable]
) -> tuple[str, Span | None] | None:
    """Return what a script has not found, and the place that reads it; None for another error."""
    failure = interpreter.read(text)
    if not failure.is_absence:
        return None
    key = missing.find_missing_key(failure.spot, failure.arguments, sources, request)
    problem = _diagnostic("", failure, sources, take_raised())
    message = problem.message if failure.code == "key" else "a value that it reads is None"
    return message if key is None else key.absence, problem.span


def _diagnostic(
    verb: str,
    failure: Failure,
    sources: Sources,
    raised: ValueError | None = None,
    request: Mapping[str, Readable] | None = None,
) -> Diagnostic:
    """Return the problem at its position in a source; without a verb, its message is the cause."""
    span, calls = _position(failure, sources)
    source = sources.get(span.name) if span else None
    message, hint = failure.message, failure.hint
    # A message of `fail` or of a function of ours is whole, and no cause.
    is_whole = failure.code in {"fail", "raised"}
    if failure.code != "raised":
        # Another run has left it, of which nobody has asked.
        raised = None
    if isinstance(raised, (HintedError, RefusalError)):
        hint = raised.hint
    code = None
    if failure.code == "key" and failure.spot is not None and failure.spot.name == PRELUDE:
        # Our functions look up nothing else that may be missing.
        hint = "the first argument is the request, as main gets it"
    if isinstance(raised, RefusalError) and raised.code:
        code = Code("duplicate-name" if raised.code == "name" else "program", raised.subject)
    if isinstance(raised, ArgumentError):
        parameter, value = raised.facts
        arguments = {"name": parameter.name, "type": type_name(value)}
        # The interpreter has our function's text only, and rules need the parameter and the type.
        failure = replace(failure, arguments={**failure.arguments, **arguments})
    finding = mistakes.explain(failure, span, source, request or {}) if span and source else None
    if span and source and mistakes.is_of_program(failure, span, source):
        code = Code("program")
    if finding is not None:
        message, hint = finding.message or message, finding.hint or hint
        span = finding.span or span
        is_whole = is_whole or (finding.is_whole and finding.message is not None)
    return Diagnostic(
        message=f"{verb}: {message}" if verb and not is_whole else message,
        kind="refusal" if failure.code == "fail" else "mistake",
        hint=hint,
        notes=_notes(calls),
        code=code,
    ).at(source, span)


def _position(failure: Failure, sources: Sources) -> tuple[Span | None, Sequence[Frame]]:
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


def _call_span(call: Frame, frames: Sequence[Frame], sources: Sources) -> Span:
    """Return the span of a call into the prelude: of the function's name, as frames have lines."""
    span = Span(name=call.name, line=call.line)
    callee = next((frame for frame in frames[frames.index(call) :] if frame.name == PRELUDE), None)
    if callee is None:
        return span
    # The functions of a response are bound to it: `rsp.resource` is our `_resource`.
    name = callee.function.rpartition(".")[2].lstrip("_")
    matches = list(
        re.finditer(rf"\b{re.escape(name)}(?= *\()", find_line(sources[call.name], span))
    )
    if len(matches) != 1:
        return span
    return replace(span, column=matches[0].start() + 1, width=len(name))


def _notes(calls: Sequence[Frame]) -> tuple[str | Note, ...]:
    notes: list[str | Note] = []
    for frame in calls:
        caller = "the top level" if frame.function == interpreter.TOP else frame.function
        notes.append(Note(f"called from {caller} at", Span(name=frame.name, line=frame.line)))
    if len(notes) > _MAX_CALLS_SHOWN:
        # A deep recursion repeats itself in the middle.
        half = _MAX_CALLS_SHOWN // 2
        notes[half:-half] = [f"… {len(notes) - 2 * half} more calls"]
    return tuple(reversed(notes))


def _limit(verb: str, failure: Failure, sources: Sources, limits: Limits) -> LimitError | None:
    limit: LimitName | None = None
    code, hint = None, None
    if failure.code == "time":
        limit, code = "time", Code("limit", "time")
        cause = f"it needs more CPU time than its limit of {limits.timeout_seconds:g} s"
        hint = "look for a loop that does not end, or runs over more than it must"
    elif failure.code == "calls":
        cause = f"calls are nested deeper than the limit of {MAX_CALLS}"
        # A function of ours follows a value that contains itself.
        is_ours = failure.spot is not None and failure.spot.name == PRELUDE
        hint = None if is_ours else "a function calls itself without end; for long lists use a loop"
    else:
        return None
    problem = _diagnostic(verb, failure, sources)
    return LimitError(
        replace(problem, message=f"{verb}: {cause}", hint=hint, code=code), limit=limit
    )


def _bad_result(
    refusal: RefusalError,
    main: Source,
    sources: Sources,
    locate: Callable[[Path], Span | None],
) -> FatalError:
    path = objects.parse_path(refusal.path) if refusal.path else ()
    span = (locate(tuple(path)) if path else None) or main_span(main)
    code = Code("program") if refusal.subject == "function" else None
    problem = Diagnostic(message=f"cannot read the result of main: {refusal}", code=code)
    problem = problem.at(sources[span.name] if span else None, span)
    if refusal.code in {"depth", "nodes"}:
        limit: LimitName = "depth" if refusal.code == "depth" else "nodes"
        return LimitError(problem, limit=limit)
    hint = mistakes.find_main_hint(main) if refusal.code == "main" else None
    return DocumentError(replace(problem, hint=hint or refusal.hint))


def _bad_contract(failure: Failure, main: Source) -> FatalError:
    cause, hint = failure.message, "write `def main(req):`"
    match failure.code:
        case "nested":
            return LimitError.of("cannot run main: the request is nested too deeply")
        case "call":
            cause = "main must be a function"
        case "type":
            cause = "the request is not of the type that main declares"
        case "arguments" | "position" | "item":
            cause = mistakes.PARAMETERS
            hint = mistakes.find_main_hint(main) or hint
    problem = Diagnostic(message=f"{_RUN}: {cause}", hint=hint, code=Code("program"))
    return ProgramError(problem.at(main, main_span(main)))

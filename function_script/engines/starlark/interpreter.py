"""The interpreter: how it is set up, and what it says of an error, as a code and its arguments.

It gives one text for each error. No other module knows its words: they are those of the version of
starlark-pyo3 that `requirements/runtime.txt` pins, and a test compares them.
"""

import ast
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, NamedTuple

import starlark
from starlark import LibraryExtension

from function_script.engines.starlark.analysis import syntax
from function_script.engines.tables import read_rows
from function_script.engines.unexpected import CLOSING
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.texts import spelling
from function_script.texts.diagnostics import cut
from function_script.texts.source import Source, Span

# `fail` with a text of a megabyte gives an error of a megabyte.
_MAX_MESSAGE_BYTES: Final = 8 * 1024
# The interpreter lists every symbol that it accepts; a long list is no help.
_MAX_EXPECTED: Final = 4

_HEAD: Final = re.compile(r"^error: ", re.MULTILINE)
_SPOT: Final = re.compile(r"^ *--> (?P<name>.+):(?P<line>[0-9]+):(?P<column>[0-9]+)$", re.MULTILINE)
_FRAME: Final = re.compile(r"^  \* (.+):([0-9]+), in (.+)$", re.MULTILINE)
_UNDERLINE: Final = re.compile(r"^ *\| ( *)(\^+)$", re.MULTILINE)
_EXPECTED: Final = re.compile(r", expected one of (.+)$", re.DOTALL)
_SUGGESTION: Final = re.compile(r', did you mean "?([^"]*?)"?\?$')
_LAST_NAME: Final = re.compile(r'"([^"]*)"[^"]*$')
# From the begin of a word: from each of its letters, a long one would take a second.
_REPR: Final = re.compile(r"\b(\w+) \(repr: .*\)", re.DOTALL)
# Calls are of "script.name", or of a function of ours such as "<prelude>._resource".
_CALLEE: Final = re.compile(r"for call to `?(?:\S*\.)?_?(\w+)`?$")
TOP: Final = "<module>"
"""The interpreter's name for statements outside of functions."""
NONE: Final = "NoneType"
"""The type of None."""
# Frames of the interpreter, its own included. Its default of 50 is too few to walk a tree; each
# frame takes native stack, of which 8 MB hold 22,000.
MAX_CALLS = 300
# A script has a little less time than its process: the interpreter's error has a position, the
# end of the process has none.
_TIME_MARGIN = 0.05
# For a run that only finds the position of an error: about 50 ms.
_BRIEF_THOUSANDS = 500
DIALECT = starlark.Dialect.standard()
DIALECT.enable_keyword_only_arguments = True
DIALECT.enable_positional_only_arguments = True
DIALECT.enable_types = starlark.DialectTypes.ENABLE
DIALECT.enable_top_level_stmt = True
DIALECT.enable_f_strings = True
# Debug, Internal, Breakpoint and CallStack stay out: they look into the interpreter.
GLOBALS = starlark.Globals.extended_by(
    [
        LibraryExtension.StructType,
        LibraryExtension.Json,
        LibraryExtension.Print,
        LibraryExtension.Map,
        LibraryExtension.Filter,
        LibraryExtension.Partial,
        LibraryExtension.Typing,
    ]
)


_FIRST_LINE = re.compile(r"^1 \| ", re.MULTILINE)
_NEVER_CLOSED = re.compile(r"'([\[({])' was never closed")
_HAS_CODE: Final = re.compile(r" *[^\s#]")
_UNEXPECTED: Final = frozenset(
    {"block", "chain", "colon", "else", "indentation", "pair", "unexpected"}
)
# A function with another statement before its return is not inlined.
_MORE: Final = "__=0;"
_RETURN: Final = re.compile(r"^([ \t]+|[ \t]*def .*:[ \t]*)(?=return\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A call that was running: the source's name, the line in it, and the function around it."""

    name: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error; ``frames`` run from the outermost call inward.

    ``code`` is "" for what is not in the table; ``arguments`` are the groups of its row.
    ``message`` is in our words. ``hint`` follows from the code alone. ``is_absence``: a lookup did
    not find its key, or a value is None.
    """

    message: str
    code: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    hint: str | None = None
    spot: Span | None = None
    is_absence: bool = False
    frames: tuple[Frame, ...] = ()


class Finding(NamedTuple):
    """A mistake: its place, what to say of it, and a hint.

    None stands for the interpreter's place, its message, and for no hint. ``is_whole``: the message
    says itself what is not possible.
    """

    span: Span | None
    message: str | None
    hint: str | None
    is_whole: bool = False


class _Row(NamedTuple):
    """A row of `errors.tsv`: the code, what the text matches, our words if they differ, and a hint.

    Words may have groups of the pattern.
    """

    code: str
    pattern: re.Pattern[str]
    words: str | None = None
    hint: str | None = None


# Of two rows that match, the first one counts.
_ROWS: Final = tuple(
    _Row(code, re.compile(pattern, re.DOTALL), *(None if text == "-" else text for text in texts))
    for code, pattern, *texts in read_rows("starlark/errors")
)
_OTHER: Final = _Row("", re.compile(""))


def read(text: str) -> Failure:
    """Return the parts of an error's text."""
    head = _HEAD.search(text)
    if head is None:
        return _explain(_one_line(text))
    # The last one: the text of `fail` may hold lines that look the same.
    spots = list(_SPOT.finditer(text, head.end()))
    end = spots[-1].start() if spots else len(text)
    frames = tuple(
        Frame(name=match[1], line=int(match[2]), function=match[3])
        for match in _FRAME.finditer(text, 0, head.start())
    )
    spot = None
    if spots:
        underline = _UNDERLINE.search(text, spots[-1].end())
        width = len(underline[2]) if underline else 1
        line, column = int(spots[-1]["line"]), int(spots[-1]["column"])
        spot = Span(name=spots[-1]["name"], line=line, column=column, width=width)
    failure = _explain(_one_line(text[head.end() : end]))
    return replace(failure, spot=spot, frames=frames)


def _one_line(text: str) -> str:
    lines = map(str.strip, text.split("\n"))
    return cut(" ".join(filter(None, lines)), _MAX_MESSAGE_BYTES)


def _explain(text: str) -> Failure:
    """Return an error without its place: the row of its text, and its message in our words."""
    row, match = next(
        (row, match) for row in (*_ROWS, _OTHER) if (match := row.pattern.search(text))
    )
    if row.code in {"fail", "raised"}:
        message, hint = match["text"], None
    else:
        message, hint = _reword(text if row.words is None else match.expand(row.words))
    return Failure(
        code=row.code,
        arguments=match.groupdict(),
        message=message,
        hint=row.hint or hint,
        # An operation on None has mostly read a value that is not there yet. The texts of an author
        # and of the program's values may have the same word.
        is_absence=row.code == "key"
        or (row.code not in {"fail", "raised"} and f"`{NONE}`" in _REPR.sub("", text)),
    )


def _reword(text: str) -> tuple[str, str | None]:
    """Return a text as our messages are written, and the hint that it ends with."""
    text = text.removeprefix("Parse error: ")
    text = _EXPECTED.sub(_shorten, text)
    text = _REPR.sub(r"\1", text)
    text = _CALLEE.sub(r"of \1", text)
    text = text.replace("`", '"').replace('""', '"').removesuffix(".")
    if text[:1].isupper() and not text[1:2].isupper():
        text = text[:1].lower() + text[1:]
    match = _SUGGESTION.search(text)
    if match is None:
        return text, None
    text = text[: match.start()]
    name = _LAST_NAME.search(text)
    # The interpreter also suggests names that are not near.
    is_near = name is not None and spelling.nearest(name[1], (match[1],)) is not None
    return text, f'did you mean "{match[1]}"?' if is_near else None


def _shorten(match: re.Match[str]) -> str:
    return match[0] if match[1].count('"') <= 2 * _MAX_EXPECTED else ""


def brief_options(options: starlark.EvalOptions) -> starlark.EvalOptions:
    """Return options that also stop after a number of turns or calls, equal on every machine."""
    checks = count(1)
    is_over = options.check_cancelled or (lambda: False)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS,
        check_cancelled=lambda: next(checks) > _BRIEF_THOUSANDS or is_over(),
    )


def limited_options(limits: Limits) -> starlark.EvalOptions:
    """Return options that stop when the step's CPU time, from now on, is nearly used up.

    The interpreter checks once in 1,000 loop turns or calls, and never inside one long operation.
    So this is only for a better error; the end of the worker process is the bound.
    """
    end = time.thread_time() + limits.timeout_seconds * (1 - _TIME_MARGIN)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS, check_cancelled=lambda: time.thread_time() > end
    )


# -- Positions where the interpreter does not point at the mistake itself


def correct_syntax_position(failure: Failure, text: str, source: Source) -> Failure:
    """Return the error of a source that does not parse, at its place; ``text`` is the whole."""
    span = failure.spot
    if span is None:
        return failure
    if failure.code in _UNEXPECTED and (unclosed := _unclosed(span, source)):
        return unclosed
    lines = source.text.split("\n")
    if failure.code == "tab":
        # It is reported at the end of the line before.
        for line, start in ((span.line, (span.column or 1) - 1), (span.line + 1, 0)):
            column = lines[line - 1].find("\t", start) if line <= len(lines) else -1
            if column >= 0:
                return replace(failure, spot=replace(span, line=line, column=column + 1, width=1))
        return failure
    if failure.code == "dedent":
        # It begins at the end of the line before, and there may be comments between.
        later = enumerate(lines[span.line :], span.line + 1)
        number = next((n for n, line in later if _HAS_CODE.match(line)), span.line)
        return replace(failure, spot=_at_the_word(replace(span, line=number, column=1), source))
    if (span.line, span.column) == (1, 1) and not _FIRST_LINE.search(text):
        # The end of the file: it is reported at its begin, with an empty frame.
        end = source.text.rstrip()
        column = len(end) - end.rfind("\n")
        span = replace(span, line=end.count("\n") + 1, column=column, width=1)
    return replace(failure, spot=_at_the_word(span, source))


def _unclosed(span: Span, source: Source) -> Failure | None:
    """Return the error of a bracket that is never closed: Python's parser knows it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.text, source.name, "exec", ast.PyCF_ONLY_AST)
    except SyntaxError as error:
        match = _NEVER_CLOSED.fullmatch(error.msg)
        if match is None or error.lineno is None or error.offset is None:
            return None
        bracket = replace(span, line=error.lineno, column=error.offset, width=1)
        message = f'bracket "{match[1]}" is not closed'
        return Failure(message=message, hint=f"close it with {CLOSING[match[1]]}", spot=bracket)
    except (ValueError, RecursionError, MemoryError):
        pass
    return None


def _at_the_word(span: Span, source: Source) -> Span:
    """Correct a wrong indentation: from the blanks to the text that they indent."""
    line = find_line(source, span)
    start = (span.column or 1) - 1
    if not line.strip() or line[start : start + span.width].strip():
        return span
    rest = line[start:]
    blanks = len(rest) - len(rest.lstrip())
    return replace(span, column=start + blanks + 1, width=len(rest.strip()) or 1)


def find_line(source: Source | None, span: Span) -> str:
    """Return the line of a place; "" of none."""
    lines = source.text.split("\n") if source is not None else []
    return lines[span.line - 1] if span.line <= len(lines) else ""


# Errors in a small function, which the interpreter inlines: the error then names the call. The
# script runs once more, briefly, with every return written so that nothing is inlined; only the
# text of that run's error is of interest.


def correct_position(failure: Failure, program: Program, run: Callable[[Program], str]) -> Failure:
    """Return an error with the position in the function that failed.

    ``run`` runs a program as it was run before and gives the text of its error, "" for none.
    """
    sources = {source.name: source for source in program.sources()}
    spot = failure.spot
    start = (spot.column or 1) - 1 if spot is not None else 0
    # Only an error at a whole call may be one of a function that was inlined there.
    if spot is None or not find_line(sources.get(spot.name), spot)[
        start : start + spot.width
    ].endswith(")"):
        return failure
    exact = read(run(syntax.map_sources(program, sources, _prevent_inlining)))
    # Another error means that the changed program has run another way.
    if exact.message != failure.message or exact.spot is None:
        return failure
    spot = exact.spot
    match = _RETURN.match(find_line(sources.get(spot.name), spot))
    if match is not None and (spot.column or 1) > match.end():
        spot = replace(spot, column=(spot.column or 1) - len(_MORE))
    return replace(exact, spot=spot)


def _prevent_inlining(source: Source) -> Source:
    return Source(name=source.name, text=_RETURN.sub(rf"\1{_MORE}", source.text))

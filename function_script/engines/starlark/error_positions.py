"""Correct positions of errors where the interpreter does not point at the mistake itself."""

import ast
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from function_script.engines.starlark import interpreter
from function_script.engines.starlark.interpreter import Failure
from function_script.request.program import Program
from function_script.texts.source import Source, Span

_FIRST_LINE = re.compile(r"^1 \| ", re.MULTILINE)
_NEVER_CLOSED = re.compile(r"'([\[({])' was never closed")
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_UNEXPECTED: Final = frozenset(
    {"block", "chain", "colon", "else", "indentation", "pair", "unexpected"}
)


def of_syntax(failure: Failure, text: str, source: Source) -> Failure:
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
        return Failure(message=message, hint=f"close it with {_CLOSING[match[1]]}", spot=bracket)
    except (ValueError, RecursionError, MemoryError):
        pass
    return None


def _at_the_word(span: Span, source: Source) -> Span:
    """Correct a wrong indentation: from the blanks to the text that they indent."""
    lines = source.text.split("\n")
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    start = (span.column or 1) - 1
    if not line.strip() or line[start : start + span.width].strip():
        return span
    rest = line[start:]
    blanks = len(rest) - len(rest.lstrip())
    return replace(span, column=start + blanks + 1, width=len(rest.strip()) or 1)


# Errors in a small function, which the interpreter inlines: the error then names the call. The
# script runs once more, briefly, with every return written so that nothing is inlined; only the
# text of that run's error is of interest.

# A function with another statement before its return is not inlined.
_MORE: Final = "__=0;"
_RETURN: Final = re.compile(r"^([ \t]+|[ \t]*def .*:[ \t]*)(?=return\b)", re.MULTILINE)
_EXCERPT: Final = re.compile(
    r"^[0-9]+ \| (?P<line>.*)\n *\| (?P<before> *)(?P<marks>\^+)$", re.MULTILINE
)


def correct_position(text: str, program: Program, run: Callable[[Program], str]) -> str:
    """Return the text of an error with the position in the function that failed.

    ``run`` runs a program as it was run before and gives the text of its error, "" for none.
    """
    excerpts = list(_EXCERPT.finditer(text))
    start = len(excerpts[-1]["before"]) if excerpts else 0
    is_call = bool(excerpts) and excerpts[-1]["line"][
        start : start + len(excerpts[-1]["marks"])
    ].endswith(")")
    if not is_call:
        return text
    modules = {name: _prevent_inlining(source) for name, source in program.modules.items()}
    exact = run(replace(program, main=_prevent_inlining(program.main), modules=modules))
    if interpreter.read(exact).message != interpreter.read(text).message:
        return text
    texts = {source.name: source.text for source in program.sources()}

    def restore_column(spot: re.Match[str]) -> str:
        lines = texts.get(spot["name"], "").split("\n")
        number, column = int(spot["line"]), int(spot["column"])
        line = lines[number - 1] if number <= len(lines) else ""
        match = _RETURN.match(line)
        if match is not None and column > match.end():
            column -= len(_MORE)
        return f"{spot['place']}{column}"

    return interpreter.SPOT.sub(restore_column, exact)


def _prevent_inlining(source: Source) -> Source:
    return Source(name=source.name, text=_RETURN.sub(rf"\1{_MORE}", source.text))

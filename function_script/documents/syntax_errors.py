"""Errors of the YAML parser, with what mends the line where it gives up.

A correction was tried: with it the text can be read, or is wrong farther below only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from function_script.documents.errors import NO_TABS, UNQUOTED_BRACES, YamlError, YamlSyntaxError

try:
    from yaml._yaml import CParser as Parser
except ImportError:  # PyYAML was built without libyaml: the same events, fifteen times slower
    from yaml import SafeLoader as Parser  # type: ignore[assignment] # has the same get_event

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

__all__ = ["Parser", "explain_yaml_error"]

_CLOSING: Final = {
    "[": ("the list", "]"),
    "{": ("the map", "}"),
    '"': ("the text", '"'),
    "'": ("the text", "'"),
}
_JOINED_LINES: Final = re.compile(r"\s*apiVersion: \S+ +kind: ")
# A program in the line of its key.
_PROGRAM: Final = re.compile(r"\s*(?P<key>script|inline): +(?![|>\"'])\S")
_KEY_WITHOUT_BLANK: Final = re.compile(r"(?P<key>\s*(?:- +)?[A-Za-z][\w./-]*:)(?=[^\s:/])")
_VALUE: Final = re.compile(
    r"(?P<key>\s*(?:- +)*(?:[\w./-]+|\"[^\"]*\"|'[^']*'): +|\s*(?:- +)+)(?P<value>\S.*)"
)
# Each trial parses the text; an author may also indent a line as one of those above it.
_MAX_CHARACTERS: Final = 200_000
_MAX_COLUMNS: Final = 8


class _Correction(NamedTuple):
    """A line (0-based) as it should be, and the hint that says so."""

    line: int
    text: str
    hint: str


def explain_yaml_error(error: MarkedYAMLError, text: str) -> YamlError:
    """Convert a parser's error; a classic mistake gets a hint."""
    mark = error.problem_mark or error.context_mark
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    lines = text.splitlines() or [""]
    if not "\n".join(lines[line:])[column:].strip():
        return _unfinished(error, lines)
    indentation = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    if "\t" in indentation[: column + 1]:
        tab = indentation.find("\t")
        return YamlSyntaxError("a tab in the indentation", line=line, column=tab, hint=NO_TABS)
    message = str(error.problem or error.context)
    if error.context and error.problem:
        message += f" {error.context}"
        above = 0 if error.context_mark is None else line - error.context_mark.line
        if above > 0:
            message += f" that begins {above} line{'s' * (above > 1)} above"
    hint = partial(_hint, message, lines, line, column)
    return YamlSyntaxError(message, line=line, column=column, hint=hint)


def _unfinished(error: MarkedYAMLError, lines: list[str]) -> YamlError:
    """Return the error for a text that ends too early.

    An unclosed list, map or quote is reported at its beginning, where it has to be corrected.
    """
    mark = error.context_mark
    opening = "" if mark is None or mark.line >= len(lines) else lines[mark.line][mark.column :][:1]
    if mark is not None and opening in _CLOSING:
        noun, closing = _CLOSING[opening]
        message = f"{noun} that begins here does not end"
        hint = f"close it with {closing}"
        return YamlSyntaxError(message, line=mark.line, column=mark.column, hint=hint)
    line = max((number for number, text in enumerate(lines) if text.strip()), default=0)
    message = "the text ends where a value is expected"
    return YamlSyntaxError(message, line=line, column=len(lines[line].rstrip()))


def _hint(message: str, lines: list[str], number: int, column: int) -> str | None:
    if _JOINED_LINES.match(lines[number]):
        return "the lines were joined: > folds a text in YAML, | keeps its lines"
    if program := _PROGRAM.match(lines[number]):
        return f"write `{program['key']}: |`, and the program in the lines below"
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        return None
    return next(
        (
            each.hint
            for each in _corrections(message, lines, number, column)
            if _mends([*lines[: each.line], each.text, *lines[each.line + 1 :]], number)
        ),
        None,
    )


def _mends(lines: Sequence[str], number: int) -> bool:
    """Report whether lines can be read, or are wrong only below a line."""
    try:
        parser = Parser("\n".join(lines))
        while parser.get_event() is not None:
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return mark is not None and mark.line > number
    except yaml.YAMLError:
        return False
    return True


def _corrections(
    message: str, lines: Sequence[str], number: int, column: int
) -> Iterator[_Correction]:
    """Yield what may mend a line, or the line above it, where the parser gives up at a column."""
    line = lines[number]
    for each in (number - 1, number):
        if each >= 0 and (match := _KEY_WITHOUT_BLANK.match(lines[each])):
            text = f"{match['key']} {lines[each][match.end() :]}"
            yield _Correction(each, text, "put a blank after the colon of a key")
    if value := _VALUE.fullmatch(line):
        text = value["key"] + json.dumps(value["value"])
        if "{{" in line or "{%" in line:
            hint = UNQUOTED_BRACES
        elif "cannot start any token" in message and line[column : column + 1]:
            hint = f"quote a value that begins with {line[column]!r}"
        elif "alias" in message or "anchor" in message:
            hint = 'quote a value that begins with "*" or "&"'
        else:
            hint = 'quote a value that holds ": "' if ": " in value["value"] else "quote the value"
        yield _Correction(number, text, hint)
    columns = dict.fromkeys(len(each) - len(each.lstrip(" -")) for each in reversed(lines[:number]))
    for width in [*columns][:_MAX_COLUMNS]:
        hint = "check the indentation: siblings begin in the same column"
        yield _Correction(number, " " * width + line.lstrip(" "), hint)

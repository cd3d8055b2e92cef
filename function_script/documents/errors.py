"""Errors in a YAML text, and the hints for classic mistakes.

YamlError               not YAML, or not YAML that Kubernetes accepts
├── YamlSyntaxError     not YAML
└── TooLargeError       more values, levels or expanded text than allowed

Positions are those of the text that was read; `TextOrigin.error` maps them to its author's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from function_script.errors import LimitName

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError


UNQUOTED_BRACES = 'quote a value that begins with "{"; {{ }} that was not rendered also looks so'
_NO_TABS = "YAML is not indented by tabs: use blanks"
_QUOTE_COLON = 'quote a value that holds ": "'
_OR_INDENT = "; what toYaml prints begins on a line of its own, with nindent"
_FIELD = re.compile(r"[\w-]+:(?: |$)")
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_BLANK_AFTER_COLON = re.compile(r"\s*(?:- +)?[A-Za-z][\w./-]*:[^\s:/]")
_CLOSING = {
    "[": ("the list", "]"),
    "{": ("the map", "}"),
    '"': ("the text", '"'),
    "'": ("the text", "'"),
}
# The first line of a literal or folded block.
_BLOCK = re.compile(r"\s*(?:- +)*(?P<key>[\w.-]+|\"[^\"]+\"|'[^']+'): +[|>][-+0-9]*\s*(?:#.*)?$")
_JOINED_LINES = re.compile(r"\s*apiVersion: \S+ +kind: ")
_KEY = re.compile(r"\s*(?:- +)*[\w./-]+:(?: |$)")
# A program in the line of its key.
_PROGRAM = re.compile(r"\s*(?P<key>script|inline): +(?![|>\"'])\S")
_TWO_COLONS = re.compile(r"[^:]*: +[^'\"|>&].*: ")


class YamlError(Exception):
    """A problem at ``line`` and ``column``, both 0-based, of the text that was read."""

    def __init__(self, message: str, *, line: int, column: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint

    def with_consequence(self, consequence: str) -> YamlError:
        """Return the same problem as a warning: a lenient reader goes on with ``consequence``."""
        message = f"{self.message}: {consequence}"
        return YamlError(message, line=self.line, column=self.column, hint=self.hint)


class YamlSyntaxError(YamlError):
    """The text is no YAML."""


class TooLargeError(YamlError):
    """The value would be larger than the limits allow; ``limit`` names the one that can be set."""

    def __init__(
        self, message: str, *, line: int, column: int, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, line=line, column=column)
        self.limit = limit


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
        return YamlSyntaxError("a tab in the indentation", line=line, column=tab, hint=_NO_TABS)
    message = str(error.problem or error.context)
    if error.context and error.problem:
        message += f" {error.context}"
        above = 0 if error.context_mark is None else line - error.context_mark.line
        if above > 0:
            message += f" that begins {above} line{'s' * (above > 1)} above"
    return YamlSyntaxError(
        message, line=line, column=column, hint=_hint(message, lines, line, column)
    )


def find_early_end(lines: list[str], number: int) -> YamlError | None:
    """Return the error of a line that ends a block of text by its indentation, and must not.

    This is certain if the text goes on behind the line, or if the line is one of a template as the
    text is. ``number`` is the line at which the parser gives up.
    """
    header = next((each for each in range(number, -1, -1) if _BLOCK.match(lines[each])), None)
    if header is None:
        return None
    match = _BLOCK.match(lines[header])
    name = "" if match is None else match["key"].strip("\"'")
    following = [each for each in range(header + 1, len(lines)) if lines[each].strip()]
    if not following:
        return None
    depth = _indentation(lines[following[0]])
    if depth <= _indentation(lines[header]):
        return None
    end = next((each for each in following if _indentation(lines[each]) < depth), None)
    if end is None or not end <= number <= end + 1:
        return None
    after = next((each for each in following if each > end), None)
    goes_on = after is not None and _indentation(lines[after]) >= depth
    block = "\n".join(lines[header + 1 : end])
    is_template = any(mark in block and mark in lines[end] for mark in ("{{", "{%"))
    if not is_template and (not goes_on or _KEY.match(lines[end])):
        return None
    column = _indentation(lines[end])
    if lines[end][column] == "\t":
        return YamlSyntaxError("a tab in the indentation", line=end, column=column, hint=_NO_TABS)
    return YamlError(
        f"this line ends the text of `{name}`: it is less indented",
        line=end,
        column=column,
        hint=f"indent it by {depth} blanks or more, as the lines of the text",
    )


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


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


def invalid_character(text: str) -> YamlError:
    """Return the error for the first character that YAML does not allow."""
    match = _UNREADABLE.search(text)
    start = 0 if match is None else match.start()
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    name = "a character" if match is None else f"the character U+{ord(match[0]):04X}"
    hint = 'write it as an escape in double quotes, such as "\\x01"'
    return YamlError(f"{name} is not allowed in YAML", line=line, column=column, hint=hint)


def _hint_of_second_colon(lines: list[str], number: int) -> str:
    line = lines[number]
    if program := _PROGRAM.match(line):
        return f"write `{program['key']}: |`, and the program in the lines below"
    if _TWO_COLONS.match(line):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        return _QUOTE_COLON + _OR_INDENT * bool(_FIELD.match(following))
    return "check the indentation of this line and the one above"


def _hint(message: str, lines: list[str], number: int, column: int) -> str | None:
    line = lines[number]
    if _JOINED_LINES.match(line):
        return "the lines were joined: > folds a text in YAML, | keeps its lines"
    before = lines[number - 1] if number else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return _NO_TABS
    if "{{" in line or "{%" in line:
        return UNQUOTED_BRACES
    if _NO_BLANK_AFTER_COLON.match(before) or _NO_BLANK_AFTER_COLON.match(line):
        return "put a blank after the colon of a key"
    if "cannot start any token" in message and line[column : column + 1]:
        return f"quote a value that begins with {line[column]!r}"
    if "alias" in message or "anchor" in message:
        return 'quote a value that begins with "*" or "&"'
    if "mapping values are not allowed" in message:
        return _hint_of_second_colon(lines, number)
    if "block mapping" in message or "block collection" in message:
        return "check the indentation: siblings begin in the same column"
    return None

"""What the YAML parser says, in words that help: the classic mistakes have a hint.

Called by the composer when the parser gives up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from function_script.documents.errors import YamlError

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
_TWO_COLONS = re.compile(r"[^:]*: +[^'\"|>&].*: ")


def explain_yaml_error(error: MarkedYAMLError, text: str) -> YamlError:
    """The parser's error with its place and, where the mistake is a classic one, its mending."""
    mark = error.problem_mark or error.context_mark
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    lines = text.splitlines() or [""]
    if not "\n".join(lines[line:])[column:].strip():
        return _unfinished(error, lines)
    if (tab := _tab(lines[line], column)) is not None:
        return YamlError("a tab in the indentation", line=line, column=tab, hint=_NO_TABS)
    message = str(error.problem or error.context)
    if error.context and error.problem:
        message += f" {error.context}"
        above = 0 if error.context_mark is None else line - error.context_mark.line
        if above > 0:
            message += f" that begins {above} line{'s' * (above > 1)} above"
    return YamlError(message, line=line, column=column, hint=_hint(message, lines, line, column))


def _tab(line: str, column: int) -> int | None:
    """Where the line's indentation has a tab, if that is where the parser gave up."""
    indentation = line[: len(line) - len(line.lstrip())]
    return indentation.find("\t") if "\t" in indentation[: column + 1] else None


def _unfinished(error: MarkedYAMLError, lines: list[str]) -> YamlError:
    """Some mistakes are noticed only where the text ends, and have to be mended elsewhere."""
    mark = error.context_mark
    opened = "" if mark is None or mark.line >= len(lines) else lines[mark.line][mark.column :][:1]
    if mark is not None and opened in _CLOSING:
        message = f"{_CLOSING[opened][0]} that begins here does not end"
        hint = f"close it with {_CLOSING[opened][1]}"
        return YamlError(message, line=mark.line, column=mark.column, hint=hint)
    line = max((number for number, text in enumerate(lines) if text.strip()), default=0)
    message = "the text ends where a value is expected"
    return YamlError(message, line=line, column=len(lines[line].rstrip()))


def invalid_character(text: str) -> YamlError:
    """The error for a character that no YAML text may hold."""
    match = _UNREADABLE.search(text)
    start = 0 if match is None else match.start()
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    name = "a character" if match is None else f"the character U+{ord(match[0]):04X}"
    hint = 'write it as an escape in double quotes, such as "\\x01"'
    return YamlError(f"{name} is not allowed in YAML", line=line, column=column, hint=hint)


def _hint(message: str, lines: list[str], number: int, column: int) -> str | None:
    line = lines[number]
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
        if _TWO_COLONS.match(line):
            following = lines[number + 1] if number + 1 < len(lines) else ""
            return _QUOTE_COLON + _OR_INDENT * bool(_FIELD.match(following))
        return "check the indentation of this line and the one above"
    if "block mapping" in message or "block collection" in message:
        return "check the indentation: siblings begin in the same column"
    return None

"""Hints for common syntax mistakes, match by the message of Jinja's parser."""

import re
from collections.abc import Callable
from typing import Final

from function_script.engines.jinja.policy import Violation

_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_OPENING: Final = {close: opening for opening, close in _CLOSING.items()}
_OPERATORS: Final = {
    "&": "write `and`",
    "!": "write `not`",
    "?": "write `a if condition else b`",
    "$": "names have no $ in front",
}
# Kinds of tokens: the parser mentions the kind where it does not quote the token.
_KINDS: Final = frozenset({"integer", "float", "string", "name", "operator"})


def find(message: str, line: int) -> Violation | None:
    """Return the violation for a parser's message that is about a common mistake, else None."""
    for pattern, make in _MISTAKES:
        if match := pattern.match(message):
            return make(match, line)
    return None


def _character(match: re.Match[str], line: int) -> Violation:
    character, offset = match[1], int(match[2])
    if character in "\"'":
        hint: str | None = f"close it with {character}"
        return Violation(line=line, message="a text is not closed", hint=hint, offset=offset)
    message, hint = f'unexpected "{character}"', _OPERATORS.get(character)
    return Violation(line=line, message=message, hint=hint, offset=offset)


def _unclosed(match: re.Match[str], line: int) -> Violation:
    opening = _OPENING[match[1]]
    message, hint = f'bracket "{opening}" is not closed', f"close it with {match[1]}"
    return Violation(line=line, message=message, name=opening, hint=hint)


def _surplus(match: re.Match[str], line: int) -> Violation:
    close = match[1]
    hint = f'there is no "{_OPENING[close]}" that it closes'
    if close == "}":
        hint = "an expression ends with two braces: }}"
    return Violation(line=line, message=f'unexpected "{close}"', name=close, hint=hint)


def _assignment(_: re.Match[str], line: int) -> Violation:
    hint = "compare with ==, or set a name with {% set name = value %}"
    return Violation(line=line, message='unexpected "="', name="=", hint=hint)


def _else_if(_: re.Match[str], line: int) -> Violation:
    return Violation(line=line, message='unexpected "if"', name="if", hint="write elif")


def _second(match: re.Match[str], line: int) -> Violation:
    hint = "join values with ~, pipe them with |, and separate arguments with commas"
    if match[1] in _KINDS:
        return Violation(line=line, message=f"unexpected {match[1]}", hint=hint)
    return Violation(line=line, message=f'unexpected "{match[1]}"', name=match[1], hint=hint)


def _not_in(match: re.Match[str], line: int) -> Violation:
    message, hint = f'unexpected "{match[1]}"', "write `for item in list`"
    return Violation(line=line, message=message, name=match[1], hint=hint)


_END: Final = r"expected token 'end of (?:print statement|statement block)', got "
_MISTAKES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], int], Violation]], ...]] = (
    (re.compile(r"unexpected char ['\"](.)['\"] at (\d+)$"), _character),
    (re.compile(r"unexpected '.', expected '([\])}])'"), _unclosed),
    (re.compile(r"unexpected '([\])}])'"), _surplus),
    (re.compile(_END + "'='"), _assignment),
    (re.compile(_END + "'if'"), _else_if),
    (re.compile(_END + r"'(\w+)'"), _second),
    (re.compile(r"expected token 'in', got '(\w+)'"), _not_in),
)

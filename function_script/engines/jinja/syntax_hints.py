"""Classic mistakes of syntax: what Jinja's parser says of them, in words that mend them.

Called by `parsing` with the parser's message; knows nothing of the template's text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script.engines.jinja.tree import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_OPENING: Final = {close: opening for opening, close in _CLOSING.items()}
_OPERATORS: Final = {
    "&": "write `and`",
    "!": "write `not`",
    "?": "write `a if condition else b`",
    "$": "names have no $ in front",
}
# Kinds of tokens, which the parser names where it does not say the token's text.
_KINDS: Final = frozenset({"integer", "float", "string", "name", "operator"})


def find(message: str, line: int) -> Violation | None:
    """The finding for a parser's message that is about a classic mistake."""
    for pattern, make in _CLASSICS:
        if found := pattern.match(message):
            return make(found, line)
    return None


def _character(found: re.Match[str], line: int) -> Violation:
    character, offset = found[1], int(found[2])
    if character in "\"'":
        hint: str | None = f"close it with {character}"
        return Violation(line=line, message="a text is not closed", hint=hint, offset=offset)
    message, hint = f'unexpected "{character}"', _OPERATORS.get(character)
    return Violation(line=line, message=message, hint=hint, offset=offset)


def _unclosed(found: re.Match[str], line: int) -> Violation:
    opening = _OPENING[found[1]]
    message, hint = f'bracket "{opening}" is not closed', f"close it with {found[1]}"
    return Violation(line=line, message=message, name=opening, hint=hint)


def _surplus(found: re.Match[str], line: int) -> Violation:
    close = found[1]
    hint = f'there is no "{_OPENING[close]}" that it closes'
    if close == "}":
        hint = "an expression ends with two braces: }}"
    return Violation(line=line, message=f'unexpected "{close}"', name=close, hint=hint)


def _assignment(_: re.Match[str], line: int) -> Violation:
    hint = "compare with ==, or set a name with {% set name = value %}"
    return Violation(line=line, message='unexpected "="', name="=", hint=hint)


def _else_if(_: re.Match[str], line: int) -> Violation:
    return Violation(line=line, message='unexpected "if"', name="if", hint="write elif")


def _second(found: re.Match[str], line: int) -> Violation:
    hint = "join values with ~, pipe them with |, and separate arguments with commas"
    if found[1] in _KINDS:
        return Violation(line=line, message=f"unexpected {found[1]}", hint=hint)
    return Violation(line=line, message=f'unexpected "{found[1]}"', name=found[1], hint=hint)


def _not_in(found: re.Match[str], line: int) -> Violation:
    message, hint = f'unexpected "{found[1]}"', "write `for item in list`"
    return Violation(line=line, message=message, name=found[1], hint=hint)


_END: Final = r"expected token 'end of (?:print statement|statement block)', got "
_CLASSICS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], int], Violation]], ...]] = (
    (re.compile(r"unexpected char ['\"](.)['\"] at (\d+)$"), _character),
    (re.compile(r"unexpected '.', expected '([\])}])'"), _unclosed),
    (re.compile(r"unexpected '([\])}])'"), _surplus),
    (re.compile(_END + "'='"), _assignment),
    (re.compile(_END + "'if'"), _else_if),
    (re.compile(_END + r"'(\w+)'"), _second),
    (re.compile(r"expected token 'in', got '(\w+)'"), _not_in),
)

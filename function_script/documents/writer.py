"""Plain values to YAML text, in the style of Kubernetes and of Crossplane's own commands.

Called by the tools and the library. Sorted keys, two blanks, lists not indented below their key,
block literals for text of several lines; whatever YAML 1.1 or 1.2 would read as something else
than a string is quoted. Deterministic; `read_value(to_yaml(value)) == value`.
"""

from __future__ import annotations

import math
import re
from functools import cmp_to_key
from typing import TYPE_CHECKING

from function_script.documents.folding import folded
from function_script.documents.scalars import NUMBER_STARTS, WORDS, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.values import Object, Value

# Also read as numbers or dates by some: base 60, underscores, binary, octal, infinities, dates.
_NUMBER_LIKE = re.compile(
    r"""[-+]?(?: 0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
               | [0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
               | (?: \.[0-9][0-9_]* | [0-9][0-9_]*(?:\.[0-9_]*)? )(?:[eE][-+]?[0-9]+)?
               | \.(?:inf|Inf|INF) )\Z
      | \.(?:nan|NaN|NAN)\Z
      | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?\Z""",
    re.VERBOSE,
)
# YAML 1.1 has these for merging and for default values.
_SPECIAL = frozenset({"<<", "="})
# What cannot stand for itself: tabs, what does not print, and all beyond the basic plane. (Said the
# other way round, in a class that is negated, it takes Python ten times longer to compile.)
_UNPRINTABLE_CLASS = r"\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe-\U0010ffff"
# Most strings, so that they are spared the questions below.
_SURELY_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*\Z")
_UNPRINTABLE = re.compile(f"[{_UNPRINTABLE_CLASS}]")
_NOT_PLAIN = re.compile(
    r"""[#,\[\]{}&*!|>'"%@`]|[-?:](?:[ ]|\Z)|---|\.\.\.|.*(?::(?:[ ]|\Z)|[ ]\#)"""
)
_BLANK_BEFORE_BREAK = re.compile(r" \n| \Z")
_TO_ESCAPE = re.compile(f'["\\\\\\n{_UNPRINTABLE_CLASS}]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_SIMPLE_KEYS = re.compile(r"[A-Za-z./-]*\Z")
_DIGITS = re.compile("[0-9]+")
_NUMBER_BEFORE = re.compile(r"[1-9][0-9]*\Z")
# A longer key needs the mark "?" before it; readers give up on 1,024 characters.
_MAX_SIMPLE_KEY = 128


def to_yaml(value: Value) -> str:
    """The value as YAML, with a line break at the end.

    Raises ValueError for what has no place in JSON: infinities, NaN, halves of surrogate pairs.
    """
    lines: list[str] = []
    if isinstance(value, (dict, list)) and value:
        _write(value, "", lines)
    else:
        _write_scalar("", value, "", lines)
    return "\n".join(lines) + "\n"


def to_yaml_stream(values: Iterable[Value]) -> str:
    """The values as a stream of documents, each after a line with ``---``."""
    return "".join(f"---\n{to_yaml(value)}" for value in values)


def _write(value: Object | list[Value], margin: str, lines: list[str]) -> None:
    """Append the lines of a map or list with content, all of them indented by ``margin``."""
    if isinstance(value, dict):
        for key in _sorted(value):
            _write_field(key, value[key], margin, lines)
        return
    for item in value:
        if isinstance(item, (dict, list)) and item:
            first = len(lines)
            _write(item, f"{margin}  ", lines)
            lines[first] = f"{margin}- {lines[first][len(margin) + 2 :]}"
        else:
            _write_scalar(f"{margin}- ", item, margin, lines)


def _write_field(key: str, value: Value, margin: str, lines: list[str]) -> None:
    name = _escaped(key) if "\n" in key else _string(key)
    if len(key) > _MAX_SIMPLE_KEY:
        lines.append(f"{margin}? {name}")
        name = ""
    if isinstance(value, dict) and value:
        lines.append(f"{margin}{name}:")
        _write(value, f"{margin}  ", lines)
    elif isinstance(value, list) and value:
        lines.append(f"{margin}{name}:")
        _write(value, margin, lines)
    else:
        _write_scalar(f"{margin}{name}: ", value, margin, lines)


def _write_scalar(lead: str, value: Value, margin: str, lines: list[str]) -> None:
    if isinstance(value, str) and "\n" in value and not _needs_escapes(value):
        _write_block(lead, value, margin, lines)
    else:
        lines.extend(folded(lead, _scalar(value), f"{margin}  "))


def _write_block(lead: str, text: str, margin: str, lines: list[str]) -> None:
    # A first line that is blank or indented would hide how far the text is indented.
    indentation = "2" if text[0] in " \n" else ""
    content = text.rstrip("\n")
    breaks = len(text) - len(content)
    chomping = "-" if breaks == 0 else "" if breaks == 1 and content else "+"
    lines.append(f"{lead}|{indentation}{chomping}")
    inner = text.removesuffix("\n").split("\n")
    lines.extend(f"{margin}  {line}" if line else "" for line in inner)


def _scalar(value: Value) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ValueError(f"the number {value} has no place in YAML")
        return number_text(value)
    return "{}" if isinstance(value, dict) else "[]"


def _string(text: str) -> str:
    if text in WORDS or text in _SPECIAL:
        return f'"{text}"'
    if _SURELY_PLAIN.match(text):
        return text
    if text[0] in NUMBER_STARTS and _NUMBER_LIKE.match(text):
        return f'"{text}"'
    if "\n" in text or _UNPRINTABLE.search(text):
        return _escaped(text)
    if text[0] == " " or text[-1] == " " or _NOT_PLAIN.match(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def _needs_escapes(text: str) -> bool:
    """Whether a block would lose something: unprintable characters, blanks at a line's end."""
    return _UNPRINTABLE.search(text) is not None or _BLANK_BEFORE_BREAK.search(text) is not None


def _escaped(text: str) -> str:
    text.encode()
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if character <= "\xff":
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if character <= "\uffff" else f"\\U{code:08X}"


def _sorted(value: Object) -> list[str]:
    """The keys in Go's order for YAML: numbers in them by value, letters last."""
    if _SIMPLE_KEYS.match("".join(value)):
        return sorted(value)
    return sorted(value, key=cmp_to_key(_compare))


def _compare(one: str, other: str) -> int:
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            left, right = _rank(one, at, a, b), _rank(other, at, b, a)
            return -1 if left < right else 1
    return len(one) - len(other)


def _rank(key: str, at: int, character: str, opposite: str) -> tuple[bool, int, str, int, str]:
    """What decides at the first difference: letters come last, numbers count by their value."""
    if character.isalpha() or opposite.isalpha():
        return (character.isalpha(), 0, "", 0, character)
    digits = _DIGITS.match(key, at)
    number = "" if digits is None else digits[0]
    # A zero within a number is a digit like others, not one that leads.
    within = "0" in {character, opposite} and _NUMBER_BEFORE.search(key[:at])
    value = f"1{number}" if within else number.lstrip("0")
    return (False, len(value), value, len(number), character)

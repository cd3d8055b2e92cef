"""Plain values to YAML text, in the style of Kubernetes and of Crossplane's own commands.

Keys are sorted, maps are indented by two blanks, lists are not indented below their key, and text
of several lines is a literal block. A string that YAML 1.1 or 1.2 would read as another type is
quoted. The text is deterministic, and `read_value(to_yaml(value)) == value`.
"""

import math
import re
from collections.abc import Iterable
from functools import cmp_to_key

from function_script.documents.kubernetes_yaml import NUMBER_STARTS, WORDS, number_text
from function_script.request.values import Object, Value

# Numbers or dates to some readers: base 60, underscores, binary, octal, infinities, dates.
_NUMBER_LIKE = re.compile(
    r"""[-+]?(?: 0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
               | [0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
               | (?: \.[0-9][0-9_]* | [0-9][0-9_]*(?:\.[0-9_]*)? )(?:[eE][-+]?[0-9]+)?
               | \.(?:inf|Inf|INF) )\Z
      | \.(?:nan|NaN|NAN)\Z
      | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?\Z""",
    re.VERBOSE,
)
# The keys of YAML 1.1 for merging and for default values.
_SPECIAL = frozenset({"<<", "="})
# Tabs, characters that do not print, and all beyond the basic plane: only an escape can write them.
# The embeddings and overrides of bidirectional text show lines that are not what they are.
# (A negated class of all others takes Python ten times longer to compile.)
_UNPRINTABLE_CLASS = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe-\U0010ffff"
)
# JSON does not escape these, but a YAML reader rejects them or reads them as line breaks.
_ONLY_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Most strings match this and skip the other expressions.
_SURELY_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*\Z")
_UNPRINTABLE = re.compile(f"[{_UNPRINTABLE_CLASS}]")
_NOT_PLAIN = re.compile(
    r"""[#,\[\]{}&*!|>'"%@`]|[-?:](?:[ ]|\Z)|---|\.\.\.|.*(?::(?:[ ]|\Z)|[ ]\#)"""
)
_BLANK_BEFORE_BREAK = re.compile(r" \n| \Z")
_TO_ESCAPE = re.compile(f'["\\\\\\n{_UNPRINTABLE_CLASS}]')
# The escapes that YAML has a letter for.
_ESCAPES = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True))
_SIMPLE_KEYS = re.compile(r"[A-Za-z./-]*\Z")
_DIGITS = re.compile("[0-9]+")
_NUMBER_BEFORE = re.compile(r"(?!0)\d+\Z")
# A longer key needs the indicator "?" before it; readers reject one of 1,024 characters.
_MAX_SIMPLE_KEY = 128
# libyaml's emitter breaks a line at the first single blank beyond this column.
_BEST_WIDTH = 80


def to_yaml(value: Value) -> str:
    """Write a value as YAML, with a line break at the end.

    Raises ValueError for values that JSON does not have: infinities, NaN, and strings with half of
    a surrogate pair.
    """
    lines: list[str] = []
    if isinstance(value, (dict, list)) and value:
        _write(value, "", lines)
    else:
        _write_scalar("", value, "", lines)
    return "\n".join(lines) + "\n"


def to_yaml_stream(values: Iterable[Value]) -> str:
    """Write values as a stream of documents, each after a line with ``---``."""
    return "".join(f"---\n{to_yaml(value)}" for value in values)


def to_flow_yaml(json: str) -> str:
    """Escape a JSON text, so that readers of YAML and of JSON read the same value."""
    if json.isascii() and "\x7f" not in json:
        return json
    return _ONLY_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", json)


def _write(value: Object | list[Value], margin: str, lines: list[str]) -> None:
    """Append the lines of a map or list that is not empty, indented by ``margin``."""
    if isinstance(value, dict):
        for key in _sorted_keys(value):
            name, item = _double_quoted(key) if "\n" in key else _string(key), value[key]
            if len(key) > _MAX_SIMPLE_KEY:
                lines.append(f"{margin}? {name}")
                name = ""
            if isinstance(item, (dict, list)) and item:
                lines.append(f"{margin}{name}:")
                _write(item, f"{margin}  " if isinstance(item, dict) else margin, lines)
            else:
                _write_scalar(f"{margin}{name}: ", item, margin, lines)
        return
    for item in value:
        if isinstance(item, (dict, list)) and item:
            first = len(lines)
            _write(item, f"{margin}  ", lines)
            lines[first] = f"{margin}- {lines[first][len(margin) + 2 :]}"
        else:
            _write_scalar(f"{margin}- ", item, margin, lines)


def _write_scalar(lead: str, value: Value, margin: str, lines: list[str]) -> None:
    if (
        isinstance(value, str)
        and "\n" in value
        and not _UNPRINTABLE.search(value)
        and not _BLANK_BEFORE_BREAK.search(value)
    ):
        _write_block(lead, value, margin, lines)
    else:
        lines.extend(_fold(lead, _scalar(value), f"{margin}  "))


def _fold(lead: str, scalar: str, margin: str) -> list[str]:
    """Split ``lead + scalar`` into lines where libyaml does; readers join them with one blank.

    ``scalar`` is plain or quoted. Lines after the first are indented by ``margin``.
    """
    if len(lead) + len(scalar) <= _BEST_WIDTH or " " not in scalar:
        return [lead + scalar]
    is_double = scalar[0] == '"'
    inner = 1 if scalar[0] in "'\"" else 0
    lines: list[str] = []
    start = 0
    for at in range(inner + 1, len(scalar) - inner - 1):
        if (
            scalar[at] == " "
            and scalar[at - 1] != " "
            and (is_double or scalar[at + 1] != " ")
            and len(lead) + at - start > _BEST_WIDTH
        ):
            lines.append(lead + scalar[start:at])
            # A reader drops blanks at the begin of a line, unless a backslash is before them.
            lead = f"{margin}\\" if scalar[at + 1] == " " else margin
            start = at + 1
    return [*lines, lead + scalar[start:]]


def _write_block(lead: str, text: str, margin: str, lines: list[str]) -> None:
    # Readers take the indentation of the first line: if that is blank or indented, state it.
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
        return _double_quoted(text)
    if text[0] == " " or text[-1] == " " or _NOT_PLAIN.match(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def _double_quoted(text: str) -> str:
    text.encode()  # raises ValueError for half of a surrogate pair
    return double_quoted(text, _TO_ESCAPE)


def double_quoted(text: str, special: re.Pattern[str]) -> str:
    """Return a text in double quotes, with escapes for what a pattern matches."""
    return f'"{special.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return f"\\{_ESCAPES[character]}"
    code = ord(character)
    if character <= "\xff":
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if character <= "\uffff" else f"\\U{code:08X}"


def _sorted_keys(value: Object) -> list[str]:
    """Sort the keys as go-yaml does."""
    if _SIMPLE_KEYS.match("".join(value)):
        return sorted(value)
    return sorted(value, key=cmp_to_key(compare_keys))


def compare_keys(one: str, other: str, *, is_v3: bool = False) -> int:
    """Compare keys as go-yaml does: numbers in them by value, letters last.

    Version 3 has letters first behind a digit.
    """
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            if a.isalpha() and b.isalpha():
                return -1 if a < b else 1
            first, second = _rank(one, at, a, b), _rank(other, at, b, a)
            if is_v3 and a.isalpha() != b.isalpha() and one[:at][-1:].isdecimal():
                first, second = second, first
            return -1 if first < second else 1
    return len(one) - len(other)


def _rank(key: str, at: int, character: str, opposite: str) -> tuple[bool, int, str, int, str]:
    """Return the sort key of a character: letters come last, numbers count by their value."""
    if character.isalpha() or opposite.isalpha():
        return (character.isalpha(), 0, "", 0, character)
    digits = _DIGITS.match(key, at)
    number = "" if digits is None else digits[0]
    # A zero within a number is a digit like others, not a leading one.
    is_within = "0" in {character, opposite} and _NUMBER_BEFORE.search(key[:at])
    value = f"1{number}" if is_within else number.lstrip("0")
    return (False, len(value), value, len(number), character)

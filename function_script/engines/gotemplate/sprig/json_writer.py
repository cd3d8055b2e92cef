"""Values as JSON the way Go's encoding/json writes it; for ``toJson`` and its kin.

Keys are sorted, ``<``, ``>`` and ``&`` are escaped unless the text is raw, whole floats have no
point. Values must be measured (Budget.check_tree) before they are written.
"""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING, Final

import orjson

from function_script.engines.gotemplate.printing import exponent_form, shortest_digits, sorted_items
from function_script.engines.gotemplate.values import (
    AnyMap,
    Struct,
    go_type,
    is_broken,
    is_nil,
    to_bytes,
    to_string,
)

if TYPE_CHECKING:
    from collections.abc import Collection

# Outside of these a float is written with an exponent.
_MIN_PLAIN: Final = 1e-6
_MAX_PLAIN: Final = 1e21
# repr writes floats up to here without an exponent.
_MIN_REPR: Final = 1e-4
_MAX_REPR: Final = 1e16

# The last ones stand for bytes that are not UTF-8.
_ALWAYS: Final = r'"\\\x00-\x1f\u2028\u2029\ud800-\udfff'
_RAW: Final = re.compile(f"[{_ALWAYS}]")
_ESCAPED: Final = re.compile(f"[{_ALWAYS}<>&]")
_SHORT: Final = {
    '"': r"\"",
    "\\": r"\\",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
}
_INDENT: Final = "  "


class NotJsonError(ValueError):
    """A value JSON has no words for; the text is Go's."""


def to_json(value: object, *, pretty: bool = False, raw: bool = False) -> str:
    """The JSON text; ``pretty``: indented by two; ``raw``: without escapes for HTML.

    Raises NotJsonError for NaN, infinities, complex numbers and maps whose keys are not text.
    """
    writer = _Writer(_RAW if raw else _ESCAPED, pretty=pretty)
    writer.write(value, "\n")
    return "".join(writer.parts)


def to_plain_json(value: object, *, raw: bool = False) -> str:
    """The same for values that check_tree calls plain, which orjson writes as Go does."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        # Bytes that are not UTF-8, or an integer of more than 64 bits.
        return to_json(value, raw=raw)
    if not text.isascii():
        text = text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
    if raw or not ("<" in text or ">" in text or "&" in text):
        return text
    return text.translate(_HTML)


_HTML: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})


class _Writer:
    """Collects the parts of a text."""

    def __init__(self, special: re.Pattern[str], *, pretty: bool) -> None:
        self.special = special
        self.pretty = pretty
        self.colon = ": " if pretty else ":"
        self.parts: list[str] = []

    def write(self, value: object, line: str) -> None:
        """``line`` is the line break in front of what stands beside the value."""
        if isinstance(value, str):
            self.parts.append(self.text(value))
        elif isinstance(value, bool):
            self.parts.append("true" if value else "false")
        elif isinstance(value, int):
            self.parts.append(int.__repr__(value))
        elif isinstance(value, float):
            self.parts.append(float_text(value))
        elif isinstance(value, dict) and not is_nil(value):
            self.write_map(value, line)
        elif isinstance(value, list) and not is_nil(value):
            self.write_list(value, line)
        elif isinstance(value, bytes):
            self.parts.append(f'"{base64.b64encode(value).decode()}"')
        elif isinstance(value, Struct):
            self.write_struct(value, line)
        elif isinstance(value, complex):
            raise NotJsonError(f"json: unsupported type: {go_type(value)}")
        else:
            self.parts.append("null")

    def text(self, text: str) -> str:
        """A text in quotes."""
        if self.special.search(text) is None:
            return f'"{text}"'
        joined = to_string(to_bytes(text)) if is_broken(text) else text
        return f'"{self.special.sub(_escape, joined)}"'

    def write_map(self, value: dict[object, object], line: str) -> None:
        """An object, its keys sorted by bytes."""
        if isinstance(value, AnyMap):
            raise NotJsonError(f"json: unsupported type: {go_type(value)}")
        self.write_object(sorted_items(value), line)

    def write_struct(self, value: Struct, line: str) -> None:
        """What the struct says it is, its fields in Go's order."""
        shown = value.json()
        if isinstance(shown, dict):
            self.write_object(shown.items(), line)
        else:
            self.write(shown, line)

    def write_object(self, items: Collection[tuple[object, object]], line: str) -> None:
        """An object, its keys in the order given."""
        before, between, inner = self.open("{", line)
        for key, item in items:
            self.parts.append(f"{before}{self.text(str(key))}{self.colon}")
            self.write(item, inner)
            before = between
        self.close("}", line, empty=not items)

    def write_list(self, value: list[object], line: str) -> None:
        """An array."""
        before, between, inner = self.open("[", line)
        for item in value:
            self.parts.append(before)
            self.write(item, inner)
            before = between
        self.close("]", line, empty=not value)

    def open(self, bracket: str, line: str) -> tuple[str, str, str]:
        """What stands before the first item, between items, and the line break of both."""
        self.parts.append(bracket)
        inner = line + _INDENT
        return (inner, f",{inner}", inner) if self.pretty else ("", ",", "")

    def close(self, bracket: str, line: str, *, empty: bool) -> None:
        """The closing bracket, below the opening one."""
        self.parts.append(f"{line}{bracket}" if self.pretty and not empty else bracket)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if is_broken(character):
        return r"\ufffd"
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def float_text(number: float) -> str:
    """A float in JSON: ``1``, ``0.5``, ``1e+21``, ``1e-7``; raises NotJsonError."""
    if not math.isfinite(number):
        name = "NaN" if math.isnan(number) else f"{number:+}".replace("inf", "Inf")
        raise NotJsonError(f"json: unsupported value: {name}")
    size = abs(number)
    if _MIN_REPR <= size < _MAX_REPR or not number:
        return repr(number).removesuffix(".0")
    sign = "-" if number < 0 else ""
    digits, exponent = shortest_digits(size)
    if size < _MIN_PLAIN:
        return sign + exponent_form(digits, exponent).replace("e-0", "e-")
    if size < 1:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if size < _MAX_PLAIN:
        return sign + digits.ljust(exponent + 1, "0")
    return sign + exponent_form(digits, exponent)

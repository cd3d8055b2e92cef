"""JSON as Go's package encoding/json writes and reads it.

Written: keys are sorted, ``<``, ``>`` and ``&`` are escaped unless the text is raw, whole floats
have no point. Read: every number is a float64, and errors are in Go's words.
"""

import base64
import json
import math
import re
from collections.abc import Collection
from typing import Final, NoReturn

import orjson

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.function import Allocator
from function_script.values import LONE_SURROGATE

# Writing

# Outside of these bounds a float is written with an exponent.
_MIN_PLAIN: Final = 1e-6
_MAX_PLAIN: Final = 1e21
# Between these bounds repr writes floats without an exponent.
_MIN_REPR: Final = 1e-4
_MAX_REPR: Final = 1e16

# The last characters stand for bytes that are not UTF-8.
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
    """A value that JSON cannot express; the text is Go's."""


def marshal(value: object, *, pretty: bool = False, raw: bool = False) -> str:
    """Return the JSON text; ``pretty``: indented by two; ``raw``: without escapes for HTML.

    Raises NotJsonError for NaN, infinities, complex numbers and maps whose keys are not text.
    """
    writer = _Writer(_RAW if raw else _ESCAPED, pretty=pretty)
    writer.write(value, "\n")
    return "".join(writer.parts)


def marshal_plain(value: object, *, raw: bool = False) -> str:
    """Return the JSON of a value that check_tree calls plain; orjson writes it as Go does."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        # Bytes that are not UTF-8, or an integer of more than 64 bits.
        return marshal(value, raw=raw)
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
        """Write a value; ``line`` is the line break in front of its siblings."""
        if isinstance(value, str):
            self.parts.append(self.text(value))
        elif isinstance(value, bool):
            self.parts.append("true" if value else "false")
        elif isinstance(value, int):
            self.parts.append(int.__repr__(value))
        elif isinstance(value, float):
            self.parts.append(float_text(value))
        elif isinstance(value, dict) and not values.is_nil(value):
            self.write_map(value, line)
        elif isinstance(value, list) and not values.is_nil(value):
            self.write_list(value, line)
        elif isinstance(value, bytes):
            self.parts.append(f'"{base64.b64encode(value).decode()}"')
        elif isinstance(value, values.Struct):
            self.write_struct(value, line)
        elif isinstance(value, complex):
            raise NotJsonError(f"json: unsupported type: {values.go_type(value)}")
        else:
            self.parts.append("null")

    def text(self, text: str) -> str:
        """Return a text in quotes."""
        if self.special.search(text) is None:
            return f'"{text}"'
        joined = values.to_string(values.to_bytes(text)) if values.is_broken(text) else text
        return f'"{self.special.sub(_escape, joined)}"'

    def write_map(self, value: dict[object, object], line: str) -> None:
        """Write an object, its keys sorted by bytes."""
        if isinstance(value, values.AnyMap):
            raise NotJsonError(f"json: unsupported type: {values.go_type(value)}")
        self.write_object(printing.sorted_items(value), line)

    def write_struct(self, value: values.Struct, line: str) -> None:
        """Write a struct's own JSON, its fields in Go's order."""
        data = value.json()
        if isinstance(data, dict):
            self.write_object(data.items(), line)
        else:
            self.write(data, line)

    def write_object(self, items: Collection[tuple[object, object]], line: str) -> None:
        """Write an object, its keys in the order of ``items``."""
        before, between, inner = self.open("{", line)
        for key, item in items:
            self.parts.append(f"{before}{self.text(str(key))}{self.colon}")
            self.write(item, inner)
            before = between
        self.close("}", line, empty=not items)

    def write_list(self, value: list[object], line: str) -> None:
        """Write an array."""
        before, between, inner = self.open("[", line)
        for item in value:
            self.parts.append(before)
            self.write(item, inner)
            before = between
        self.close("]", line, empty=not value)

    def open(self, bracket: str, line: str) -> tuple[str, str, str]:
        """Write a bracket; return the texts before and between items, and the line break."""
        self.parts.append(bracket)
        inner = line + _INDENT
        return (inner, f",{inner}", inner) if self.pretty else ("", ",", "")

    def close(self, bracket: str, line: str, *, empty: bool) -> None:
        """Write the closing bracket, below the opening one."""
        self.parts.append(f"{line}{bracket}" if self.pretty and not empty else bracket)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if values.is_broken(character):
        return r"\ufffd"
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def float_text(number: float) -> str:
    """Format a float in JSON: ``1``, ``0.5``, ``1e+21``, ``1e-7``; raises NotJsonError."""
    if not math.isfinite(number):
        name = "NaN" if math.isnan(number) else f"{number:+}".replace("inf", "Inf")
        raise NotJsonError(f"json: unsupported value: {name}")
    size = abs(number)
    if _MIN_REPR <= size < _MAX_REPR or not number:
        return repr(number).removesuffix(".0")
    sign = "-" if number < 0 else ""
    digits, exponent = printing.shortest_digits(size)
    if size < _MIN_PLAIN:
        return sign + printing.exponent_form(digits, exponent).replace("e-0", "e-")
    if size < 1:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if size < _MAX_PLAIN:
        return sign + digits.ljust(exponent + 1, "0")
    return sign + printing.exponent_form(digits, exponent)


# Reading

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class BadJsonError(ValueError):
    """A text that is not JSON, in Go's words; ``value`` is the part that Go has read."""

    def __init__(self, text: str, value: object = None) -> None:
        super().__init__(text)
        self.value = value


class _Reader:
    """Reads one text; ``too_large`` is the first number beyond a float, which becomes nil."""

    def __init__(self) -> None:
        self.too_large = ""
        self.decoder = json.JSONDecoder(
            parse_int=self.number, parse_float=self.number, parse_constant=_reject_constant
        )

    def number(self, text: str) -> float | None:
        number = float(text)
        if math.isfinite(number):
            return number
        self.too_large = self.too_large or text
        return None


def unmarshal(allocator: Allocator, text: str) -> object:
    """Return the value of a JSON text; raises BadJsonError."""
    allocator.check_string(len(text))
    allocator.check_list(text.count(","))
    reader = _Reader()
    characters = values.whole(text)
    try:
        value: object = reader.decoder.decode(characters)
    except ValueError as error:
        raise BadJsonError(find_error(characters)) from error
    if _SURROGATE_ESCAPE.search(characters) is not None:
        value = _replace_surrogates(value)
    if reader.too_large:
        cause = f"json: cannot unmarshal number {reader.too_large} into Go value of type float64"
        raise BadJsonError(cause, value)
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _replace_surrogates(value: object) -> object:
    """Replace halves of surrogate pairs, which were escaped alone, with U+FFFD."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return list(map(_replace_surrogates, value))
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return value


# The errors of texts that are not JSON: Go's scan, byte by byte

_SPACES: Final = " \t\r\n"
_DIGITS: Final = frozenset("0123456789")
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPES: Final = frozenset('bfnrt\\/"')
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}
_VALUE: Final = "looking for beginning of value"


class _JsonError(Exception):  # ends the scan; its text is the result
    """The first error."""


def find_error(text: str) -> str:
    """Return the first error of Go's scanner; empty without one."""
    try:
        _Scanner(values.to_narrow(text)).scan()
    except _JsonError as fault:
        return str(fault)
    return ""


class _Scanner:
    """Scans a text without making values of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        # The open brackets.
        self.open: list[str] = []

    def scan(self) -> None:
        """Scan one value and the end of the text."""
        while True:
            self.scan_value()
            while self.open and self.close_or_separate():
                pass
            if not self.open:
                break
        if self.text[self.index :].strip(_SPACES):
            self.fail(self.peek(), "after top-level value")

    def close_or_separate(self) -> bool:
        """Report whether a bracket closes behind a value; if not, the next value follows."""
        bracket = self.open[-1]
        character = self.peek()
        if character == {"{": "}", "[": "]"}[bracket]:
            self.index += 1
            self.open.pop()
            return True
        if character != ",":
            context = "object key:value pair" if bracket == "{" else "array element"
            self.fail(character, f"after {context}")
        self.index += 1
        if bracket == "{":
            self.scan_key()
        return False

    def scan_value(self) -> None:
        """Scan a scalar, or opening brackets and the text right behind them."""
        while (character := self.peek()) in "{[":
            self.index += 1
            self.open.append(character)
            if self.peek() in "}]" and self.close_or_separate():
                return
            if character == "{":
                self.scan_key()
        if character == '"':
            self.scan_string()
        elif character in _LITERALS:
            self.scan_literal(_LITERALS[character])
        elif character == "-" or character in _DIGITS:
            self.scan_number()
        else:
            self.fail(character, _VALUE)

    def scan_key(self) -> None:
        """Scan a key and its colon."""
        character = self.peek()
        if character != '"':
            self.fail(character, "looking for beginning of object key string")
        self.scan_string()
        character = self.peek()
        if character != ":":
            self.fail(character, "after object key")
        self.index += 1

    def scan_string(self) -> None:
        """Scan a text from its first quotes to its last."""
        self.index += 1
        while (character := self.next()) != '"':
            if self.index > len(self.text):
                self.end()
            if character < " ":
                self.fail(character, "in string literal")
            if character == "\\":
                self.scan_escape()

    def scan_escape(self) -> None:
        """Scan an escape behind its backslash."""
        character = self.next()
        if character == "u":
            for _ in range(4):
                digit = self.next()
                if digit not in _HEX_DIGITS:
                    self.fail(digit, "in \\u hexadecimal character escape")
        elif character not in _ESCAPES:
            self.fail(character, "in string escape code")

    def scan_literal(self, word: str) -> None:
        """Scan ``true``, ``false`` or ``null``."""
        self.index += 1
        for expected in word[1:]:
            character = self.next()
            if character != expected:
                self.fail(character, f"in literal {word} (expecting '{expected}')")

    def scan_number(self) -> None:
        """Scan a number; one that begins with 0 has no further digits."""
        if self.text[self.index] == "-":
            self.index += 1
        if self.scan_digit("in numeric literal") != "0":
            self.skip_digits()
        if self.here() == ".":
            self.index += 1
            self.scan_digit("after decimal point in numeric literal")
            self.skip_digits()
        if self.here() in {"e", "E"}:
            self.index += 1
            if self.here() in {"+", "-"}:
                self.index += 1
            self.scan_digit("in exponent of numeric literal")
            self.skip_digits()

    def scan_digit(self, context: str) -> str:
        character = self.next()
        if character not in _DIGITS:
            self.fail(character, context)
        return character

    def skip_digits(self) -> None:
        while self.here() in _DIGITS:
            self.index += 1

    def here(self) -> str:
        return self.text[self.index : self.index + 1]

    def peek(self) -> str:
        """Return the next character other than a space without consuming it."""
        while self.here() and self.here() in _SPACES:
            self.index += 1
        if not self.here():
            self.end()
        return self.here()

    def next(self) -> str:
        """Consume the next character; behind the last one Go reads a space."""
        character = self.here() or " "
        self.index += 1
        return character

    def end(self) -> NoReturn:
        raise _JsonError("unexpected end of JSON input")

    def fail(self, character: str, context: str) -> NoReturn:
        quoted = {"'": r"\'", '"': '"'}.get(character) or printing.quote(character)[1:-1]
        raise _JsonError(f"invalid character '{quoted}' {context}")

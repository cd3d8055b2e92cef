r"""Constants in Go's syntax: ``0x1F``, ``1_000``, ``'x'``, ``"a\tb"``.

The texts of errors are Go's own.
"""

import re
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.errors import Code, ParseError
from function_script.engines.gotemplate.printing import quote


class Constant:
    """A number under every Go type that can hold it; None where none can."""

    __slots__ = ("integer", "real", "unsigned")

    def __init__(self, integer: int | None, unsigned: int | None, real: float | None) -> None:
        self.integer = integer
        self.unsigned = unsigned
        self.real = real


def read_number(text: str) -> Constant:
    """Return a number constant; raises ParseError as Go's parser does."""
    if len(text) <= _SHORT and text.isdecimal() and text.isascii() and text[0] != "0":
        number = int(text)
        return Constant(number, number, float(number))
    octal = _OLD_OCTAL.fullmatch(text)
    try:
        whole = int(text, 0) if octal is None else int(f"{octal[1]}0{octal[2]}", 8)
    except ValueError:
        whole = None
    if whole is not None and values.MIN_INT64 <= whole <= values.MAX_UINT64:
        unsigned = whole if text[0] not in "+-" or text == "-0" else None
        if whole <= values.MAX_INT64:
            return Constant(whole, unsigned, float(whole))
        if unsigned is not None:
            return Constant(None, unsigned, float(whole))
    real = _read_real(text)
    if real is None:
        raise ParseError(f"illegal number syntax: {quote(text)}")
    if not set(text) & set(".eEpP"):
        raise ParseError(f"integer overflow: {quote(text)}")
    return _from_real(real)


# Digits that every one of the types can hold.
_SHORT: Final = 15
_OLD_OCTAL: Final = re.compile(r"([+-]?)0([0-9_]+)")


def _from_real(real: float) -> Constant:
    if not real.is_integer():
        return Constant(None, None, real)
    whole = int(real)
    return Constant(
        whole if values.MIN_INT64 <= whole <= values.MAX_INT64 else None,
        whole if 0 <= whole <= values.MAX_UINT64 else None,
        real,
    )


def _read_real(text: str) -> float | None:
    try:
        if "x" not in text.lower():
            real = float(text)
        elif "p" in text.lower():
            real = float.fromhex(text.replace("_", ""))
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return real if abs(real) != float("inf") else None


def read_character(text: str) -> int:
    """Return the code point of a constant in single quotes, quotes included in ``text``."""
    if text == "''":
        raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
    match = _CHARACTER.match(text, 1)
    if match is None or match[0] == "'":
        raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
    if text[match.end() :] != "'":
        raise ParseError(f"malformed character constant: {text}")
    return _escape_code(match[0], "'") if match[0].startswith("\\") else ord(match[0])


def read_string(text: str) -> str:
    """Return the value of a string constant, quotes included in ``text``; raises ParseError."""
    body = text[1:-1]
    if text[0] == "`":
        return body.replace("\r", "")
    if "\\" not in body:
        return body
    plain = _ESCAPE.sub(_unescape, body)
    return values.to_string(values.to_bytes(plain))


_ESCAPE: Final = re.compile(
    r"\\(?:[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL
)
_CHARACTER: Final = re.compile(rf"{_ESCAPE.pattern}|.", re.DOTALL)
_SIMPLE: Final = {
    "a": 7,
    "b": 8,
    "f": 12,
    "n": 10,
    "r": 13,
    "t": 9,
    "v": 11,
    "\\": 92,
}
_OCTAL_DIGITS: Final = 3
_BYTE: Final = 0xFF
_ASCII: Final = 0x7F


def _unescape(match: re.Match[str]) -> str:
    code = _escape_code(match[0], '"')
    is_byte = match[0][1] in "x01234567"
    # A byte above ASCII is part of a UTF-8 sequence, which read_string puts together.
    return chr(0xDC00 + code) if is_byte and code > _ASCII else chr(code)


def _escape_code(escape: str, quotes: str) -> int:
    letter = escape[1]
    if letter in _SIMPLE:
        return _SIMPLE[letter]
    if letter == quotes:
        return ord(quotes)
    if len(escape) == 1 + _OCTAL_DIGITS and escape[1:].isdigit():
        code = int(escape[1:], 8)
        valid = code <= _BYTE
    elif letter in "xuU" and len(escape) > len("\\x"):
        digits = escape[2:]
        code = int(digits, 16)
        valid = letter == "x" or values.is_code_point(code)
    else:
        raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
    if not valid:
        raise ParseError("invalid syntax", code=Code.BAD_ESCAPE)
    return code

"""What a plain YAML scalar means to Kubernetes: the rules of go-yaml v2, restated.

Called by the composer for every plain scalar, and by the writer to know what it must quote.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from function_script.values import Scalar

# Words stand for themselves only when quoted; in keys too: `on: 1` has the key "true".
WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE"), False),
    **dict.fromkeys(("off", "Off", "OFF"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_INTEGER = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))\Z"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}

# Every other scalar is a string: its first character tells, without a regular expression.
NUMBER_STARTS = frozenset("+-.0123456789")
SPECIAL_STARTS = NUMBER_STARTS | {word[:1] for word in WORDS}

_MIN_INTEGER = -(2**63)
_MAX_INTEGER = 2**64
_MAX_SIGNED = 2**63
# More digits are beyond 64 bits in every base; Python refuses to convert thousands of them.
_MAX_DIGITS = 64
# Where Go's %g turns to exponents.
_SMALLEST_EXPONENT, _EXPONENTS_FROM = -4, 6
# So many decimal digits tell all floats of 32 bits apart.
_SINGLE_DIGITS = 10


def resolve(text: str) -> Scalar:
    """The value of a plain, untagged scalar; raises ValueError for infinities and NaN."""
    if text[:1] not in SPECIAL_STARTS:
        return text
    if text in WORDS:
        return WORDS[text]
    if text[0] in NUMBER_STARTS:
        number = _number(text)
        return text if number is None else number
    return text


def _number(text: str) -> int | float | None:
    if _NOT_FINITE.match(text):
        raise ValueError(f"{text} has no place in JSON")
    digits = text if text[0] == "." else text.replace("_", "")
    integer = to_integer(digits)
    return to_float(digits) if integer is None else integer


def to_integer(text: str) -> int | None:
    """The integer within 64 bits, signed or not, that the text spells; a leading 0 is octal."""
    match = _INTEGER.match(text)
    if match is None:
        return None
    base = str(match.lastgroup)
    digits = match[base].lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return None
    value = int(digits, _BASES[base])
    if text[0] == "-":
        value = -value
    # Beyond 63 bits only unsigned spellings count as integers.
    limit = _MAX_SIGNED if text[0] in "+-" else _MAX_INTEGER
    return value if _MIN_INTEGER <= value < limit else None


def to_float(text: str) -> int | float | None:
    """The finite number the text spells; one without fraction, within 63 bits, is an integer."""
    if not _FLOAT.match(text):
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < _MAX_SIGNED else value


def number_text(value: float) -> str:
    """A number as Go prints it: the shortest digits that read back, exponents from 1e+06 on."""
    if isinstance(value, int):
        return str(value)
    sign, digits, shift = Decimal(repr(value)).normalize().as_tuple()
    exponent = len(digits) + int(shift) - 1
    if _SMALLEST_EXPONENT <= exponent < _EXPONENTS_FROM:
        return f"{Decimal(repr(value)).normalize():f}"
    first, *others = map(str, digits)
    point = f".{''.join(others)}" if others else ""
    return f"{'-' * sign}{first}{point}e{exponent:+03d}"


def key_text_of(value: float) -> str:
    """A number as a key: of a fraction, as many digits as a float of 32 bits needs."""
    if isinstance(value, int):
        return str(value)
    try:
        single = struct.pack("<f", value)
    except OverflowError:
        return "+Inf" if value > 0 else "-Inf"
    digits = (float(f"{value:.{precision}g}") for precision in range(1, _SINGLE_DIGITS))
    shortest = (number for number in digits if struct.pack("<f", number) == single)
    return number_text(next(shortest, value))

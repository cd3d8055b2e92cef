"""Floats as Go's strconv.FormatFloat writes them, for the verbs of ``printf``."""

import math
from typing import Final

from function_script.engines.gotemplate.printing import float_text

_MANTISSA_BITS: Final = 53


def format_float(number: float, verb: str, precision: int | None, *, keep_zeros: bool) -> str:
    """Format ``number`` with verb b, e, E, f, g, G, x or X; precision None is the shortest.

    Only a minus is written as sign; ``keep_zeros`` is the flag ``#``.
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Inf" if number > 0 else "-Inf")
    if verb == "b":
        return _binary(number)
    text = _digits(number, verb, precision)
    return _with_point(text, verb, precision) if keep_zeros else text


def _digits(number: float, verb: str, precision: int | None) -> str:
    if verb in "xX":
        text = _hexadecimal(number, precision)
        return text.upper() if verb == "X" else text
    if verb in "gG" and precision is None:
        text = float_text(number)
        return text.upper() if verb == "G" else text
    return f"{number:.{max(precision or 0, 1 if verb in 'gG' else 0)}{verb}}"


def _binary(number: float) -> str:
    """Return mantissa and power of two as integers: ``4503599627370496p-52``."""
    fraction, exponent = math.frexp(abs(number))
    mantissa = int(fraction * (1 << _MANTISSA_BITS))
    shift = exponent - _MANTISSA_BITS if mantissa else -1074
    smallest = -1074
    if shift < smallest:
        mantissa >>= smallest - shift
        shift = smallest
    sign = "-" if math.copysign(1, number) < 0 else ""
    return f"{sign}{mantissa}p{shift:+d}"


def _hexadecimal(number: float, precision: int | None) -> str:
    """Return hexadecimal mantissa and power of two: ``0x1.cp+01``."""
    sign = "-" if math.copysign(1, number) < 0 else ""
    fraction, exponent = math.frexp(abs(number))
    if not fraction:
        zeros = f".{'0' * precision}" if precision else ""
        return f"{sign}0x0{zeros}p+00"
    # The first digit is 1; the rest are 52 bits, 13 digits.
    mantissa, exponent = int(fraction * (1 << _MANTISSA_BITS)), exponent - 1
    digits = f"{mantissa & ((1 << 52) - 1):013x}"
    first = "1"
    if precision is None:
        digits = digits.rstrip("0")
    elif precision < len(digits):
        first, digits, exponent = _round(mantissa, precision, exponent)
    else:
        digits = digits.ljust(precision, "0")
    point = f".{digits}" if digits else ""
    return f"{sign}0x{first}{point}p{exponent:+03d}"


def _round(mantissa: int, precision: int, exponent: int) -> tuple[str, str, int]:
    bits = 52 - 4 * precision
    digits_kept, rest = mantissa >> bits, mantissa & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    if rest > half or (rest == half and digits_kept & 1):
        digits_kept += 1
    if digits_kept >> (4 * precision) > 1:
        digits_kept, exponent = digits_kept >> 1, exponent + 1
    digits = f"{digits_kept & ((1 << 4 * precision) - 1):0{precision}x}" if precision else ""
    return "1", digits, exponent


def _with_point(text: str, verb: str, precision: int | None) -> str:
    """Add a decimal point, and for g the trailing zeros."""
    exponent_letters = "pP" if verb in "xX" else "eE"
    cut = next(
        (index for index, letter in enumerate(text) if letter in exponent_letters), len(text)
    )
    number, tail = text[:cut], text[cut:]
    count = (6 if precision is None else precision) if verb in "gGx" else 0
    digits = number.lstrip("-").removeprefix("0x").replace(".", "")
    significant = len(digits.lstrip("0")) or (1 if digits == "0" else 0)
    point = "" if "." in number else "."
    return f"{number}{point}{'0' * (count - significant)}{tail}"

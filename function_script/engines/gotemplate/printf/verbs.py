"""Formatting of an argument of ``printf`` by verb and kind, with flags, width and precision."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from function_script.engines.gotemplate import printing, values


class Flags(NamedTuple):
    """The flags of a verb. ``go_syntax`` is ``%#v``, ``names`` is ``%+v``."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    width: int | None = None
    precision: int | None = None
    go_syntax: bool = False
    names: bool = False

    def for_value(self) -> Flags:
        """Return the flags of ``%v``, where two of them have another meaning."""
        return self._replace(sharp=False, plus=False, go_syntax=self.sharp, names=self.plus)


def format_argument(value: object, verb: str, flags: Flags) -> str:
    """Format one argument of printf."""
    if verb == "T":
        return pad(truncate(values.go_type(value), flags), flags)
    if value is None:
        return pad(printing.NIL, flags) if verb == "v" else f"%!{verb}({printing.NIL})"
    return _format(value, verb, flags)


def _format(value: object, verb: str, flags: Flags) -> str:
    if isinstance(value, bool):
        text = "true" if value else "false"
        return pad(text, flags) if verb in "tv" else _bad_verb(value, verb, flags)
    if isinstance(value, str):
        return _format_string(value, verb, flags)
    if isinstance(value, int):
        return _format_integer(value, verb, flags)
    if isinstance(value, float) and verb not in _FLOAT_VERBS:
        return _bad_verb(value, verb, flags)
    if isinstance(value, float):
        return _format_float(value, verb, flags)
    if isinstance(value, values.Struct):
        own_text = value.text()
        if own_text is not None and verb in "vsxXq" and not flags.go_syntax:
            return _format_string(own_text, verb, flags)
        return _format_fields(value, verb, flags)
    return _format_container(value, verb, flags)


def _bad_verb(value: object, verb: str, flags: Flags) -> str:
    text = _format(int(value) if isinstance(value, values.NamedNumber) else value, "v", flags)
    return f"%!{verb}({values.go_type(value)}={text})"


def pad(text: str, flags: Flags) -> str:
    """Fill up to the width: with zeros only on the left, and never to the right."""
    missing = (flags.width or 0) - len(text)
    if missing <= 0:
        return text
    if flags.minus:
        return text + " " * missing
    return ("0" if flags.zero else " ") * missing + text


def _pad_blank(text: str, flags: Flags) -> str:
    return pad(text, flags._replace(zero=False))


def truncate(text: str, flags: Flags) -> str:
    """Cut to the precision, in characters."""
    return text if flags.precision is None else text[: flags.precision]


# Strings and bytes


def _format_string(value: str, verb: str, flags: Flags) -> str:
    text = str.__str__(value)
    if verb == "q" or (verb == "v" and flags.go_syntax):
        return _quoted(text, flags)
    if verb in "sv":
        return pad(truncate(text, flags), flags)
    if verb in "xX":
        data = values.to_bytes(text)[: flags.precision]
        prefix = f"0{verb}" if flags.sharp and data else ""
        separator = f" {prefix}" if flags.space else ""
        digits = prefix + separator.join(f"{byte:02x}" for byte in data)
        return pad(digits.upper() if verb == "X" else digits, flags)
    return _bad_verb(value, verb, flags)


def _quoted(text: str, flags: Flags) -> str:
    text = truncate(text, flags)
    if flags.sharp and not _NEEDS_QUOTES.search(text):
        return pad(f"`{text}`", flags)
    return pad(printing.quote(text, ascii_only=flags.plus), flags)


# Control characters, the back quote, the byte order mark and lone surrogates.
_NEEDS_QUOTES: Final = re.compile("[\x00-\x08\x0a-\x1f`\x7f\ufeff\ud800-\udfff]")


def _format_bytes(value: bytes, verb: str, flags: Flags) -> str:
    if verb in "vd":
        if flags.go_syntax:
            return f"[]byte{{{', '.join(f'0x{byte:x}' for byte in value)}}}"
        return f"[{' '.join(_format_integer(byte, 'd', flags) for byte in value)}]"
    if verb in "sxXq":
        return _format_string(values.to_string(value), verb, flags)
    return f"[{' '.join(_format(values.Uint8(byte), verb, flags) for byte in value)}]"


# Numbers


def _format_integer(value: int, verb: str, flags: Flags) -> str:
    if isinstance(value, values.NamedNumber) and verb in "vsxXq" and not flags.go_syntax:
        return _format_string(value.text(), verb, flags)
    if verb in _BASES:
        return _in_base(value, verb, flags)
    if verb == "c":
        return pad(chr(value) if values.is_code_point(value) else "\ufffd", flags)
    if verb == "q":
        return pad(printing.quote_character(value, ascii_only=flags.plus), flags)
    if verb == "U":
        return _unicode(value, flags)
    return _bad_verb(value, verb, flags)


def _unicode(value: int, flags: Flags) -> str:
    code = value % (1 << 64)
    text = f"U+{code:0{max(flags.precision or 0, 4)}X}"
    if flags.sharp and values.is_code_point(code) and chr(code).isprintable():
        text += f" '{chr(code)}'"
    return _pad_blank(text, flags)


_BASES: Final = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_UNSIGNED: Final = (values.Uint8, values.Uint32, values.Uint64)


def _in_base(value: int, verb: str, flags: Flags) -> str:
    hexadecimal = verb == "v" and flags.go_syntax and isinstance(value, _UNSIGNED)
    base = "x" if hexadecimal else _BASES[verb]
    sign = "-" if value < 0 else "+" if flags.plus else " " if flags.space else ""
    if flags.precision is None:
        width = flags.width if flags.zero and not flags.minus else None
        digits = f"{abs(value):0{max((width or 0) - len(sign), 1)}{base}}"
    elif flags.precision == 0 and value == 0:
        return " " * (flags.width or 0)
    else:
        digits = f"{abs(value):0{max(flags.precision, 1)}{base}}"
    if hexadecimal:
        prefix = "0x"
    elif verb == "O":
        prefix = "0o"
    elif not flags.sharp or base == "d":
        prefix = ""
    elif verb == "o":
        prefix = "" if digits.startswith("0") else "0"
    else:
        prefix = {"b": "0b", "X": "0X"}.get(verb, "0x")
    return _pad_blank(sign + prefix + digits, flags)


_FLOAT_VERBS: Final = "vbgGxXfFeE"


def _format_float(value: float, verb: str, flags: Flags) -> str:
    precision = flags.precision
    if precision is None and verb in "fFeE":
        precision = 6
    letter = {"v": "g", "F": "f"}.get(verb, verb)
    text = format_float(value, letter, precision, keep_zeros=flags.sharp)
    if text.startswith("-"):
        sign, text = "-", text[1:]
    else:
        sign = "+" if flags.plus else " " if flags.space else ""
    if text in {"Inf", "NaN"}:
        return _pad_blank(("+" if text == "Inf" and not sign else sign) + text, flags)
    if flags.zero and not flags.minus and sign:
        return sign + pad(text, flags._replace(width=(flags.width or 0) - 1))
    return pad(sign + text, flags)


# Floats, as Go's strconv.FormatFloat writes them

_MANTISSA_BITS: Final = 53


def format_float(number: float, verb: str, precision: int | None, *, keep_zeros: bool) -> str:
    """Format ``number`` with verb b, e, E, f, g, G, x or X; precision None is the shortest.

    Only a minus is written as sign. ``keep_zeros`` is the flag ``#``: a decimal point is always
    there, and for g the trailing zeros.
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Inf" if number > 0 else "-Inf")
    if verb == "b":
        return _binary(number)
    text = _digits(number, verb, precision)
    if not keep_zeros:
        return text
    exponent_letters = "pP" if verb in "xX" else "eE"
    cut = next(
        (index for index, letter in enumerate(text) if letter in exponent_letters), len(text)
    )
    mantissa, tail = text[:cut], text[cut:]
    count = (6 if precision is None else precision) if verb in "gGx" else 0
    digits = mantissa.lstrip("-").removeprefix("0x").replace(".", "")
    significant = len(digits.lstrip("0")) or (1 if digits == "0" else 0)
    point = "" if "." in mantissa else "."
    return f"{mantissa}{point}{'0' * (count - significant)}{tail}"


def _digits(number: float, verb: str, precision: int | None) -> str:
    if verb in "xX":
        text = _hexadecimal(number, precision)
        return text.upper() if verb == "X" else text
    if verb in "gG" and precision is None:
        text = printing.float_text(number)
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
    if precision is None:
        digits = digits.rstrip("0")
    elif precision < len(digits):
        bits = 52 - 4 * precision
        prefix, rest = mantissa >> bits, mantissa & ((1 << bits) - 1)
        half = 1 << (bits - 1)
        if rest > half or (rest == half and prefix & 1):
            prefix += 1
        if prefix >> (4 * precision) > 1:
            prefix, exponent = prefix >> 1, exponent + 1
        digits = f"{prefix & ((1 << 4 * precision) - 1):0{precision}x}" if precision else ""
    else:
        digits = digits.ljust(precision, "0")
    point = f".{digits}" if digits else ""
    return f"{sign}0x1{point}p{exponent:+03d}"


# Containers


def _format_fields(value: values.Struct, verb: str, flags: Flags) -> str:
    has_names = flags.names or flags.go_syntax
    fields = [
        (f"{name}:" if has_names else "") + _element(field, verb, flags)
        for name, field in value.fields.items()
    ]
    name = value.go_type if flags.go_syntax else ""
    body = (", " if flags.go_syntax else " ").join(fields)
    return f"{'&' if value.pointer else ''}{name}{{{body}}}"


def _format_container(value: object, verb: str, flags: Flags) -> str:
    if isinstance(value, bytes):
        return _format_bytes(value, verb, flags)
    if isinstance(value, dict):
        items = [
            f"{_element(key, verb, flags)}:{_element(item, verb, flags)}"
            for key, item in printing.sorted_items(value)
        ]
        opening = "map["
    else:
        items = [_element(item, verb, flags) for item in value] if isinstance(value, list) else []
        opening = "["
    if not flags.go_syntax:
        return f"{opening}{' '.join(items)}]"
    if values.is_nil(value):
        return f"{values.go_type(value)}(nil)"
    return f"{values.go_type(value)}{{{', '.join(items)}}}"


def _element(value: object, verb: str, flags: Flags) -> str:
    if value is None:
        return f"interface {{}}({printing.NIL[1:-1]})" if flags.go_syntax else printing.NIL
    return _format(value, verb, flags)

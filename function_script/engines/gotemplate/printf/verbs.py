"""Formatting of an argument of ``printf`` by verb and kind, with flags, width and precision."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from function_script.engines.gotemplate import printing
from function_script.engines.gotemplate.printf.floats import format_float
from function_script.engines.gotemplate.values import (
    Struct,
    Uint8,
    Uint32,
    Uint64,
    go_type,
    is_code_point,
    is_nil,
    to_bytes,
    to_string,
)


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
        return pad(truncate(go_type(value), flags), flags)
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
    if isinstance(value, float):
        if verb not in _FLOAT_VERBS:
            return _bad_verb(value, verb, flags)
        return _format_float(value, verb, flags)
    if isinstance(value, complex):
        if verb not in _FLOAT_VERBS:
            return _bad_verb(value, verb, flags)
        real = _format_float(value.real, verb, flags)
        return f"({real}{_format_float(value.imag, verb, flags._replace(plus=True))}i)"
    if isinstance(value, bytes):
        return _format_bytes(value, verb, flags)
    if isinstance(value, Struct):
        return _format_struct(value, verb, flags)
    return _format_container(value, verb, flags)


def _bad_verb(value: object, verb: str, flags: Flags) -> str:
    printable = value.fields if isinstance(value, Struct) and not value.text() else value
    text = (
        _format(printable, "v", flags) if printable is value else _format_fields(value, "v", flags)
    )
    return f"%!{verb}({go_type(value)}={text})"


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
        return _hexadecimal(to_bytes(text), verb, flags)
    return _bad_verb(value, verb, flags)


def _quoted(text: str, flags: Flags) -> str:
    text = truncate(text, flags)
    if flags.sharp and not _NEEDS_QUOTES.search(text):
        return pad(f"`{text}`", flags)
    return pad(printing.quote(text, ascii_only=flags.plus), flags)


# Control characters, the back quote, the byte order mark and lone surrogates.
_NEEDS_QUOTES: Final = re.compile("[\x00-\x08\x0a-\x1f`\x7f\ufeff\ud800-\udfff]")


def _hexadecimal(data: bytes, verb: str, flags: Flags) -> str:
    data = data if flags.precision is None else data[: flags.precision]
    prefix = f"0{verb}" if flags.sharp and data else ""
    separator = f" {prefix}" if flags.space else ""
    text = prefix + separator.join(f"{byte:02x}" for byte in data)
    return pad(text.upper() if verb == "X" else text, flags)


def _format_bytes(value: bytes, verb: str, flags: Flags) -> str:
    if verb in "vd":
        if flags.go_syntax:
            return f"[]byte{{{', '.join(f'0x{byte:x}' for byte in value)}}}"
        return f"[{' '.join(_format_integer(byte, 'd', flags) for byte in value)}]"
    if verb in "sxXq":
        return _format_string(to_string(value), verb, flags)
    return f"[{' '.join(_format(Uint8(byte), verb, flags) for byte in value)}]"


# Numbers


def _format_integer(value: int, verb: str, flags: Flags) -> str:
    if verb in _BASES:
        return _in_base(value, verb, flags)
    if verb == "c":
        return pad(chr(value) if is_code_point(value) else "\ufffd", flags)
    if verb == "q":
        return pad(printing.quote_character(value, ascii_only=flags.plus), flags)
    if verb == "U":
        return _unicode(value, flags)
    return _bad_verb(value, verb, flags)


def _unicode(value: int, flags: Flags) -> str:
    code = value % (1 << 64)
    text = f"U+{code:0{max(flags.precision or 0, 4)}X}"
    if flags.sharp and is_code_point(code) and chr(code).isprintable():
        text += f" '{chr(code)}'"
    return _pad_blank(text, flags)


_BASES: Final = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_UNSIGNED: Final = (Uint8, Uint32, Uint64)


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
    prefix = "0x" if hexadecimal else _prefix(digits, verb, flags.sharp)
    return _pad_blank(sign + prefix + digits, flags)


def _prefix(digits: str, verb: str, sharp: object) -> str:
    if verb == "O":
        return "0o"
    if not sharp or _BASES[verb] == "d":
        return ""
    if verb == "o":
        return "" if digits.startswith("0") else "0"
    return {"b": "0b", "X": "0X"}.get(verb, "0x")


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


# Containers


def _format_struct(value: Struct, verb: str, flags: Flags) -> str:
    text = value.text()
    if text is not None and verb in "vsxXq" and not flags.go_syntax:
        return _format_string(text, verb, flags)
    return _format_fields(value, verb, flags)


def _format_fields(value: object, verb: str, flags: Flags) -> str:
    if not isinstance(value, Struct):
        return ""
    has_names = flags.names or flags.go_syntax
    fields = [
        (f"{name}:" if has_names else "") + _element(field, verb, flags)
        for name, field in value.fields.items()
    ]
    name = value.go_type if flags.go_syntax else ""
    body = (", " if flags.go_syntax else " ").join(fields)
    return f"{'&' if value.pointer else ''}{name}{{{body}}}"


def _format_container(value: object, verb: str, flags: Flags) -> str:
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
    if is_nil(value):
        return f"{go_type(value)}(nil)"
    return f"{go_type(value)}{{{', '.join(items)}}}"


def _element(value: object, verb: str, flags: Flags) -> str:
    if value is None:
        return f"interface {{}}({printing.NIL[1:-1]})" if flags.go_syntax else printing.NIL
    return _format(value, verb, flags)

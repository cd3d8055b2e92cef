"""``printf``: Go's format strings, read left to right, and their arguments by verb and kind.

Every mistake in a format is text in the result, in Go's words: ``%!d(string=x)``.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final, NamedTuple

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.function import Allocator
from function_script.engines.gotemplate.printing import NIL
from function_script.engines.gotemplate.values import go_type

# Arguments


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


# Formats

# Go ignores a width or precision beyond this.
_MAX_NUMBER: Final = 1_000_000
_PLAIN: Final = Flags()
_FLAGS: Final = re.compile(r"[#0+\- ]*")
_NUMBER: Final = re.compile(r"[0-9]*")
_INDEX: Final = re.compile(r"\[([0-9]+)\]")
_BRACKETS: Final = re.compile(r"\[[^\]]*\]")


class _Number(NamedTuple):
    """A width or precision; ``value`` is None without one."""

    value: int | None
    complaint: str = ""


def sprintf(allocator: Allocator, template: str, *arguments: object) -> str:
    """Return ``fmt.Sprintf``; raises LimitExceededError for excessive padding and length."""
    simple = _read_simple(template)
    if simple is None or len(simple.verbs) != len(arguments):
        return _Formatter(allocator, template, arguments).run()
    parts = [simple.texts[0]]
    for verb, text, value in zip(simple.verbs, simple.texts[1:], arguments, strict=True):
        plain = type(value) is str and verb in "sv"
        parts.append(str(value) if plain else format_argument(value, verb, _PLAIN))
        parts.append(text)
    allocator.check_string(sum(map(len, parts)))
    return "".join(parts)


class _Simple(NamedTuple):
    """A format of plain verbs, one for each argument: the texts around the verbs, and the verbs."""

    texts: list[str]
    verbs: str


@lru_cache(maxsize=256)
def _read_simple(template: str) -> _Simple | None:
    """Read a format without flags, widths and the like; None for any other."""
    pieces = _VERB.split(template)
    texts, verbs = pieces[::2], "".join(pieces[1::2])
    simple = "%" not in "".join(texts)
    return _Simple(texts, verbs) if simple else None


_VERB: Final = re.compile(r"%([a-zA-Z])")


class _Formatter:
    def __init__(self, allocator: Allocator, template: str, arguments: tuple[object, ...]) -> None:
        self.allocator = allocator
        self.template = template
        self.arguments = arguments
        self.position = 0
        self.next_argument = 0
        self.is_reordered = False
        # Whether every index like [2] of the current verb names an argument, and whether one ends
        # at the current position.
        self.has_good_index = True
        self.is_after_index = False

    def run(self) -> str:
        parts: list[str] = []
        while True:
            percent = self.template.find("%", self.position)
            if percent < 0:
                parts.append(self.template[self.position :])
                break
            parts.append(self.template[self.position : percent])
            self.position = percent + 1
            parts.append(self.format_verb())
        if not self.is_reordered and self.next_argument < len(self.arguments):
            parts.append(self.format_extra())
        self.allocator.check_string(sum(map(len, parts)))
        return "".join(parts)

    def format_verb(self) -> str:
        """Format one verb, from behind its percent sign."""
        self.has_good_index = True
        names = self.consume(_FLAGS)
        letter = self.peek()
        if "a" <= letter <= "z" and self.next_argument < len(self.arguments):
            return self.format_next_argument(letter, names, _Number(None), _Number(None))
        self.read_index()
        width = self.read_width()
        precision = self.read_precision()
        if not self.is_after_index:
            self.read_index()
        complaints = width.complaint + precision.complaint
        letter = self.peek()
        if not letter:
            return f"{complaints}%!(NOVERB)"
        if letter == "%":
            self.position += 1
            return f"{complaints}%"
        if not self.has_good_index or self.next_argument >= len(self.arguments):
            self.position += 1
            reason = "MISSING" if self.has_good_index else "BADINDEX"
            return f"{complaints}%!{letter}({reason})"
        return complaints + self.format_next_argument(letter, names, width, precision)

    def format_next_argument(
        self, letter: str, names: str, width: _Number, precision: _Number
    ) -> str:
        """Format the next argument by the verb ``letter``."""
        self.position += 1
        value = self.arguments[self.next_argument]
        self.next_argument += 1
        minus = "-" in names or (width.value is not None and width.value < 0)
        flags = Flags(
            sharp="#" in names,
            zero="0" in names and not (width.value is not None and width.value < 0),
            plus="+" in names,
            minus=minus,
            space=" " in names,
            width=abs(width.value) if width.value is not None else None,
            precision=precision.value,
        )
        self.allocator.check_width(max(flags.width or 0, flags.precision or 0))
        return format_argument(value, letter, flags.for_value() if letter == "v" else flags)

    def read_index(self) -> None:
        """Read an explicit argument index, ``[2]``."""
        self.is_after_index = False
        if not self.template.startswith("[", self.position):
            return
        self.is_reordered = True
        match = _INDEX.match(self.template, self.position)
        number = int(match[1]) if match is not None and len(match[1]) <= len("1000000") else 0
        if 0 < number <= len(self.arguments):
            self.next_argument = number - 1
            self.is_after_index = True
        else:
            self.has_good_index = False
            self.is_after_index = match is not None
        brackets = _BRACKETS.match(self.template, self.position)
        self.position = brackets.end() if brackets is not None else self.position + 1

    def read_width(self) -> _Number:
        """Read the width: digits, or a star that takes it from an argument."""
        if self.peek() == "*":
            return self.take_number("BADWIDTH")
        digits = self.consume(_NUMBER)
        if not digits:
            return _Number(None)
        if self.is_after_index:
            self.has_good_index = False
        return self.read_number(digits)

    def read_precision(self) -> _Number:
        """Read the precision, from its point; a point at the very end is no precision."""
        if self.peek() != "." or self.position + 1 >= len(self.template):
            return _Number(None)
        self.position += 1
        if self.is_after_index:
            self.has_good_index = False
        self.read_index()
        if self.peek() == "*":
            number = self.take_number("BADPREC")
            negative = number.value is not None and number.value < 0
            return _Number(None, "%!(BADPREC)") if negative else number
        digits = self.consume(_NUMBER)
        return self.read_number(digits) if digits else _Number(0)

    def read_number(self, digits: str) -> _Number:
        """Read a number of the format; Go stops reading at one that is too large."""
        if int(digits[: len("10000000")]) > _MAX_NUMBER * 10:
            self.position = len(self.template)
            return _Number(None)
        return _Number(int(digits))

    def take_number(self, complaint: str) -> _Number:
        """Take a number from the arguments."""
        self.position += 1
        self.is_after_index = False
        if self.next_argument >= len(self.arguments):
            return _Number(None, f"%!({complaint})")
        value = self.arguments[self.next_argument]
        self.next_argument += 1
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_NUMBER:
            return _Number(None, f"%!({complaint})")
        return _Number(int(value))

    def format_extra(self) -> str:
        """Return the complaint about superfluous arguments."""
        texts = (
            NIL if value is None else f"{go_type(value)}={format_argument(value, 'v', _PLAIN)}"
            for value in self.arguments[self.next_argument :]
        )
        return f"%!(EXTRA {', '.join(texts)})"

    def consume(self, pattern: re.Pattern[str]) -> str:
        """Consume and return a match of ``pattern``."""
        match = pattern.match(self.template, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def peek(self) -> str:
        """Return the character at the position; empty at the end."""
        return self.template[self.position : self.position + 1]

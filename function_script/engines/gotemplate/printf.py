"""``printf``: Go's format strings, read left to right, and their arguments by verb and kind.

Every mistake in a format is text in the result, in Go's words: ``%!d(string=x)``. Values in Go's
syntax (``%#v``), floats as bits (``%b``, ``%x``) and widths in arguments (``%*d``) are errors.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator
from function_script.engines.gotemplate.printing import NIL
from function_script.engines.gotemplate.values import go_type

# Arguments


class Flags(NamedTuple):
    """The flags of a verb. ``names`` is ``%+v``."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    width: int | None = None
    precision: int | None = None
    names: bool = False

    def for_value(self) -> Flags:
        """Return the flags of ``%v``, where a plus has another meaning; raises CallError."""
        if self.sharp:
            raise CallError("%#v is not supported: write %v, or toJson")
        return self._replace(plus=False, names=self.plus)


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
    if isinstance(value, float) and verb in "bxX":
        raise CallError(f"%{verb} of a number with a fraction is not supported: write %g")
    if isinstance(value, float) and verb not in _FLOAT_VERBS:
        return _bad_verb(value, verb, flags)
    if isinstance(value, float):
        return _format_float(value, verb, flags)
    if isinstance(value, values.Struct):
        own_text = value.text()
        if own_text is not None and verb in "vsxXq":
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
    if verb == "q":
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
        return f"[{' '.join(_format_integer(byte, 'd', flags) for byte in value)}]"
    if verb in "sxXq":
        return _format_string(values.to_string(value), verb, flags)
    return f"[{' '.join(_format(values.Uint8(byte), verb, flags) for byte in value)}]"


# Numbers


def _format_integer(value: int, verb: str, flags: Flags) -> str:
    if isinstance(value, values.NamedNumber) and verb in "vsxXq":
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


def _in_base(value: int, verb: str, flags: Flags) -> str:
    base = _BASES[verb]
    sign = "-" if value < 0 else "+" if flags.plus else " " if flags.space else ""
    if flags.precision is None:
        width = flags.width if flags.zero and not flags.minus else None
        digits = f"{abs(value):0{max((width or 0) - len(sign), 1)}{base}}"
    elif flags.precision == 0 and value == 0:
        return " " * (flags.width or 0)
    else:
        digits = f"{abs(value):0{max(flags.precision, 1)}{base}}"
    if verb == "O":
        prefix = "0o"
    elif not flags.sharp or base == "d":
        prefix = ""
    elif verb == "o":
        prefix = "" if digits.startswith("0") else "0"
    else:
        prefix = {"b": "0b", "X": "0X"}.get(verb, "0x")
    return _pad_blank(sign + prefix + digits, flags)


_FLOAT_VERBS: Final = "vgGfFeE"


def _format_float(value: float, verb: str, flags: Flags) -> str:
    precision = flags.precision
    if precision is None and verb in "fFeE":
        precision = 6
    letter = {"v": "g", "F": "f"}.get(verb, verb)
    text = _float_text(value, letter, precision, keep_zeros=flags.sharp)
    if text.startswith("-"):
        sign, text = "-", text[1:]
    else:
        sign = "+" if flags.plus else " " if flags.space else ""
    if text in {"Inf", "NaN"}:
        return _pad_blank(("+" if text == "Inf" and not sign else sign) + text, flags)
    # Zeros are filled in between the sign and the digits.
    if flags.zero and not flags.minus and sign:
        return sign + pad(text, flags._replace(width=(flags.width or 0) - 1))
    return pad(sign + text, flags)


# Floats, as Go's strconv.FormatFloat writes them


def _float_text(number: float, verb: str, precision: int | None, *, keep_zeros: bool) -> str:
    """Format ``number`` with verb e, E, f, g or G; precision None is the shortest.

    Only a minus is written as sign. ``keep_zeros`` is the flag ``#``: a decimal point is always
    there, and for g the trailing zeros.
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Inf" if number > 0 else "-Inf")
    if verb in "gG" and precision is None:
        text = printing.float_text(number)
        text = text.upper() if verb == "G" else text
    else:
        text = f"{number:.{max(precision or 0, 1 if verb in 'gG' else 0)}{verb}}"
    if not keep_zeros:
        return text
    cut = next((index for index, letter in enumerate(text) if letter in "eE"), len(text))
    mantissa, tail = text[:cut], text[cut:]
    count = (6 if precision is None else precision) if verb in "gG" else 0
    digits = mantissa.lstrip("-").replace(".", "")
    significant = len(digits.lstrip("0")) or (1 if digits == "0" else 0)
    point = "" if "." in mantissa else "."
    return f"{mantissa}{point}{'0' * (count - significant)}{tail}"


# Containers


def _format_fields(value: values.Struct, verb: str, flags: Flags) -> str:
    fields = " ".join(
        (f"{name}:" if flags.names else "") + _element(field, verb, flags)
        for name, field in value.fields.items()
    )
    return f"{'&' if value.pointer else ''}{{{fields}}}"


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
    return f"{opening}{' '.join(items)}]"


def _element(value: object, verb: str, flags: Flags) -> str:
    return printing.NIL if value is None else _format(value, verb, flags)


# Formats

# Go ignores a width or precision beyond this.
_MAX_NUMBER: Final = 1_000_000
_PLAIN: Final = Flags()
# An explicit index of an argument, such as [2]; a bracket that nothing closes is one, too.
_BRACKETS: Final = re.compile(r"\[[^\]]*\]|\[")
_INDEX: Final = re.compile(r"\[([0-9]+)\]")
# A verb without its letter. A point at the very end is no precision.
_VERB: Final = re.compile(
    rf"%(?P<flags>[#0+\- ]*)(?P<index>{_BRACKETS.pattern})?(?P<width>\*|[0-9]*)"
    rf"(?P<point>\.(?!\Z)(?P<second>{_BRACKETS.pattern})?(?P<precision>\*|[0-9]*))?"
)
_NO_VERB: Final = "%!(NOVERB)"


def sprintf(allocator: Allocator, template: str, *arguments: object) -> str:
    """Return ``fmt.Sprintf``; raises LimitExceededError for excessive padding and length."""
    return _Formatter(allocator, template, arguments).run()


class _Formatter:
    def __init__(self, allocator: Allocator, template: str, arguments: tuple[object, ...]) -> None:
        self.allocator = allocator
        self.template = template
        self.arguments = arguments
        self.position = 0
        self.next_argument = 0
        self.is_reordered = False
        # Whether every index of the current verb names an argument.
        self.has_good_index = True

    def run(self) -> str:
        parts: list[str] = []
        while (match := _VERB.search(self.template, self.position)) is not None:
            parts.append(self.template[self.position : match.start()])
            self.position = match.end()
            parts.append(self.format_verb(match))
        parts.append(self.template[self.position :])
        if not self.is_reordered and self.next_argument < len(self.arguments):
            parts.append(self.format_extra())
        self.allocator.check_string(sum(map(len, parts)))
        return "".join(parts)

    def format_verb(self, match: re.Match[str]) -> str:
        """Format one verb; raises CallError for a star."""
        names, index, width, point, second, precision = match.groups()
        self.has_good_index = True
        is_after_index = self.read_index(index)
        # Go stops reading at a number that is too large.
        if _is_too_large(width):
            self.position = len(self.template)
            return _NO_VERB
        if is_after_index and (width or point):
            self.has_good_index = False
        if point:
            is_after_index = self.read_index(second)
            if _is_too_large(precision):
                self.position = len(self.template)
                return _NO_VERB
        if not is_after_index and (brackets := _BRACKETS.match(self.template, self.position)):
            self.position = brackets.end()
            self.read_index(brackets[0])
        letter = self.template[self.position : self.position + 1]
        if not letter:
            return _NO_VERB
        self.position += 1
        if letter == "%":
            return "%"
        if not self.has_good_index or self.next_argument >= len(self.arguments):
            return f"%!{letter}({'MISSING' if self.has_good_index else 'BADINDEX'})"
        value = self.arguments[self.next_argument]
        self.next_argument += 1
        flags = Flags(
            sharp="#" in names,
            zero="0" in names,
            plus="+" in names,
            minus="-" in names,
            space=" " in names,
            width=int(width) if width else None,
            precision=int(precision or 0) if point else None,
        )
        self.allocator.check_width(max(flags.width or 0, flags.precision or 0))
        return format_argument(value, letter, flags.for_value() if letter == "v" else flags)

    def read_index(self, text: str | None) -> bool:
        """Go on with the argument of an index; report whether it has the form of one."""
        if text is None:
            return False
        self.is_reordered = True
        match = _INDEX.fullmatch(text)
        number = int(match[1]) if match is not None and len(match[1]) <= len("1000000") else 0
        if 0 < number <= len(self.arguments):
            self.next_argument = number - 1
        else:
            self.has_good_index = False
        return match is not None

    def format_extra(self) -> str:
        """Return the complaint about superfluous arguments."""
        texts = (
            NIL if value is None else f"{go_type(value)}={format_argument(value, 'v', _PLAIN)}"
            for value in self.arguments[self.next_argument :]
        )
        return f"%!(EXTRA {', '.join(texts)})"


def _is_too_large(digits: str) -> bool:
    if digits == "*":
        raise CallError("a width or precision of * is not supported: write the number")
    return int(digits[: len("10000000")] or 0) > _MAX_NUMBER * 10

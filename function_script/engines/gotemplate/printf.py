"""``printf``: Go's format strings, read left to right, and their arguments by verb and kind.

A value that does not fit its verb is text in the result, in Go's words: ``%!d(string=x)``. These
are errors: the flag ``#``, ``%O``, ``%U``, ``%+q``, quoted characters, the bits of floats, blanks
between the bytes of a text, and widths and indexes that the arguments do not have.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.printing import NIL
from function_script.engines.gotemplate.run import MAX_CHARACTERS, Run
from function_script.engines.gotemplate.values import go_type

# Arguments


class Flags(NamedTuple):
    """The flags of a verb. ``names`` is the plus of ``%v``, which has another meaning there."""

    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    width: int | None = None
    precision: int | None = None
    names: bool = False


def format_argument(value: object, verb: str, flags: Flags) -> str:
    """Format one argument of printf."""
    if value is None:
        return pad(printing.NIL, flags) if verb in "vT" else f"%!{verb}({printing.NIL})"
    if verb == "T":
        return pad(truncate(values.go_type(value), flags), flags)
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
    if verb == "q" and flags.plus:
        raise _unsupported("%+q", "%q")
    if verb == "q":
        return pad(printing.quote(truncate(value, flags)), flags)
    if verb in "sv":
        return pad(truncate(value, flags), flags)
    if verb in "xX":
        if flags.space:
            raise _unsupported(f"% {verb} of a text", f"%{verb}")
        digits = values.to_bytes(value)[: flags.precision].hex()
        return pad(digits.upper() if verb == "X" else digits, flags)
    return _bad_verb(value, verb, flags)


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
    if verb in _INSTEAD:
        raise _unsupported(f"%{verb} of a number", _INSTEAD[verb])
    return _bad_verb(value, verb, flags)


_INSTEAD: Final = {"O": "0o%o", "U": "U+%04X", "q": "%c"}
_BASES: Final = {"v": "d", "d": "d", "b": "b", "o": "o", "x": "x", "X": "X"}


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
    return _pad_blank(sign + digits, flags)


_FLOAT_VERBS: Final = "vgGfFeE"


def _format_float(value: float, verb: str, flags: Flags) -> str:
    if verb in "bxX":
        raise _unsupported(f"%{verb} of a number with a fraction", "%g")
    if verb not in _FLOAT_VERBS:
        return _bad_verb(value, verb, flags)
    precision = flags.precision
    if precision is None and verb in "fFeE":
        precision = 6
    text = _float_text(value, {"v": "g", "F": "f"}.get(verb, verb), precision)
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


def _float_text(number: float, verb: str, precision: int | None) -> str:
    """Format ``number`` with verb e, E, f, g or G; only a minus is written as sign."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Inf" if number > 0 else "-Inf")
    # No precision stands for the shortest digits that read back.
    if verb == "g" and precision is None:
        return printing.float_text(number)
    if verb == "G" and precision is None:
        return printing.float_text(number).upper()
    return f"{number:.{max(precision or 0, 1 if verb in 'gG' else 0)}{verb}}"


# Containers


def _format_fields(value: values.Struct, verb: str, flags: Flags) -> str:
    if not value.fields or verb in "pw":
        # Go prints addresses, and fields that no template can read.
        raise _unsupported(f"%{verb} of a {go_type(value)}", "%v")
    fields = " ".join(
        (f"{name}:" if flags.names else "") + _element(field, verb, flags)
        for name, field in value.fields.items()
    )
    return f"{'&' if value.pointer else ''}{{{fields}}}"


def _format_container(value: object, verb: str, flags: Flags) -> str:
    if verb == "p":
        raise _unsupported("%p", "%v")
    if verb == "w":
        return _bad_verb(value, verb, flags)
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

_PLAIN: Final = Flags()
# A point at the very end is no precision.
_VERB: Final = re.compile(
    r"%(?P<flags>[#0+\- ]*)(?P<width>\*|[0-9]*)(?P<point>\.(?!\Z)(?P<precision>\*|[0-9]*))?"
    r"(?:\[(?P<index>[0-9]{1,6})\])?(?P<letter>.?)",
    re.DOTALL,
)
# More digits make a number that is too large anyway.
_MAX_DIGITS: Final = 7


def sprintf(run: Run, template: str, *arguments: object) -> str:
    """Return ``fmt.Sprintf``; raises CallError, LimitExceededError for padding and length."""
    parts: list[str] = []
    end = following = length = 0
    is_reordered = False
    for match in _VERB.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        letter, index = match["letter"], match["index"]
        if not letter or (letter == "%" and not index):
            parts.append(letter or "%!(NOVERB)")
            continue
        flags = _read_flags(match)
        width = max(flags.width or 0, flags.precision or 0)
        run.check_width(width)
        # An index stands right before its verb.
        if letter in "[*.0123456789" or (index and not 0 < int(index) <= len(arguments)):
            raise CallError(f"{match[0]} has no index of one of {len(arguments)} values")
        if index:
            is_reordered, following = True, int(index) - 1
        if letter == "%":
            parts.append(letter)
            continue
        if following >= len(arguments):
            parts.append(f"%!{letter}(MISSING)")
            continue
        _check_size(run, arguments[following], width)
        parts.append(format_argument(arguments[following], letter, flags))
        following += 1
        length += len(parts[-1])
        # Before the next one is made: a verb may write a thousand times its own length.
        if length > MAX_CHARACTERS:
            run.check_string(length)
    parts.append(template[end:])
    if not is_reordered and following < len(arguments):
        for value in arguments[following:]:
            _check_size(run, value, 0)
        parts.append(_format_extra(arguments[following:]))
    run.check_string(sum(map(len, parts)))
    return "".join(parts)


def _check_size(run: Run, value: object, width: int) -> None:
    """Charge for a container whose items all have this width at least."""
    if isinstance(value, bytes):
        run.check_string(len(value) * width)
    elif isinstance(value, (dict, list)):
        run.check_tree(value, width)


def _read_flags(match: re.Match[str]) -> Flags:
    """Return the flags of a verb; raises CallError."""
    marks, width, precision = match["flags"], match["width"], match["precision"] or ""
    if "#" in marks:
        instead = "%v, or toJson" if match["letter"] == "v" else "what it adds in front of the verb"
        raise _unsupported(f"%#{match['letter']}", instead)
    if "*" in {width, precision}:
        raise CallError("a width or precision of * is not supported: write the number")
    is_value = match["letter"] in {"v", "w"}
    return Flags(
        zero="0" in marks,
        plus="+" in marks and not is_value,
        minus="-" in marks,
        space=" " in marks,
        width=int(width[:_MAX_DIGITS]) if width else None,
        precision=int(precision[:_MAX_DIGITS] or 0) if match["point"] else None,
        names="+" in marks and is_value,
    )


def _unsupported(what: str, instead: str) -> CallError:
    return CallError(f"{what} is not supported: write {instead}")


def _format_extra(arguments: tuple[object, ...]) -> str:
    """Return the complaint about superfluous arguments."""
    texts = (
        NIL if value is None else f"{go_type(value)}={format_argument(value, 'v', _PLAIN)}"
        for value in arguments
    )
    return f"%!(EXTRA {', '.join(texts)})"

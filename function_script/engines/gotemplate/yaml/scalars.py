"""YAML scalars as yaml.v3 reads and writes them.

A plain one that is read is a text, a number, a boolean, a time or null. A string is written plain,
quoted, or as a block of lines. yaml.v3 takes U+2028 and U+2029 for line breaks: it indents the text
behind them.
"""

import base64
import datetime as dt
import re
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.go_time import LOCAL, UTC, Location, Time

# Reading

_VALUES: Final[dict[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER: Final = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|([1-9][0-9]*|0))"
)
_BASES: Final = (16, 8, 2, 10)
_MAX_DIGITS: Final = 64
_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt]|( ))([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?"
    r"(Z|[-+][0-9]{2}:[0-9]{2})?)?"
)


def is_text(text: str) -> bool:
    """Report whether a plain scalar reads back as the string it is."""
    return resolve(text) is text


def resolve(text: str) -> object:
    """Return the value of a plain scalar; the string itself when it is nothing else."""
    first = text[:1]
    if first and first not in "+-.0123456789~nNtTfF":
        return text
    if text in _VALUES:
        return _VALUES[text]
    if not first or first not in "+-.0123456789":
        return text
    if first != ".":
        time = _time(text)
        if time is not None:
            return time
    number = _number(text, dotted=first == ".")
    return text if number is None else number


def _number(text: str, *, dotted: bool) -> object | None:
    if dotted:
        # Python also reads blanks behind a number, and digits of other scripts.
        return _real(text) if text.isascii() and text == text.rstrip() else None
    plain = text.replace("_", "")
    match = _INTEGER.fullmatch(plain)
    if match is not None:
        digits, base = next(
            (digits, base)
            for digits, base in zip(match.groups()[1:], _BASES, strict=True)
            if digits is not None
        )
        # Python converts at most 4,300 digits, and 64 bits have at most 64 in any base.
        if len(digits.lstrip("0")) <= _MAX_DIGITS:
            number = int(f"{match[1]}{digits.lstrip('0') or '0'}", base)
            if values.MIN_INT64 <= number <= values.MAX_INT64:
                return values.Int(number)
            if match[1] == "" and number <= values.MAX_UINT64:
                return values.Uint64(number)
    return _real(plain) if _FLOAT.fullmatch(plain) else None


def _real(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) != float("inf") else None


def _time(text: str) -> Time | None:
    """Return a date, or a date and a time; None for other texts."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    blank, zone = match[4], match[9]
    if match[5] is not None and (blank is None) == (zone is None):
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    hour, minute, second = (int(match[group] or 0) for group in (5, 6, 7))
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError:
        return None
    offset = _offset(zone)
    nanoseconds = int((match[8] or "0")[:9].ljust(9, "0"))
    seconds = int(moment.timestamp()) - offset
    if offset:
        return Time(seconds, nanoseconds, Location.fixed("", offset))
    return Time(seconds, nanoseconds, UTC if zone in {None, "Z"} else LOCAL)


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


# Writing

# A longer key needs a question mark.
MAX_SIMPLE_KEY: Final = 128
# Plain in any context, apart from the words below.
_SIMPLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset(
    word
    for base in ("y", "yes", "on", "n", "no", "off", "true", "false", "null")
    for word in (base, base.capitalize(), base.upper())
)
# Characters that need an escape: controls, those beyond the BMP, and two line breaks. (A negated
# class takes Python ten times longer to compile.)
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe-\U0010ffff]")
_SEPARATORS: Final = "\u2028\u2029"
_INDENTED: Final = re.compile(f"(?<=[{_SEPARATORS}])(?=[^\n{_SEPARATORS}])")
_BLANK_BEFORE_BREAK: Final = re.compile(f" [\n{_SEPARATORS}]")
_BLANK_AT_SEPARATOR: Final = re.compile(f" [{_SEPARATORS}]|[{_SEPARATORS}] ")
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_INDICATORS: Final = re.compile(
    r"""---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|.*?(?::(?:[ \t]|$)|[ \t]\#)""", re.DOTALL
)
_ESCAPES: Final = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}
_BASE64_LINE: Final = 70
_BOM: Final = "\ufeff"


def is_simple(text: str) -> bool:
    """Report whether a string is written plain, also as a key, in any context."""
    return (
        len(text) <= MAX_SIMPLE_KEY and _SIMPLE.fullmatch(text) is not None and text not in _WORDS
    )


def write_string(text: str, indent: int) -> str:
    """Return a string as a value; the lines of a block are indented by ``indent``."""
    if _SIMPLE.fullmatch(text) and text not in _WORDS:
        return text
    if values.is_broken(text):
        return f"!!binary {_binary(values.to_bytes(text), indent)}"
    if "\n" not in text:
        return _on_one_line(text, indent)
    if text.endswith(" ") or _BLANK_BEFORE_BREAK.search(text) or _SPECIAL.search(text):
        return double_quoted(text)
    return _block(text, indent)


def write_key(text: str) -> str:
    """Return a string as a key: always on one line."""
    if _SIMPLE.fullmatch(text) and text not in _WORDS:
        return text
    return (
        double_quoted(text) if has_break(text) or values.is_broken(text) else _on_one_line(text, 0)
    )


def has_break(text: str) -> bool:
    """Report whether yaml.v3 sees several lines."""
    return "\n" in text or _SEPARATORS[0] in text or _SEPARATORS[1] in text


def _on_one_line(text: str, indent: int) -> str:
    if not is_text(text) or text in _WORDS or _BASE60.fullmatch(text):
        return double_quoted(text)
    if "\t" in text or _SPECIAL.search(text):
        return double_quoted(text)
    breaks = has_break(text)
    if breaks and _BLANK_AT_SEPARATOR.search(text):
        return double_quoted(text)
    if text[0] == " " or text[-1] == " " or breaks or _INDICATORS.match(text):
        quoted = _INDENTED.sub(" " * indent, text.replace("'", "''"))
        return f"'{quoted}'"
    return text


def double_quoted(text: str) -> str:
    """Return a text in double quotes, with escapes."""
    # yaml.v3 escapes every character of a text that begins with a byte order mark.
    escaped = (
        "".join(map(_escape, text))
        if text.startswith(_BOM)
        else _ESCAPED.sub(lambda match: _escape(match[0]), text)
    )
    return f'"{escaped}"'


_ESCAPED: Final = re.compile(rf'["\\\t\n{_SEPARATORS}]|{_SPECIAL.pattern}')


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return f"\\{_ESCAPES[character]}"
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 # two hexadecimal digits
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 # the BMP


def _block(text: str, indent: int) -> str:
    """Return a literal block: a hint for leading blanks, another for the final newlines.

    As with yaml.v3, a newline at the very beginning is lost when the text is read back. Differs on
    purpose if the last line ends in U+2028: yaml.v3 continues behind it with the next entry.
    """
    hint = "4" if text[0] in _BLANKS else ""
    if text[-1] not in _BREAKS:
        hint += "-"
    elif text[-2:-1] in {"", *_BREAKS}:
        hint += "+"
    body = text.removeprefix("\n")
    if not body:
        return f"|{hint}"
    pad = " " * indent
    body = _INDENTED.sub(pad, body.removesuffix("\n"))
    lines = (
        line if line[:1] in {"", *_SEPARATORS} else f"{pad}{line}" for line in body.split("\n")
    )
    first = "" if text[0] in _SEPARATORS else "\n"
    return f"|{hint}{first}" + "\n".join(lines)


_BREAKS: Final = ("\n", *_SEPARATORS)
_BLANKS: Final = (" ", *_BREAKS)


def _binary(data: bytes, indent: int) -> str:
    encoded = base64.b64encode(data).decode()
    if len(encoded) <= _BASE64_LINE:
        return encoded
    lines = [
        encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE)
    ]
    return _block("\n".join(lines) + "\n", indent)

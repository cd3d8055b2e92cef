"""The meaning of a plain YAML scalar in yaml.v3: text, number, boolean, time or null."""

import datetime as dt
import re
from typing import Final

from function_script.engines.gotemplate.go_time import Time
from function_script.engines.gotemplate.values import MAX_INT64, MAX_UINT64, MIN_INT64, Int, Uint64

_WORDS: Final[dict[str, object]] = {
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
    if text in _WORDS:
        return _WORDS[text]
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
        return _real(text)
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
            if MIN_INT64 <= number <= MAX_INT64:
                return Int(number)
            if match[1] == "" and number <= MAX_UINT64:
                return Uint64(number)
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
    return Time(seconds, nanoseconds, offset=offset, zone="UTC" if not offset else "")


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds

"""Durations such as ``1h30m``: read and written as Go's time.Duration, in nanoseconds."""

from __future__ import annotations

import re
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.sprig.characters import to_narrow
from function_script.engines.gotemplate.sprig.date_reader import quote_time
from function_script.engines.gotemplate.sprig.moments import NANOSECONDS

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_PART: Final = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<unit>[^.0-9]*)")
_LARGEST: Final = 1 << 63
_MAX_DIGITS: Final = len(str(_LARGEST))

# What durationRound counts in, with the names it gives them.
_ROUNDED: Final = (
    (365 * 24 * 3600 * NANOSECONDS, "y"),
    (30 * 24 * 3600 * NANOSECONDS, "mo"),
    (24 * 3600 * NANOSECONDS, "d"),
    (3600 * NANOSECONDS, "h"),
    (60 * NANOSECONDS, "m"),
    (NANOSECONDS, "s"),
)


def parse_duration(text: str) -> int:
    """Nanoseconds; raises CallError in Go's words."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return 0
    if not rest:
        raise _invalid(text)
    total = 0
    while rest:
        match = _PART.match(rest)
        part, length = _read(match, text) if match is not None else (0, 0)
        rest = rest[length:]
        total += part
        if total > _LARGEST:
            raise _invalid(text)
    if not negative and total == _LARGEST:
        raise _invalid(text)
    return -total if negative else total


def _read(match: re.Match[str], text: str) -> tuple[int, int]:
    """One number with its unit: the nanoseconds, and how many characters it took."""
    whole, fraction = match["whole"], match["fraction"] or ""
    if not whole and not fraction:
        raise _invalid(text)
    if len(whole.lstrip("0")) > _MAX_DIGITS or int(whole or "0") > _LARGEST:
        raise _invalid(text)
    name = match["unit"]
    if not name:
        raise CallError(f"time: missing unit in duration {quote_time(to_narrow(text))}")
    if name not in _UNITS:
        unknown = f"unknown unit {quote_time(to_narrow(name))}"
        raise CallError(f"time: {unknown} in duration {quote_time(to_narrow(text))}")
    unit = _UNITS[name]
    digits = _significant(fraction)
    # As in Go the fraction is a float.
    part = int(int(digits) * (unit / 10.0 ** len(digits))) if digits else 0
    return int(whole or "0") * unit + part, match.end()


def _significant(fraction: str) -> str:
    """As many digits of a fraction as 63 bits hold."""
    zeros = len(fraction) - len(fraction.lstrip("0"))
    digits = fraction[: zeros + _MAX_DIGITS]
    return digits if int(digits or "0") <= _LARGEST else digits[:-1]


def _invalid(text: str) -> CallError:
    return CallError(f"time: invalid duration {quote_time(to_narrow(text))}")


def duration_text(nanoseconds: int) -> str:
    """``1h30m0s``, ``1.5s``, ``20ms``."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if not size:
        return "0s"
    if size < NANOSECONDS:
        name = "ns" if size < _UNITS["us"] else "µs" if size < _UNITS["ms"] else "ms"
        return f"{sign}{_decimal(size, _UNITS[name])}{name}"
    minutes, rest = divmod(size, 60 * NANOSECONDS)
    hours, minutes_left = divmod(minutes, 60)
    text = f"{_decimal(rest, NANOSECONDS)}s"
    if minutes:
        text = f"{minutes_left}m{text}"
    return f"{sign}{hours}h{text}" if hours else sign + text


def _decimal(size: int, unit: int) -> str:
    whole, fraction = divmod(size, unit)
    digits = f"{fraction:0{len(str(unit)) - 1}}".rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)


def rounded_text(nanoseconds: int) -> str:
    """``16d``: in the largest unit there is more than one of."""
    size = abs(nanoseconds)
    for unit, name in _ROUNDED:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"

"""sprig's functions on dates and durations: ``toDate``, ``date``, ``dateModify``, ``duration``.

The local zone is UTC. The clock does not run: ``now`` is the time at which the composite resource
was created. In Go every reconcile renders another time, and so changes the resources. An XR that
is rendered before it exists has no such time: ``now`` is 1970 then. A function without a date
fails: sprig's default is the current time.
"""

import re
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.go_time import NANOSECONDS, Time, format_time
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import parse_decimal
from function_script.engines.gotemplate.sprig.date_reader import parse_date, quote_time
from function_script.engines.gotemplate.values import go_type, to_narrow, wrap_int64

_HTML: Final = "2006-01-02"
_LOCAL: Final = "Local"
# Integers of these types are seconds since 1970.
_SECONDS: Final = frozenset({"int", "int32", "int64"})
# The option of a step that gives it ``now``, and the field that ``now`` is read from.
_OPTION: Final = "stable_values"
_CREATION_TIME: Final = ("observed", "composite", "resource", "metadata", "creationTimestamp")
_RFC3339: Final = "2006-01-02T15:04:05Z07:00"


def _date(layout: str, value: object) -> str:
    return _date_in_zone(layout, value, _LOCAL)


def _date_in_zone(layout: str, value: object, zone: str) -> str:
    return format_time(_to_time(value).in_zone(zone), layout)


def _html_date(value: object) -> str:
    return _date_in_zone(_HTML, value, _LOCAL)


def _html_date_in_zone(value: object, zone: str) -> str:
    return _date_in_zone(_HTML, value, zone)


def _to_time(value: object) -> Time:
    time = _find_time(value)
    if time is None:
        raise CallError(
            f"{_article(go_type(value))} is no date, and there is no current time to take instead: "
            "use toDate, or seconds since 1970"
        )
    return time


def _find_time(value: object) -> Time | None:
    """Return the date of a value: a time, or seconds since 1970; None for others."""
    kind = go_type(value)
    if isinstance(value, Time) and kind == Time.go_type:
        return value
    if isinstance(value, int) and kind in _SECONDS:
        return Time(int(value))
    return None


def _article(kind: str) -> str:
    if kind == "<nil>":
        return "nil"
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _to_date(layout: str, text: str) -> Time:
    try:
        return parse_date(layout, text)
    except CallError:
        return Time.zero()


def _date_modify(change: str, time: Time) -> Time:
    try:
        return _must_date_modify(change, time)
    except CallError:
        return time


def _must_date_modify(change: str, time: Time) -> Time:
    return time.plus(_parse_duration(change))


def _unix_epoch(time: Time) -> str:
    return str(time.seconds)


# Now


def _now(run: Run) -> Time:
    value = run.root
    for key in _CREATION_TIME:
        value = value.get(key) if isinstance(value, dict) else None
    try:
        return parse_date(_RFC3339, value) if isinstance(value, str) else Time(0)
    except CallError:
        return Time(0)


def _ago(run: Run, value: object) -> str:
    """Return the time from a date to ``now`` in whole seconds; other values are ``now``."""
    now = _now(run)
    difference = now.unix_nanoseconds() - (_find_time(value) or now).unix_nanoseconds()
    seconds, rest = divmod(abs(difference), NANOSECONDS)
    seconds += rest * 2 >= NANOSECONDS
    return _duration_text((seconds if difference > 0 else -seconds) * NANOSECONDS)


# Durations


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

# The units of durationRound, largest first.
_ROUNDED: Final = (
    (365 * 24 * 3600 * NANOSECONDS, "y"),
    (30 * 24 * 3600 * NANOSECONDS, "mo"),
    (24 * 3600 * NANOSECONDS, "d"),
    (3600 * NANOSECONDS, "h"),
    (60 * NANOSECONDS, "m"),
    (NANOSECONDS, "s"),
)


def _duration(value: object) -> str:
    """Format a duration in seconds; 0 for values other than text and int64."""
    seconds = 0
    if type(value) is str:
        seconds = parse_decimal(value)
    elif type(value) is int:
        seconds = value
    return _duration_text(wrap_int64(seconds * NANOSECONDS))


def _duration_round(value: object) -> str:
    if isinstance(value, Time) and go_type(value) == Time.go_type:
        raise CallError("there is no current time to count from: give a duration")
    nanoseconds = 0
    if type(value) is int:
        nanoseconds = value
    elif type(value) is str:
        try:
            nanoseconds = _parse_duration(value)
        except CallError:
            nanoseconds = 0
    return _rounded_text(nanoseconds)


def _parse_duration(text: str) -> int:
    """Return Go's time.ParseDuration in nanoseconds; raises CallError in Go's words."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return 0
    if not rest:
        raise _invalid(text)
    total = 0
    while rest:
        match = _PART.match(rest)
        part, length = _read_part(match, text) if match is not None else (0, 0)
        rest = rest[length:]
        total += part
        if total > _LARGEST:
            raise _invalid(text)
    if not negative and total == _LARGEST:
        raise _invalid(text)
    return -total if negative else total


def _read_part(match: re.Match[str], text: str) -> tuple[int, int]:
    """Read a number with its unit; return the nanoseconds and the length of the text."""
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
    digits = _significant_digits(fraction)
    # Go computes the fraction as a float.
    part = int(int(digits) * (unit / 10.0 ** len(digits))) if digits else 0
    return int(whole or "0") * unit + part, match.end()


def _significant_digits(fraction: str) -> str:
    """Cut a fraction to the digits that 63 bits hold."""
    zeros = len(fraction) - len(fraction.lstrip("0"))
    digits = fraction[: zeros + _MAX_DIGITS]
    return digits if int(digits or "0") <= _LARGEST else digits[:-1]


def _invalid(text: str) -> CallError:
    return CallError(f"time: invalid duration {quote_time(to_narrow(text))}")


def _duration_text(nanoseconds: int) -> str:
    """Return time.Duration's String: ``1h30m0s``, ``1.5s``, ``20ms``."""
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


def _rounded_text(nanoseconds: int) -> str:
    """Return a duration in the largest unit that it exceeds: ``16d``."""
    size = abs(nanoseconds)
    for unit, name in _ROUNDED:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"


def _text(name: str, parameters: str, call: object) -> Function:
    return Function(name=name, parameters=parameters, call=call, returns="string")


FUNCTIONS: Final = (
    _text("date", "string any", _date),
    _text("date_in_zone", "string any string", _date_in_zone),
    _text("dateInZone", "string any string", _date_in_zone),
    _text("htmlDate", "any", _html_date),
    _text("htmlDateInZone", "any string", _html_date_in_zone),
    Function(name="toDate", parameters="string string", call=_to_date),
    Function(name="mustToDate", parameters="string string", call=parse_date),
    Function(name="date_modify", parameters="string time.Time", call=_date_modify),
    Function(name="dateModify", parameters="string time.Time", call=_date_modify),
    Function(name="must_date_modify", parameters="string time.Time", call=_must_date_modify),
    Function(name="mustDateModify", parameters="string time.Time", call=_must_date_modify),
    _text("unixEpoch", "time.Time", _unix_epoch),
    _text("duration", "any", _duration),
    _text("durationRound", "any", _duration_round),
    Function(name="now", parameters="", call=_now, injects=Injects.RUN, option=_OPTION),
    Function(
        name="ago",
        parameters="any",
        call=_ago,
        injects=Injects.RUN,
        returns="string",
        option=_OPTION,
    ),
)

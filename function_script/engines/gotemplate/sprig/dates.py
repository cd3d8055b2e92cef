"""sprig's functions on dates and durations: ``toDate``, ``date``, ``dateModify``, ``duration``.

The local zone is UTC. The clock does not run: ``now`` is the time at which the composite resource
was created. In Go every reconcile renders another time, and so changes the resources. An XR that
is rendered before it exists has no such time: ``now`` is 1970 then. A function without a date
fails: sprig's default is the current time.
"""

import re
from typing import Final

from function_script.engines.gotemplate.data import find_at
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.go_time import (
    NANOSECONDS,
    RFC3339,
    UNITS,
    UTC,
    Duration,
    Time,
    format_time,
    parse_date,
)
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import parse_decimal
from function_script.engines.gotemplate.values import go_type, wrap_int64

FUNCTIONS: Final = FunctionTable()

_HTML: Final = "2006-01-02"
_LOCAL: Final = "Local"
# Integers of these types are seconds since 1970.
_SECONDS: Final = frozenset({"int", "int32", "int64"})
# The field that ``now`` is read from.
_CREATION_TIME: Final = ("observed", "composite", "resource", "metadata", "creationTimestamp")


@FUNCTIONS.add("date")
def date(layout: str, value: object) -> str:
    """A time in Go's layout, such as "2006-01-02"."""
    return date_in_zone(layout, value, _LOCAL)


@FUNCTIONS.add("date_in_zone", "dateInZone")
def date_in_zone(layout: str, value: object, zone: str) -> str:
    """A time in Go's layout and a time zone."""
    time = _find_time(value)
    if time is None:
        raise CallError(
            f"a value of type {go_type(value)} is no date, and there is no current time to take "
            "instead: use toDate, or seconds since 1970"
        )
    return format_time(time.in_zone(zone), layout)


@FUNCTIONS.add("htmlDate")
def html_date(value: object) -> str:
    """A time as a date for HTML, 2006-01-02."""
    return date_in_zone(_HTML, value, _LOCAL)


@FUNCTIONS.add("htmlDateInZone")
def html_date_in_zone(value: object, zone: str) -> str:
    """Like htmlDate, in a time zone."""
    return date_in_zone(_HTML, value, zone)


def _find_time(value: object) -> Time | None:
    """Return the date of a value: a time, or seconds since 1970; None for others."""
    # Not the time of a condition, which sprig does not know.
    if type(value) is Time:
        return value
    if isinstance(value, int) and go_type(value) in _SECONDS:
        return Time(int(value))
    return None


FUNCTIONS.add("toDate", summary="The time of a text in Go's layout.", on_failure=Time.zero())(
    parse_date
)
FUNCTIONS.add("mustToDate")(parse_date)


@FUNCTIONS.add("date_modify", "dateModify")
def date_modify(change: str, time: Time) -> Time:
    """The time, moved by a duration: date_modify "-1h" $time."""
    try:
        nanoseconds = parse_duration(change)
    except CallError:
        return time
    return time.plus(nanoseconds)


@FUNCTIONS.add("must_date_modify", "mustDateModify")
def must_date_modify(change: str, time: Time) -> Time:
    """Raise CallError where dateModify gives the time as it was."""
    return time.plus(parse_duration(change))


@FUNCTIONS.add("unixEpoch")
def unix_epoch(time: Time) -> str:
    """The seconds of a time since 1970."""
    return str(time.seconds)


# Durations


_NUMBER: Final = r"0*(?P<whole>[0-9]{0,19})(?:\.(?P<fraction>[0-9]*))?"
_UNIT: Final = f"(?P<unit>{'|'.join(UNITS)})"
_PART: Final = re.compile(rf"(?=\.?[0-9]){_NUMBER}{_UNIT}")
_LARGEST: Final = 1 << 63
# Go reads no more digits of a fraction than 63 bits hold.
_MAX_DIGITS: Final = 18

# The units of durationRound, largest first.
_ROUNDED: Final = (
    (365 * 24 * 3600 * NANOSECONDS, "y"),
    (30 * 24 * 3600 * NANOSECONDS, "mo"),
    (24 * 3600 * NANOSECONDS, "d"),
    (3600 * NANOSECONDS, "h"),
    (60 * NANOSECONDS, "m"),
    (NANOSECONDS, "s"),
)


@FUNCTIONS.add("duration")
def duration(value: object) -> str:
    """The seconds as a duration, such as 1m35s.

    Values other than text and int64 are 0.
    """
    seconds = 0
    if type(value) is str:
        seconds = parse_decimal(value)
    elif type(value) is int:
        seconds = value
    return Duration(wrap_int64(seconds * NANOSECONDS)).text()


@FUNCTIONS.add("durationRound")
def duration_round(run: Run, value: object) -> str:
    """The duration in its largest unit, such as 2h; that from a time until now."""
    nanoseconds = 0
    if isinstance(value, Time):
        nanoseconds = now(run).minus(value)
    elif type(value) is int:
        nanoseconds = value
    elif type(value) is str:
        try:
            nanoseconds = parse_duration(value)
        except CallError:
            nanoseconds = 0
    size = abs(nanoseconds)
    for unit, name in _ROUNDED:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"


@FUNCTIONS.add("now", option="stable_values")
def now(run: Run) -> Time:
    """The time at which the XR was made."""
    value = find_at(run.root, *_CREATION_TIME)
    try:
        time = parse_date(RFC3339, value) if isinstance(value, str) else Time(0)
    except CallError:
        time = Time(0)
    return time.in_location(UTC)


@FUNCTIONS.add("ago", option="stable_values")
def ago(run: Run, value: object) -> str:
    """The duration from a time until now.

    It is in whole seconds. Values without a time are ``now``.
    """
    end = now(run)
    difference = end.unix_nanoseconds() - (_find_time(value) or end).unix_nanoseconds()
    seconds, rest = divmod(abs(difference), NANOSECONDS)
    # Go rounds halves away from zero.
    seconds += rest * 2 >= NANOSECONDS
    return Duration.bounded((seconds if difference > 0 else -seconds) * NANOSECONDS).text()


def parse_duration(text: str) -> int:
    """Return Go's time.ParseDuration in nanoseconds; raises CallError."""
    is_negative = text.startswith("-")
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return 0
    total = end = 0
    while (match := _PART.match(rest, end)) is not None:
        unit, digits = UNITS[match["unit"]], (match["fraction"] or "")[:_MAX_DIGITS]
        # Go computes the fraction as a float.
        part = int(int(digits) * (unit / 10.0 ** len(digits))) if digits else 0
        total += int(match["whole"] or 0) * unit + part
        end = match.end()
    if not rest or end < len(rest) or total > _LARGEST - (not is_negative):
        raise CallError(
            f"time: invalid duration {quote(text)}: write numbers, each with its unit of "
            f"{', '.join(UNITS)}"
        )
    return -total if is_negative else total

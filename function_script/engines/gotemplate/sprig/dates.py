"""sprig's functions on dates: ``toDate``, ``date``, ``dateModify``, ``duration``.

There is no clock: where sprig would take the current time for want of a date, these fail. The
local zone is UTC.
"""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.go_time import Time
from function_script.engines.gotemplate.sprig.conversions import parse_decimal
from function_script.engines.gotemplate.sprig.date_reader import parse_date
from function_script.engines.gotemplate.sprig.durations import (
    duration_text,
    parse_duration,
    rounded_text,
)
from function_script.engines.gotemplate.sprig.layouts import format_time
from function_script.engines.gotemplate.sprig.moments import NANOSECONDS, Moment
from function_script.engines.gotemplate.values import go_type, wrap_int64

_HTML: Final = "2006-01-02"
_LOCAL: Final = "Local"
# Integers of these types are seconds since 1970.
_SECONDS: Final = frozenset({"int", "int32", "int64"})


def _date(layout: str, value: object) -> str:
    return _date_in_zone(layout, value, _LOCAL)


def _date_in_zone(layout: str, value: object, zone: str) -> str:
    return format_time(_to_moment(value).in_zone(zone), layout)


def _html_date(value: object) -> str:
    return _date_in_zone(_HTML, value, _LOCAL)


def _html_date_in_zone(value: object, zone: str) -> str:
    return _date_in_zone(_HTML, value, zone)


def _to_moment(value: object) -> Moment:
    found = find_moment(value)
    if found is None:
        raise CallError(
            f"{_article(go_type(value))} is no date, and there is no current time to take instead: "
            "use toDate, or seconds since 1970"
        )
    return found


def find_moment(value: object) -> Moment | None:
    """The date that a value is: a time, or seconds since 1970."""
    kind = go_type(value)
    if isinstance(value, Time) and kind == Time.go_type:
        return Moment.of(value)
    if isinstance(value, int) and kind in _SECONDS:
        return Moment(int(value))
    return None


def _article(kind: str) -> str:
    if kind == "<nil>":
        return "nil"
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _to_date(layout: str, text: str) -> Moment:
    try:
        return parse_date(layout, text)
    except CallError:
        return Moment.zero()


def _date_modify(change: str, time: Time) -> Moment:
    try:
        return _must_date_modify(change, time)
    except CallError:
        return Moment.of(time)


def _must_date_modify(change: str, time: Time) -> Moment:
    return Moment.of(time).plus(parse_duration(change))


def _unix_epoch(time: Time) -> str:
    return str(time.seconds)


def _duration(value: object) -> str:
    """Of seconds; what is neither text nor int64 is 0."""
    seconds = 0
    if type(value) is str:
        seconds = parse_decimal(value)
    elif type(value) is int:
        seconds = value
    return duration_text(wrap_int64(seconds * NANOSECONDS))


def _duration_round(value: object) -> str:
    if isinstance(value, Time) and go_type(value) == Time.go_type:
        raise CallError("there is no current time to count from: give a duration")
    nanoseconds = 0
    if type(value) is int:
        nanoseconds = value
    elif type(value) is str:
        try:
            nanoseconds = parse_duration(value)
        except CallError:
            nanoseconds = 0
    return rounded_text(nanoseconds)


def _text(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, gives="string")


FUNCTIONS: Final = (
    _text("date", "string any", _date),
    _text("date_in_zone", "string any string", _date_in_zone),
    _text("dateInZone", "string any string", _date_in_zone),
    _text("htmlDate", "any", _html_date),
    _text("htmlDateInZone", "any string", _html_date_in_zone),
    Function(name="toDate", takes="string string", call=_to_date),
    Function(name="mustToDate", takes="string string", call=parse_date),
    Function(name="date_modify", takes="string time.Time", call=_date_modify),
    Function(name="dateModify", takes="string time.Time", call=_date_modify),
    Function(name="must_date_modify", takes="string time.Time", call=_must_date_modify),
    Function(name="mustDateModify", takes="string time.Time", call=_must_date_modify),
    _text("unixEpoch", "time.Time", _unix_epoch),
    _text("duration", "any", _duration),
    _text("durationRound", "any", _duration_round),
)

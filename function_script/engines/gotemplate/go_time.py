"""Go's times, durations, months and days of the week as values of templates; layouts.

``(toDate "2006-01-02" "2024-05-06").Year``. fromYaml, conditions and sprig's dates make times.
Years are 0 to 9999; a time of day without a date is of the year 0. Zones come from the system's
time zone database. Layouts and the texts that they read are taken byte by byte.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Self

from function_script.engines.gotemplate.errors import CallError, LimitExceededError
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.values import (
    MAX_INT64,
    MIN_INT64,
    NamedNumber,
    Struct,
    to_narrow,
    to_wide,
)

NANOSECONDS: Final = 1_000_000_000
# Nanoseconds of the units of durations.
UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
# The layout of times in Kubernetes.
RFC3339: Final = "2006-01-02T15:04:05Z07:00"
# The last second of the year 9999, in seconds since 1970.
_MAX_SECONDS: Final = 253_402_300_799

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# The first second of the year 0.
_MIN_SECONDS: Final = -62_167_219_200
# The first second of the year 1, which is Go's zero time.
_ZERO_SECONDS: Final = -62_135_596_800
_MONTHS_PER_YEAR: Final = 12
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400
_NOON: Final = 12
# Python's calendar begins with the year 1. The calendar repeats every 400 years, so the year 400
# stands in for the year 0.
_CYCLE_YEARS: Final = 400
_CYCLE: Final = 146_097 * _DAY

# An element of a layout: a part of Go's reference time, Mon Jan 2 15:04:05 MST 2006.
_ELEMENT: Final = re.compile(
    "January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|2006|__2|_2(?!006)|[1-5]|PM|pm"
    "|[Z-](?:07:00:00|070000|07:00|0700|07)|[.,](?:0+|9+)(?![0-9])"
)
# The element that Go prints for a zone without a name.
_NUMERIC_ZONE: Final = "-0700"
# A number in the element of an offset: -07, -0700, -07:00:00.
_OFFSET_NUMBER: Final = re.compile("0[07]")


class Month(NamedNumber):
    """time.Month: 1 is January."""

    __slots__ = ()
    go_type = "time.Month"
    names = ("", *_MONTHS)


class Weekday(NamedNumber):
    """time.Weekday: 0 is Sunday."""

    __slots__ = ()
    go_type = "time.Weekday"
    names = DAYS


class Location(NamedTuple):
    """time.Location: the name of a zone, and its distance from UTC in seconds."""

    name: str
    offset: int

    def abbreviation(self) -> str:
        """Return the name, or else the offset."""
        return self.name or _offset_text(self.offset, _NUMERIC_ZONE)


# Go's local zone, too.
UTC: Final = Location("UTC", 0)


class Duration(NamedNumber):
    """time.Duration: nanoseconds."""

    __slots__ = ()
    go_type = "time.Duration"
    kind = "int64"

    @classmethod
    def bounded(cls, nanoseconds: int) -> Duration:
        """Return a duration, the shortest or the longest one beyond 64 bits."""
        return cls(max(MIN_INT64, min(MAX_INT64, nanoseconds)))

    def text(self) -> str:
        """Return Go's String: ``1h30m0s``, ``1.5s``, ``20ms``."""
        sign = "-" if self < 0 else ""
        size = abs(int(self))
        if not size:
            return "0s"
        if size < NANOSECONDS:
            name = "ns" if size < UNITS["us"] else "µs" if size < UNITS["ms"] else "ms"
            return f"{sign}{_decimal(size, UNITS[name])}{name}"
        minutes, rest = divmod(size, UNITS["m"])
        hours, minutes_left = divmod(minutes, _MINUTE)
        text = f"{_decimal(rest, NANOSECONDS)}s"
        if minutes:
            text = f"{minutes_left}m{text}"
        return f"{sign}{hours}h{text}" if hours else sign + text

    def count(self, unit: int) -> int:
        """Return the whole units, cut towards zero."""
        return -(-self // unit) if self < 0 else self // unit

    def measure(self, unit: int) -> float:
        """Return the units as a float, computed as Go does."""
        whole = self.count(unit)
        return whole + (self - whole * unit) / unit


def _decimal(size: int, unit: int) -> str:
    whole, fraction = divmod(size, unit)
    digits = f"{fraction:0{len(str(unit)) - 1}}".rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)


class Time(Struct):
    """time.Time: seconds since 1970 in UTC, nanoseconds, and the zone it is shown in.

    Raises CallError for a year that is out of range.
    """

    __slots__ = ("location", "nanoseconds", "seconds")
    go_type = "time.Time"

    def __init__(self, seconds: int, nanoseconds: int = 0, location: Location = UTC) -> None:
        if not _MIN_SECONDS <= seconds + location.offset <= _MAX_SECONDS:
            raise _out_of_range()
        super().__init__({})
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.location = location

    @classmethod
    def zero(cls) -> Self:
        """Return Go's zero time: the first second of the year 1."""
        return cls(_ZERO_SECONDS)

    @classmethod
    def at(cls, year: int, month: int, day: int, seconds: int = 0) -> Self:
        """Return the time ``seconds`` after the start of a day in UTC."""
        try:
            date = dt.date(year or _CYCLE_YEARS, month, day)
        except (ValueError, OverflowError) as error:
            raise _out_of_range() from error
        days = (date - _EPOCH.date()).days
        return cls(days * _DAY + seconds - (0 if year else _CYCLE))

    def wall_clock(self) -> dt.datetime:
        """Return the wall clock of its zone, without nanoseconds; the year 400 stands for 0."""
        seconds = self.seconds + self.location.offset
        return _EPOCH + dt.timedelta(seconds=seconds + (_CYCLE if seconds < _ZERO_SECONDS else 0))

    @property
    def year(self) -> int:
        """The year in its zone."""
        is_of_year_0 = self.seconds + self.location.offset < _ZERO_SECONDS
        return 0 if is_of_year_0 else self.wall_clock().year

    def text(self) -> str:
        """Return Go's String: ``2024-05-06 07:08:09 +0000 UTC``."""
        return format_time(self, "2006-01-02 15:04:05.999999999 -0700 MST")

    def rfc3339(self) -> str:
        """Return the text of JSON and YAML: ``2024-05-06T07:08:09Z``."""
        return format_time(self, "2006-01-02T15:04:05.999999999Z07:00")

    def json(self) -> object:
        """Return the text."""
        return self.rfc3339()

    def yaml(self) -> object:
        """Return the time itself: YAML has timestamps."""
        return self

    def unix_nanoseconds(self) -> int:
        """Return the nanoseconds since 1970."""
        return self.seconds * NANOSECONDS + self.nanoseconds

    def plus(self, nanoseconds: int) -> Time:
        """Return the time ``nanoseconds`` later."""
        seconds, rest = divmod(self.unix_nanoseconds() + nanoseconds, NANOSECONDS)
        return Time(seconds, rest, self.location)

    def is_zero(self) -> bool:
        """Report whether it is Go's zero time."""
        return self.seconds == _ZERO_SECONDS and not self.nanoseconds

    def minus(self, other: Time) -> Duration:
        """Return the duration from another time to this one."""
        return Duration.bounded(self.unix_nanoseconds() - other.unix_nanoseconds())

    def in_location(self, location: Location) -> Time:
        """Return the same instant in another location."""
        return Time(self.seconds, self.nanoseconds, location)

    def in_zone(self, name: str) -> Time:
        """Return the same instant in a zone; in UTC for an unknown zone, as sprig does."""
        zone = _find_zone(name)
        if zone is None:
            return self.in_location(UTC)
        shift = _CYCLE if self.seconds < _ZERO_SECONDS + _DAY else 0
        try:
            local = (_EPOCH + dt.timedelta(seconds=self.seconds + shift)).astimezone(zone)
        except OverflowError as error:
            raise _out_of_range() from error
        offset = int((local.utcoffset() or dt.timedelta()).total_seconds())
        return self.in_location(Location(local.tzname() or "", offset))

    def add_date(self, years: int, months: int, days: int) -> Time:
        """Return the same time of another day; a day beyond a month's end runs into the next."""
        local = self.wall_clock()
        more, month = divmod(local.month - 1 + months, _MONTHS_PER_YEAR)
        offset = self.location.offset
        start = Time.at(self.year + years + more, month + 1, 1, -offset)
        clock = (self.seconds + offset) % _DAY
        seconds = start.seconds + (local.day - 1 + days) * _DAY + clock
        return Time(seconds, self.nanoseconds, self.location)


class TransitionTime(Time):
    """Kubernetes' time of a condition's last change; JSON writes the zero time as null."""

    __slots__ = ()
    go_type = "v1.Time"

    def __init__(self, time: Time) -> None:
        super().__init__(time.seconds, time.nanoseconds, time.location)
        self.fields = {"Time": time}

    def json(self) -> object:
        """Return the text of the time in UTC, in whole seconds, or null."""
        return None if self.is_zero() else Time(self.seconds).rfc3339()

    def yaml(self) -> object:
        """Return the text of the time."""
        return self.rfc3339()


def _out_of_range() -> CallError:
    return CallError("the year is out of range, which is 0 to 9999, or has no such day")


@lru_cache(maxsize=64)
def _find_zone(name: str) -> zoneinfo.ZoneInfo | None:
    if name in {"", "UTC", "Local"}:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        # Without a time zone database every zone would pass for UTC.
        try:
            zoneinfo.ZoneInfo("UTC")
        except zoneinfo.ZoneInfoNotFoundError as error:
            raise CallError("there is no time zone database here") from error
    return None


# Layouts


class _Element(NamedTuple):
    """A part of a layout: what writes it, the pattern that reads it, and the part of a time it is.

    A number that is read must be in ``limits``, if there are any.
    """

    write: Callable[[dt.datetime], str]
    pattern: str
    part: str
    limits: range | None = None


def _hour(local: dt.datetime) -> int:
    return local.hour % _NOON or _NOON


def _day_name(local: dt.datetime) -> str:
    return DAYS[local.isoweekday() % len(DAYS)]


def _any_of(names: Sequence[str]) -> str:
    return f"(?i:{'|'.join(names)})"


# Letters of a short name of a month or a day.
_SHORT: Final = 3
_SHORT_MONTHS: Final = [name[:_SHORT] for name in _MONTHS]
_SHORT_DAYS: Final = [name[:_SHORT] for name in DAYS]
_MONTH: Final = range(1, _MONTHS_PER_YEAR + 1)
_HOURS: Final = range(2 * _NOON)
_HALF: Final = range(_NOON + 1)
_SIXTY: Final = range(_MINUTE)
_ELEMENTS: Final[Mapping[str, _Element]] = {
    "January": _Element(lambda local: _MONTHS[local.month - 1], _any_of(_MONTHS), "month"),
    "Jan": _Element(lambda local: _SHORT_MONTHS[local.month - 1], _any_of(_SHORT_MONTHS), "month"),
    "1": _Element(lambda local: str(local.month), "[0-9]{1,2}", "month", _MONTH),
    "01": _Element(lambda local: f"{local.month:02}", "[0-9]{2}", "month", _MONTH),
    "Monday": _Element(_day_name, _any_of(DAYS), "weekday"),
    "Mon": _Element(lambda local: _day_name(local)[:_SHORT], _any_of(_SHORT_DAYS), "weekday"),
    "2": _Element(lambda local: str(local.day), "[0-9]{1,2}", "day"),
    "_2": _Element(lambda local: f"{local.day:2}", " ?[0-9]{1,2}", "day"),
    "02": _Element(lambda local: f"{local.day:02}", "[0-9]{2}", "day"),
    "15": _Element(lambda local: f"{local.hour:02}", "[0-9]{1,2}", "hour", _HOURS),
    "3": _Element(lambda local: str(_hour(local)), "[0-9]{1,2}", "hour", _HALF),
    "03": _Element(lambda local: f"{_hour(local):02}", "[0-9]{2}", "hour", _HALF),
    "4": _Element(lambda local: str(local.minute), "[0-9]{1,2}", "minute", _SIXTY),
    "04": _Element(lambda local: f"{local.minute:02}", "[0-9]{2}", "minute", _SIXTY),
    "5": _Element(lambda local: str(local.second), "[0-9]{1,2}", "second", _SIXTY),
    "05": _Element(lambda local: f"{local.second:02}", "[0-9]{2}", "second", _SIXTY),
    "PM": _Element(lambda local: "PM" if local.hour >= _NOON else "AM", "AM|PM", "half"),
    "pm": _Element(lambda local: "pm" if local.hour >= _NOON else "am", "am|pm", "half"),
}
# The numbers of what is read as a word.
_WORDS: Final = {
    **{name.lower(): number for number, name in enumerate(_MONTHS, 1)},
    **{name.lower(): number for number, name in enumerate(_SHORT_MONTHS, 1)},
    **dict.fromkeys(map(str.lower, (*DAYS, *_SHORT_DAYS)), 0),
    "am": 0,
    "pm": 1,
}


def _split_layout(layout: str) -> Iterator[tuple[str, str]]:
    """Yield each element after the plain text in front of it; last the rest and no element.

    Raises CallError for a day of the year.
    """
    end = 0
    for match in _ELEMENT.finditer(layout):
        if match[0] in {"002", "__2"}:
            raise CallError(f"the day of the year, {match[0]}, is not supported: write .YearDay")
        yield layout[end : match.start()], match[0]
        end = match.end()
    yield layout[end:], ""


def format_time(time: Time, layout: str) -> str:
    """Return time.Format: the time, in its zone, in the form of a layout."""
    local = time.wall_clock()
    parts: list[str] = []
    for plain, element in _split_layout(to_narrow(layout)):
        parts.append(plain)
        if element in _ELEMENTS:
            parts.append(_ELEMENTS[element].write(local))
        elif element in {"2006", "06"}:
            # Python's calendar has no year 0.
            parts.append(f"{time.year:04}"[-len(element) :])
        elif element == "MST":
            parts.append(to_narrow(time.location.abbreviation()))
        elif element[:1] in {".", ","}:
            digits = f"{time.nanoseconds:09}"[: len(element) - 1].ljust(len(element) - 1, "0")
            if element.endswith("9"):
                digits = digits.rstrip("0")
            parts.append(element[0] + digits if digits else "")
        elif element:
            parts.append(_offset_text(time.location.offset, element))
    return to_wide("".join(parts))


def _offset_text(offset: int, element: str) -> str:
    """Return the distance from UTC in the form of an element that begins with ``Z`` or ``-``."""
    if element.startswith("Z") and not offset:
        return "Z"
    size = abs(offset)
    numbers = iter((size // _HOUR, size // _MINUTE % _MINUTE, size % _MINUTE))
    digits = _OFFSET_NUMBER.sub(lambda _: f"{next(numbers):02}", element[1:])
    return f"{'-' if offset < 0 else '+'}{digits}"


# Reading by a layout, as Go's time.Parse: a zone other than UTC stays as the text has it

_CENTURY: Final = 1900
# Years of two digits from here on are of the 20th century.
_PIVOT: Final = 69
_PATTERNS: Final = {
    **{element: row.pattern for element, row in _ELEMENTS.items()},
    "2006": "[0-9]{4}",
    "06": "[0-9]{2}|[+-][0-9]",
    # Go takes no letter behind UTC for a part of the name.
    "MST": "UTC|[A-Z]{3,5}|[+-][0-9]{2}",
}
_SECONDS: Final = frozenset({"05", "5"})
_BLANKS: Final = re.compile(" +")
# Its pattern is compiled: one of a megabyte takes a quarter of a minute.
_MAX_LAYOUT: Final = 1_000
# The largest hours, minutes and seconds of an offset.
_OFFSET_LIMITS: Final = (_DAY // _HOUR, _MINUTE, _MINUTE)


def parse_date(layout: str, text: str) -> Time:
    """Return the time that a text says; raises CallError and LimitExceededError."""
    if len(layout) > _MAX_LAYOUT:
        raise LimitExceededError(f"a layout of {len(layout)} characters, not {_MAX_LAYOUT} at most")
    elements: list[str] = []
    pattern = ""
    parts = list(_split_layout(to_narrow(layout)))
    for (plain, element), (_, following) in zip(parts, (*parts[1:], ("", "")), strict=True):
        # A blank stands for any number of blanks.
        pattern += "(?: ++|\\Z)".join(map(re.escape, _BLANKS.split(plain)))
        # A fraction may follow seconds even if the layout has none.
        is_fraction_free = element in _SECONDS and following[:1] not in {".", ","}
        for each in (element, ".9") if is_fraction_free else (element,) if element else ():
            elements.append(each)
            # No element gives characters back to the one before it, as in Go.
            pattern += f"(?>({_pattern_of(each)}))"
    match = re.fullmatch(pattern, to_narrow(text))
    mistake = f"parsing time {quote(text)} as {quote(layout)}"
    if match is None:
        raise CallError(f"{mistake}: it has another form")
    try:
        return _to_time(zip(elements, match.groups(), strict=True))
    except CallError as error:
        raise CallError(f"{mistake}: {error.text}") from error


def _pattern_of(element: str) -> str:
    """Return the pattern of the text of an element."""
    if element in _PATTERNS:
        return _PATTERNS[element]
    if element[0] in ".,":
        # As many digits as zeros, any number for nines.
        return f"[.,][0-9]{{{len(element) - 1}}}" if "0" in element else "(?:[.,][0-9]+)?"
    offset = f"[+-]{_OFFSET_NUMBER.sub('[0-9]{2}', element[1:])}"
    return f"Z|{offset}" if element[0] == "Z" else offset


def _to_time(texts: Iterable[tuple[str, str]]) -> Time:
    """Return the time of the texts of elements; a zone's name does not move its clock."""
    parts: dict[str, int] = {}
    nanoseconds, zone = 0, ""
    offset: int | None = None
    for element, text in texts:
        if element in _ELEMENTS:
            _, _, part, limits = _ELEMENTS[element]
            word = _WORDS.get(text.lower())
            number = int(text) if word is None else word
            if limits is not None and number not in limits:
                raise CallError(f"{part} out of range")
            parts[part] = number
        elif element == "2006":
            parts["year"] = int(text)
        elif element == "06":
            parts["year"] = int(text) + _CENTURY + (0 if int(text) >= _PIVOT else 100)
        elif element == "MST" or text == "Z":
            zone = "UTC" if text == "Z" else text
        elif element[0] not in ".,":
            offset = _read_offset(text)
        elif text:
            nanoseconds = int(text[1:10].ljust(9, "0"))
    hour, half = parts.get("hour", 0), parts.get("half")
    if half is not None and hour <= _NOON:
        hour = hour % _NOON + half * _NOON
    clock = hour * _HOUR + parts.get("minute", 0) * _MINUTE + parts.get("second", 0)
    day = parts.get("month", 1), parts.get("day", 1)
    time = Time.at(parts.get("year", 0), *day, clock)
    # UTC without any, and for an offset of 0.
    location = Location(zone, offset or 0) if zone != "UTC" and (offset or zone) else UTC
    moved = 0 if location is UTC else offset or 0
    return Time(time.seconds - moved, nanoseconds, location)


def _read_offset(text: str) -> int:
    numbers = [int(digits) for digits in re.findall("[0-9]{2}", text)]
    if any(number > most for number, most in zip(numbers, _OFFSET_LIMITS, strict=False)):
        raise CallError("time zone offset out of range")
    offset = sum(number * unit for number, unit in zip(numbers, (_HOUR, _MINUTE, 1), strict=False))
    return -offset if text[0] == "-" else offset

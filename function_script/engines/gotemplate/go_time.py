"""Go's times, durations, months, days of the week and locations as values of templates; layouts.

``(toDate "2006-01-02" "2024-05-06").Year``. fromYaml, conditions and sprig's dates make times.
Years are 0 to 9999; a time of day without a date is of the year 0. Zones come from the system's
time zone database.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.values import (
    MAX_INT64,
    MAX_UINT64,
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
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
# The layout of times in Kubernetes.
RFC3339: Final = "2006-01-02T15:04:05Z07:00"
# Letters of a short name of a month or a day.
SHORT: Final = 3
# The last second of the year 9999, in seconds since 1970.
MAX_SECONDS: Final = 253_402_300_799

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
# Numbers in an element of an offset, by its count of zeros: -07, -0700, -070000.
_OFFSET_NUMBERS: Final = {1: 1, 3: 2, 5: 3}


class Month(NamedNumber):
    """time.Month: 1 is January."""

    __slots__ = ()
    go_type = "time.Month"
    kind = "int"

    def text(self) -> str:
        """Return the name."""
        return MONTHS[self - 1] if 1 <= self <= len(MONTHS) else _no_name("Month", self)


class Weekday(NamedNumber):
    """time.Weekday: 0 is Sunday."""

    __slots__ = ()
    go_type = "time.Weekday"
    kind = "int"

    def text(self) -> str:
        """Return the name."""
        return DAYS[self] if 0 <= self < len(DAYS) else _no_name("Weekday", self)


def _no_name(kind: str, number: int) -> str:
    return f"%!{kind}({number % (MAX_UINT64 + 1)})"


class Location(Struct):
    """*time.Location: the name of a zone, and its distance from UTC in seconds."""

    __slots__ = ("name", "offset")
    go_type = "time.Location"
    pointer = True

    def __init__(self, name: str, offset: int) -> None:
        super().__init__({})
        self.name = name
        self.offset = offset

    @classmethod
    def fixed(cls, name: str, offset: int) -> Location:
        """Return Go's FixedZone: the one of a whole hour without a name is always the same."""
        return cls(name, offset) if name or offset % _HOUR else _find_hours(offset // _HOUR)

    def content(self) -> tuple[object, ...]:
        """Return name and offset."""
        return self.name, self.offset

    def text(self) -> str:
        """Return the name, which may be empty."""
        return self.name

    def abbreviation(self) -> str:
        """Return the name, or else the offset."""
        return self.name or _offset_text(self.offset, _NUMERIC_ZONE)


@lru_cache(maxsize=64)
def _find_hours(hours: int) -> Location:
    return Location("", hours * _HOUR)


UTC: Final = Location("UTC", 0)
# Go's local zone is another value than UTC, in a process whose local zone is UTC, too.
LOCAL: Final = Location("UTC", 0)


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

    def truncate(self, step: int) -> Duration:
        """Return the duration, cut to a multiple of a step; as it is for a step of 0 or less."""
        return Duration(self.count(step) * step) if step > 0 else self

    def round(self, step: int) -> Duration:
        """Return the nearest multiple of a step, the one farther from zero of two."""
        if step <= 0:
            return self
        size = (abs(int(self)) * 2 + step) // (step * 2) * step
        return Duration.bounded(-size if self < 0 else size)


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
        if not _MIN_SECONDS <= seconds + location.offset <= MAX_SECONDS:
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

    def content(self) -> tuple[object, ...]:
        """Return the instant and the location; in Go, UTC is a nil."""
        location = None if self.location is UTC else self.location
        return self.seconds, self.nanoseconds, location

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

    json = rfc3339

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

    def truncate(self, step: int) -> Time:
        """Return the last time before that is a multiple of a step after the zero time."""
        return self.plus(-self._after_step(step)) if step > 0 else self

    def round(self, step: int) -> Time:
        """Return the nearest such time, the later one of two."""
        if step <= 0:
            return self
        rest = self._after_step(step)
        return self.plus(-rest if rest * 2 < step else step - rest)

    def _after_step(self, step: int) -> int:
        return (self.unix_nanoseconds() - _ZERO_SECONDS * NANOSECONDS) % step

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


def _out_of_range() -> CallError:
    return CallError("the year is out of range, which is 0 to 9999")


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


def split_layout(layout: str) -> Iterator[tuple[str, str]]:
    """Yield each element after the plain text in front of it; last the rest and no element."""
    end = 0
    for match in _ELEMENT.finditer(layout):
        yield layout[end : match.start()], match[0]
        end = match.end()
    yield layout[end:], ""


def format_time(time: Time, layout: str) -> str:
    """Return time.Format: the time, in its zone, in the form of a layout."""
    local = time.wall_clock()
    parts: list[str] = []
    for plain, element in split_layout(to_narrow(layout)):
        parts.append(plain)
        if element in _LOCAL_ELEMENTS:
            parts.append(_LOCAL_ELEMENTS[element](local))
        elif element in {"2006", "06"}:
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
    numbers = (size // _HOUR, size // _MINUTE % _MINUTE, size % _MINUTE)
    separator = ":" if ":" in element else ""
    count = _OFFSET_NUMBERS[element.count("0")]
    digits = separator.join(f"{number:02}" for number in numbers[:count])
    return f"{'-' if offset < 0 else '+'}{digits}"


def _hour(local: dt.datetime) -> int:
    return local.hour % _NOON or _NOON


def _day_name(local: dt.datetime) -> str:
    return DAYS[local.isoweekday() % len(DAYS)]


def day_of_year(local: dt.datetime) -> int:
    """Return the number of a day in its year, from 1."""
    return local.timetuple().tm_yday


_LOCAL_ELEMENTS: Final[dict[str, Callable[[dt.datetime], str]]] = {
    "January": lambda local: MONTHS[local.month - 1],
    "Jan": lambda local: MONTHS[local.month - 1][:SHORT],
    "1": lambda local: str(local.month),
    "01": lambda local: f"{local.month:02}",
    "Monday": _day_name,
    "Mon": lambda local: _day_name(local)[:SHORT],
    "2": lambda local: str(local.day),
    "_2": lambda local: f"{local.day:2}",
    "02": lambda local: f"{local.day:02}",
    "__2": lambda local: f"{day_of_year(local):3}",
    "002": lambda local: f"{day_of_year(local):03}",
    "15": lambda local: f"{local.hour:02}",
    "3": lambda local: str(_hour(local)),
    "03": lambda local: f"{_hour(local):02}",
    "4": lambda local: str(local.minute),
    "04": lambda local: f"{local.minute:02}",
    "5": lambda local: str(local.second),
    "05": lambda local: f"{local.second:02}",
    "PM": lambda local: "PM" if local.hour >= _NOON else "AM",
    "pm": lambda local: "pm" if local.hour >= _NOON else "am",
}

"""Go's time.Time, its layouts, and time.Month and time.Weekday, as values of templates.

``(toDate "2006-01-02" "2024-05-06").Year``. fromYaml, conditions and sprig's dates make times.
Years are 0 to 9999; a time of day without a date is of the year 0. Zones come from the system's
time zone database.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import ClassVar, Final, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.values import Int, Struct, to_narrow, to_wide

NANOSECONDS: Final = 1_000_000_000
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
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


class NamedNumber(Struct):
    """A month or a day of the week: a number that prints as its name."""

    __slots__ = ("number",)
    names: ClassVar[tuple[str, ...]]
    first: ClassVar[int]

    def __init__(self, number: int) -> None:
        super().__init__({"number": number})
        self.number = number

    def text(self) -> str:
        """Return the name."""
        return self.names[self.number - self.first]

    def json(self) -> object:
        """Return the number."""
        return self.number

    def yaml(self) -> object:
        """Return the number."""
        return self.number

    def method(self, name: str) -> Function | None:
        """Return the method ``String``; there is no other."""
        return Function(name=name, parameters="", call=self.text) if name == "String" else None


class Month(NamedNumber):
    """time.Month: 1 is January."""

    __slots__ = ()
    go_type = "time.Month"
    names = MONTHS
    first = 1


class Weekday(NamedNumber):
    """time.Weekday: 0 is Sunday."""

    __slots__ = ()
    go_type = "time.Weekday"
    names = DAYS
    first = 0


class Time(Struct):
    """time.Time: seconds since 1970 in UTC, nanoseconds, and the zone it is shown in.

    ``offset`` is the zone's distance from UTC in seconds. Raises CallError for a year that is out
    of range.
    """

    __slots__ = ("nanoseconds", "offset", "seconds", "zone")
    go_type = "time.Time"

    def __init__(
        self, seconds: int, nanoseconds: int = 0, *, offset: int = 0, zone: str = "UTC"
    ) -> None:
        if not _MIN_SECONDS <= seconds + offset <= MAX_SECONDS:
            raise _out_of_range()
        super().__init__({"wall": seconds, "ext": nanoseconds})
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.offset = offset
        self.zone = zone or _offset_text(offset, _NUMERIC_ZONE)

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

    def local(self) -> dt.datetime:
        """Return the wall clock of its zone, without nanoseconds; the year 400 stands for 0."""
        seconds = self.seconds + self.offset
        return _EPOCH + dt.timedelta(seconds=seconds + (_CYCLE if seconds < _ZERO_SECONDS else 0))

    @property
    def year(self) -> int:
        """The year in its zone."""
        return self.local().year if self.seconds + self.offset >= _ZERO_SECONDS else 0

    def text(self) -> str:
        """Return Go's String: ``2024-05-06 07:08:09 +0000 UTC``."""
        return format_time(self, "2006-01-02 15:04:05.999999999 -0700 MST")

    def rfc3339(self) -> str:
        """Return the text of JSON and YAML: ``2024-05-06T07:08:09Z``."""
        return format_time(self, "2006-01-02T15:04:05.999999999Z07:00")

    def json(self) -> object:
        """Return the text of rfc3339."""
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
        return Time(seconds, rest, offset=self.offset, zone=self.zone)

    def in_zone(self, name: str) -> Time:
        """Return the same instant in a zone; in UTC for an unknown zone, as sprig does."""
        zone = _find_zone(name)
        if zone is None:
            return Time(self.seconds, self.nanoseconds)
        shift = _CYCLE if self.seconds < _ZERO_SECONDS + _DAY else 0
        try:
            local = (_EPOCH + dt.timedelta(seconds=self.seconds + shift)).astimezone(zone)
        except OverflowError as error:
            raise _out_of_range() from error
        offset = int((local.utcoffset() or dt.timedelta()).total_seconds())
        return Time(self.seconds, self.nanoseconds, offset=offset, zone=local.tzname() or "")

    def add_date(self, years: int, months: int, days: int) -> Time:
        """Return the same time of another day; a day beyond a month's end runs into the next."""
        local = self.local()
        more, month = divmod(local.month - 1 + months, _MONTHS_PER_YEAR)
        start = Time.at(self.year + years + more, month + 1, 1, -self.offset)
        clock = (self.seconds + self.offset) % _DAY
        seconds = start.seconds + (local.day - 1 + days) * _DAY + clock
        return Time(seconds, self.nanoseconds, offset=self.offset, zone=self.zone)

    def method(self, name: str) -> Function | None:
        """Return one of Go's methods that need neither the clock nor other types."""
        if name in _GETTERS:
            return Function(name=name, parameters="", call=partial(_GETTERS[name], self))
        if name in _COMPARISONS:
            return Function(
                name=name, parameters=Time.go_type, call=partial(_COMPARISONS[name], self)
            )
        if name == "Format":
            return Function(name=name, parameters="string", call=partial(format_time, self))
        if name == "AddDate":
            return Function(name=name, parameters="int int int", call=self.add_date)
        return None


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


_GETTERS: Final[dict[str, Callable[[Time], object]]] = {
    "Year": lambda time: Int(time.year),
    "Month": lambda time: Month(time.local().month),
    "Day": lambda time: Int(time.local().day),
    "Weekday": lambda time: Weekday(time.local().isoweekday() % len(DAYS)),
    "YearDay": lambda time: Int(_day_of_year(time.local())),
    "Hour": lambda time: Int(time.local().hour),
    "Minute": lambda time: Int(time.local().minute),
    "Second": lambda time: Int(time.local().second),
    "Nanosecond": lambda time: Int(time.nanoseconds),
    "Unix": lambda time: time.seconds,
    "UnixMilli": lambda time: time.unix_nanoseconds() // 1_000_000,
    "UnixMicro": lambda time: time.unix_nanoseconds() // 1_000,
    "UnixNano": Time.unix_nanoseconds,
    "String": Time.text,
    "IsZero": lambda time: time.unix_nanoseconds() == _ZERO_SECONDS * NANOSECONDS,
    "UTC": lambda time: Time(time.seconds, time.nanoseconds),
    "Local": lambda time: Time(time.seconds, time.nanoseconds),
}
_COMPARISONS: Final[dict[str, Callable[[Time, Time], object]]] = {
    "Equal": lambda left, right: left.unix_nanoseconds() == right.unix_nanoseconds(),
    "Before": lambda left, right: left.unix_nanoseconds() < right.unix_nanoseconds(),
    "After": lambda left, right: left.unix_nanoseconds() > right.unix_nanoseconds(),
}


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
    local = time.local()
    parts: list[str] = []
    for plain, element in split_layout(to_narrow(layout)):
        parts.append(plain)
        if element in _LOCAL_ELEMENTS:
            parts.append(_LOCAL_ELEMENTS[element](local))
        elif element in {"2006", "06"}:
            parts.append(f"{time.year:04}"[-len(element) :])
        elif element == "MST":
            parts.append(to_narrow(time.zone))
        elif element[:1] in {".", ","}:
            digits = f"{time.nanoseconds:09}"[: len(element) - 1].ljust(len(element) - 1, "0")
            if element.endswith("9"):
                digits = digits.rstrip("0")
            parts.append(element[0] + digits if digits else "")
        elif element:
            parts.append(_offset_text(time.offset, element))
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


def _day_of_year(local: dt.datetime) -> int:
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
    "__2": lambda local: f"{_day_of_year(local):3}",
    "002": lambda local: f"{_day_of_year(local):03}",
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

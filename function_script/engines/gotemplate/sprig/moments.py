"""Points in time as values of templates: ``(toDate "2006-01-02" "2024-05-06").Year``.

Years are 0 to 9999; a time of day without a date is of the year 0. Zones come from the system's
time zone database.
"""

from __future__ import annotations

import datetime as dt
import zoneinfo
from functools import lru_cache, partial
from typing import TYPE_CHECKING, ClassVar, Final, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.go_time import Time
from function_script.engines.gotemplate.sprig.layouts import (
    DAYS,
    MONTHS,
    day_of_year,
    format_time,
    offset_text,
)
from function_script.engines.gotemplate.values import Int, Struct

if TYPE_CHECKING:
    from collections.abc import Callable

NANOSECONDS: Final = 1_000_000_000
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST: Final = -62_167_219_200
_ZERO: Final = -62_135_596_800
_LAST: Final = 253_402_300_799
_MONTHS_PER_YEAR: Final = 12
_DAY: Final = 86_400
# The calendar repeats itself: Python's, which begins with the year 1, borrows the year 400 for 0.
_CYCLE_YEARS: Final = 400
_CYCLE: Final = 146_097 * _DAY


class NamedNumber(Struct):
    """A month or a day of the week: a number that prints as its name."""

    __slots__ = ("number",)
    names: ClassVar[tuple[str, ...]]
    first: ClassVar[int]

    def __init__(self, number: int) -> None:
        super().__init__({"number": number})
        self.number = number

    def text(self) -> str:
        """The name."""
        return self.names[self.number - self.first]

    def json(self) -> object:
        """The number."""
        return self.number

    def yaml(self) -> object:
        """The number."""
        return self.number

    def method(self, name: str) -> Function | None:
        """``String`` is the only one."""
        return Function(name=name, takes="", call=self.text) if name == "String" else None


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


class Moment(Time):
    """A Time with Go's methods; raises CallError when its year cannot be told."""

    __slots__ = ()

    def __init__(
        self, seconds: int, nanoseconds: int = 0, *, offset: int = 0, zone: str = "UTC"
    ) -> None:
        if not _FIRST <= seconds + offset <= _LAST:
            raise out_of_range()
        super().__init__(seconds, nanoseconds, offset=offset, zone=zone or offset_text(offset))

    @classmethod
    def of(cls, time: Time) -> Self:
        """The same time."""
        return cls(time.seconds, time.nanoseconds, offset=time.offset, zone=time.zone)

    @classmethod
    def at(cls, year: int, month: int, day: int, seconds: int = 0) -> Self:
        """So many seconds into a day, in UTC."""
        try:
            date = dt.date(year or _CYCLE_YEARS, month, day)
        except (ValueError, OverflowError) as error:
            raise out_of_range() from error
        days = (date - _EPOCH.date()).days
        return cls(days * _DAY + seconds - (0 if year else _CYCLE))

    def local(self) -> dt.datetime:
        """The wall clock of its zone, without nanoseconds; the year 400 stands for 0."""
        seconds = self.seconds + self.offset
        return _EPOCH + dt.timedelta(seconds=seconds + (_CYCLE if seconds < _ZERO else 0))

    @property
    def year(self) -> int:
        """The year of its zone."""
        return self.local().year if self.seconds + self.offset >= _ZERO else 0

    def text(self) -> str:
        """As Go's String."""
        return format_time(self, "2006-01-02 15:04:05.999999999 -0700 MST")

    def rfc3339(self) -> str:
        """As JSON has it."""
        return format_time(self, "2006-01-02T15:04:05.999999999Z07:00")

    def total(self) -> int:
        """Nanoseconds since 1970."""
        return self.seconds * NANOSECONDS + self.nanoseconds

    def plus(self, nanoseconds: int) -> Moment:
        """The time so much later."""
        seconds, rest = divmod(self.total() + nanoseconds, NANOSECONDS)
        return Moment(seconds, rest, offset=self.offset, zone=self.zone)

    def in_zone(self, name: str) -> Moment:
        """The same instant in a zone; in UTC if there is none of that name, as sprig does."""
        zone = _find_zone(name)
        if zone is None:
            return Moment(self.seconds, self.nanoseconds)
        shift = _CYCLE if self.seconds < _ZERO + _DAY else 0
        try:
            local = (_EPOCH + dt.timedelta(seconds=self.seconds + shift)).astimezone(zone)
        except OverflowError as error:
            raise out_of_range() from error
        offset = int((local.utcoffset() or dt.timedelta()).total_seconds())
        return Moment(self.seconds, self.nanoseconds, offset=offset, zone=local.tzname() or "")

    def add_date(self, years: int, months: int, days: int) -> Moment:
        """The same time of another day; months that are too short run into the next one."""
        local = self.local()
        more, month = divmod(local.month - 1 + months, _MONTHS_PER_YEAR)
        start = Moment.at(self.year + years + more, month + 1, 1, -self.offset)
        clock = (self.seconds + self.offset) % _DAY
        seconds = start.seconds + (local.day - 1 + days) * _DAY + clock
        return Moment(seconds, self.nanoseconds, offset=self.offset, zone=self.zone)

    def method(self, name: str) -> Function | None:
        """Those of Go's methods that need neither the clock nor other types."""
        if name in _FIELDS:
            return Function(name=name, takes="", call=partial(_FIELDS[name], self))
        if name in _COMPARISONS:
            return Function(name=name, takes=self.go_type, call=partial(_COMPARISONS[name], self))
        if name == "Format":
            return Function(name=name, takes="string", call=partial(format_time, self))
        if name == "AddDate":
            return Function(name=name, takes="int int int", call=self.add_date)
        return None


def out_of_range() -> CallError:
    """The complaint about years the calendar does not have."""
    return CallError("the year is out of range, which is 0 to 9999")


@lru_cache(maxsize=64)
def _find_zone(name: str) -> zoneinfo.ZoneInfo | None:
    if name in {"", "UTC", "Local"}:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        _check_database()
    return None


def _check_database() -> None:
    """Refuse to take every zone for UTC."""
    try:
        zoneinfo.ZoneInfo("UTC")
    except zoneinfo.ZoneInfoNotFoundError as error:
        raise CallError("there is no time zone database here") from error


_FIELDS: Final[dict[str, Callable[[Moment], object]]] = {
    "Year": lambda time: Int(time.year),
    "Month": lambda time: Month(time.local().month),
    "Day": lambda time: Int(time.local().day),
    "Weekday": lambda time: Weekday(time.local().isoweekday() % len(DAYS)),
    "YearDay": lambda time: Int(day_of_year(time.local())),
    "Hour": lambda time: Int(time.local().hour),
    "Minute": lambda time: Int(time.local().minute),
    "Second": lambda time: Int(time.local().second),
    "Nanosecond": lambda time: Int(time.nanoseconds),
    "Unix": lambda time: time.seconds,
    "UnixMilli": lambda time: time.total() // 1_000_000,
    "UnixMicro": lambda time: time.total() // 1_000,
    "UnixNano": Moment.total,
    "String": Moment.text,
    "IsZero": lambda time: time.total() == _ZERO * NANOSECONDS,
    "UTC": lambda time: Moment(time.seconds, time.nanoseconds),
    "Local": lambda time: Moment(time.seconds, time.nanoseconds),
}
_COMPARISONS: Final[dict[str, Callable[[Moment, Time], object]]] = {
    "Equal": lambda left, right: left.total() == Moment.of(right).total(),
    "Before": lambda left, right: left.total() < Moment.of(right).total(),
    "After": lambda left, right: left.total() > Moment.of(right).total(),
}

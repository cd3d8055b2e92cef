"""Go's time.Parse: dates read by a layout, for ``toDate``.

Layout and text are read byte by byte. A zone other than UTC stays as the text has it.
"""

import calendar
import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.go_time import (
    DAYS,
    LOCAL,
    MONTHS,
    SHORT,
    UTC,
    Location,
    Time,
    split_layout,
)
from function_script.engines.gotemplate.values import to_narrow

_NOON: Final = 12
_DAY_HOURS: Final = 24
_SIXTY: Final = 60
_HOUR_SECONDS: Final = 3600
_CENTURY: Final = 1900
# Years of two digits from here on are of the 20th century.
_PIVOT: Final = 69

_FRACTION: Final = re.compile(r"[.,]([0-9]+)")
_NANOSECOND_DIGITS: Final = 9
_OFFSETS: Final = {
    "07": re.compile(r"(.)([0-9]{2})"),
    "0700": re.compile(r"(.)([0-9]{2})([0-9]{2})"),
    "07:00": re.compile(r"(.)([0-9]{2}):([0-9]{2})"),
    "070000": re.compile(r"(.)([0-9]{2})([0-9]{2})([0-9]{2})"),
    "07:00:00": re.compile(r"(.)([0-9]{2}):([0-9]{2}):([0-9]{2})"),
}
_SIGNED_HOURS: Final = "[+-]0*(?:2[0-3]|1?[0-9])(?![0-9])"
# Three upper-case letters, or four or five if the last is a T; GMT may have hours.
_ZONE: Final = re.compile(
    rf"ChST|MeST|GMT(?:{_SIGNED_HOURS})?|{_SIGNED_HOURS}"
    "|(?:[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})(?![A-Z])"
)


def parse_date(layout: str, text: str) -> Time:
    """Return the time that a text says; raises CallError in Go's words."""
    return _Reader(to_narrow(layout), to_narrow(text)).read()


class _BadValueError(Exception):
    """The text does not match an element of the layout."""


class _Reader:
    """Reads one text; parts that the layout lacks keep their initial value."""

    def __init__(self, layout: str, text: str) -> None:
        self.layout = layout
        self.text = text
        self.rest = text
        self.year = 0
        self.month = self.day = self.day_of_year = -1
        self.hour = self.minute = self.second = self.nanoseconds = 0
        self.half_of_day = ""
        self.offset: int | None = None
        self.zone = ""

    def read(self) -> Time:
        elements = list(split_layout(self.layout))
        for index, (plain, element) in enumerate(elements):
            self.skip(plain)
            before = self.rest
            try:
                if element in {"05", "5"}:
                    self.read_seconds(element, elements[index + 1][1])
                elif element:
                    self.read_element(element)
            except _BadValueError as error:
                raise self.mismatch(before, element) from error
        if self.rest:
            self.fail(f"extra text: {quote_time(self.rest)}")
        return self.to_time()

    def skip(self, plain: str) -> None:
        """Consume the plain text of a layout; a blank stands for any number of blanks."""
        for index, character in enumerate(plain):
            if character == " ":
                if index and plain[index - 1] == " ":
                    continue
                if self.rest and not self.rest.startswith(" "):
                    raise self.mismatch(self.rest, plain)
                self.rest = self.rest.lstrip(" ")
            elif not self.rest.startswith(character):
                raise self.mismatch(self.rest, plain)
            else:
                self.rest = self.rest[1:]

    def read_element(self, element: str) -> None:
        """Consume the text of an element."""
        if element in _READERS:
            _READERS[element](self)
        elif element[0] in ".,":
            self.read_fraction(element)
        elif element == "MST":
            self.read_zone_name()
        else:
            self.read_zone_offset(element)

    # Fields

    def read_bytes(self, count: int) -> str:
        """Return the next bytes, consumed."""
        prefix, self.rest = self.rest[:count], self.rest[count:]
        if len(prefix) < count:
            raise _BadValueError
        return prefix

    def read_number(self, least: int, most: int) -> int:
        """Return a number of so many digits."""
        digits = self.rest[: len(self.rest) - len(self.rest.lstrip("0123456789"))][:most]
        if len(digits) < least:
            raise _BadValueError
        self.rest = self.rest[len(digits) :]
        return int(digits)

    def read_name(self, names: Sequence[str]) -> int:
        """Return the place of a name, in any case."""
        for index, name in enumerate(names):
            if self.rest[: len(name)].lower() == name.lower():
                self.rest = self.rest[len(name) :]
                return index
        raise _BadValueError

    def skip_blanks(self, most: int) -> None:
        """Skip up to ``most`` blanks."""
        count = len(self.rest) - len(self.rest.lstrip(" "))
        self.rest = self.rest[min(count, most) :]

    def check_range(self, number: int, field: str, limits: range) -> int:
        if number not in limits:
            self.fail(f"{field} out of range")
        return number

    def read_year(self) -> None:
        self.year = self.read_number(4, 4)

    def read_short_year(self) -> None:
        text = self.read_bytes(2)
        if not re.fullmatch("[0-9]{2}|[+-][0-9]", text):
            raise _BadValueError
        year = int(text)
        self.year = year + _CENTURY + (0 if year >= _PIVOT else 100)

    def read_month(self, least: int) -> None:
        self.month = self.check_range(
            self.read_number(least, 2), "month", range(1, len(MONTHS) + 1)
        )

    def read_month_name(self, names: Sequence[str]) -> None:
        self.month = self.read_name(names) + 1

    def read_day(self, least: int, blanks: int = 0) -> None:
        self.skip_blanks(blanks)
        self.day = self.read_number(least, 2)

    def read_day_of_year(self, least: int, blanks: int = 0) -> None:
        self.skip_blanks(blanks)
        self.day_of_year = self.read_number(least, 3)

    def read_hour(self, least: int, limit: int) -> None:
        self.hour = self.check_range(self.read_number(least, 2), "hour", range(limit))

    def read_minute(self, least: int) -> None:
        self.minute = self.check_range(self.read_number(least, 2), "minute", range(_SIXTY))

    def read_half(self, halves: tuple[str, str]) -> None:
        text = self.read_bytes(2)
        if text not in halves:
            raise _BadValueError
        self.half_of_day = text.upper()

    def read_seconds(self, element: str, following: str) -> None:
        """Read seconds; a fraction may follow even if the layout has none."""
        self.second = self.check_range(self.read_number(len(element), 2), "second", range(_SIXTY))
        if following[:1] not in {".", ","} and _FRACTION.match(self.rest):
            self.read_fraction(".9")

    def read_fraction(self, element: str) -> None:
        """Read a fraction of a second: as many digits as zeros, any number for nines."""
        match = _FRACTION.match(self.rest)
        if element[1] == "9":
            if match is None:
                return
            digits = match[1]
        else:
            digits = match[1][: len(element) - 1] if match is not None else ""
            if len(digits) < len(element) - 1:
                raise _BadValueError
        self.rest = self.rest[1 + len(digits) :]
        self.nanoseconds = int(digits[:_NANOSECOND_DIGITS].ljust(_NANOSECOND_DIGITS, "0"))

    def read_zone_offset(self, element: str) -> None:
        if element.startswith("Z") and self.rest.startswith("Z"):
            self.rest = self.rest[1:]
            self.zone = "UTC"
            return
        match = _OFFSETS[element[1:]].match(self.rest)
        if match is None:
            raise _BadValueError
        sign, *parts = match.groups()
        hours, minutes, seconds = (*map(int, parts), 0, 0)[:3]
        self.check_range(hours, "time zone offset hour", range(_DAY_HOURS + 1))
        self.check_range(minutes, "time zone offset minute", range(_SIXTY + 1))
        self.check_range(seconds, "time zone offset second", range(_SIXTY + 1))
        if sign not in {"+", "-"}:
            raise _BadValueError
        offset = (hours * _SIXTY + minutes) * _SIXTY + seconds
        self.offset = -offset if sign == "-" else offset
        self.rest = self.rest[match.end() :]

    def read_zone_name(self) -> None:
        # Three letters are enough for UTC, also in front of a fourth one.
        match = re.match("UTC", self.rest) or _ZONE.match(self.rest)
        if match is None or len(self.rest) < SHORT:
            raise _BadValueError
        self.zone = match[0]
        self.rest = self.rest[match.end() :]

    # Result

    def to_time(self) -> Time:
        if self.half_of_day == "PM" and self.hour < _NOON:
            self.hour += _NOON
        elif self.half_of_day == "AM" and self.hour == _NOON:
            self.hour = 0
        self.resolve_day()
        clock = (self.hour * _SIXTY + self.minute) * _SIXTY + self.second
        return self.in_zone(Time.at(self.year, self.month, self.day, clock))

    def resolve_day(self) -> None:
        """Compute month and day, perhaps from the day of the year; they must not contradict."""
        leap = calendar.isleap(self.year)
        if self.day_of_year >= 0:
            if not 1 <= self.day_of_year <= (366 if leap else 365):
                self.fail("day-of-year out of range")
            # Python's calendar has no year 0, and leap years have the same days.
            first = dt.date(2000 if leap else 2001, 1, 1)
            date = first + dt.timedelta(days=self.day_of_year - 1)
            if self.month not in {-1, date.month}:
                self.fail("day-of-year does not match month")
            if self.day not in {-1, date.day}:
                self.fail("day-of-year does not match day")
            self.month, self.day = date.month, date.day
        self.month = 1 if self.month < 0 else self.month
        self.day = 1 if self.day < 0 else self.day
        days = calendar.monthrange(2000 if leap else 2001, self.month)[1]
        if not 1 <= self.day <= days:
            self.fail("day out of range")

    def in_zone(self, time: Time) -> Time:
        """Return the time whose clock shows what was read; a zone's name alone does not move it."""
        location = self.find_location()
        offset = 0 if location is UTC or self.offset is None else self.offset
        return Time(time.seconds - offset, self.nanoseconds, location)

    def find_location(self) -> Location:
        """Return the location that was read: the local one without any, and for an offset of 0."""
        if self.zone == "UTC":
            return UTC
        if not self.offset and not self.zone:
            return LOCAL
        hours = int(self.zone[3:] or 0) if self.zone.startswith("GMT") else 0
        offset = hours * _HOUR_SECONDS if self.offset is None else self.offset
        return Location.fixed(self.zone, offset)

    def mismatch(self, rest: str, expected: str) -> CallError:
        texts = f"{quote_time(self.text)} as {quote_time(self.layout)}"
        return CallError(
            f"parsing time {texts}: cannot parse {quote_time(rest)} as {quote_time(expected)}"
        )

    def fail(self, problem: str) -> NoReturn:
        raise CallError(f"parsing time {quote_time(self.text)}: {problem}")


def _short_names(names: Sequence[str]) -> list[str]:
    return [name[:SHORT] for name in names]


_READERS: Final[dict[str, Callable[[_Reader], object]]] = {
    "2006": _Reader.read_year,
    "06": _Reader.read_short_year,
    "January": lambda reader: reader.read_month_name(MONTHS),
    "Jan": lambda reader: reader.read_month_name(_short_names(MONTHS)),
    "1": lambda reader: reader.read_month(1),
    "01": lambda reader: reader.read_month(2),
    "Monday": lambda reader: reader.read_name(DAYS),
    "Mon": lambda reader: reader.read_name(_short_names(DAYS)),
    "2": lambda reader: reader.read_day(1),
    "_2": lambda reader: reader.read_day(1, blanks=1),
    "02": lambda reader: reader.read_day(2),
    "__2": lambda reader: reader.read_day_of_year(1, blanks=2),
    "002": lambda reader: reader.read_day_of_year(3),
    "15": lambda reader: reader.read_hour(1, _DAY_HOURS),
    "3": lambda reader: reader.read_hour(1, _NOON + 1),
    "03": lambda reader: reader.read_hour(2, _NOON + 1),
    "4": lambda reader: reader.read_minute(1),
    "04": lambda reader: reader.read_minute(2),
    "PM": lambda reader: reader.read_half(("AM", "PM")),
    "pm": lambda reader: reader.read_half(("am", "pm")),
}


def quote_time(text: str) -> str:
    """Quote a text as Go's package time does: control and non-ASCII bytes as numbers."""
    escaped = "".join(
        f"\\x{ord(character):02x}"
        if not " " <= character < "\x80"
        else f"\\{character}"
        if character in '"\\'
        else character
        for character in text
    )
    return f'"{escaped}"'

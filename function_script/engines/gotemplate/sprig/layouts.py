"""Go's layouts: how a date is written is shown by writing ``Mon Jan 2 15:04:05 MST 2006``.

``split_layout`` serves dates.py, which reads them, too; ``format_time`` writes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.sprig.characters import to_narrow, to_wide

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterator

    from function_script.engines.gotemplate.sprig.moments import Moment

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
SHORT: Final = 3

_ELEMENT: Final = re.compile(
    "January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|2006|__2|_2(?!006)|[1-5]|PM|pm"
    "|[Z-](?:07:00:00|070000|07:00|0700|07)|[.,](?:0+|9+)(?![0-9])"
)
_NOON: Final = 12
_MINUTE: Final = 60
_HOUR: Final = 3600
# A layout without a zone: what Go prints for a zone that has no name.
_NUMBERS: Final = "-0700"


def split_layout(layout: str) -> Iterator[tuple[str, str]]:
    """Each element with the plain text in front of it; at last the rest with an empty element."""
    end = 0
    for match in _ELEMENT.finditer(layout):
        yield layout[end : match.start()], match[0]
        end = match.end()
    yield layout[end:], ""


def format_time(time: Moment, layout: str) -> str:
    """The time, in its zone, in the form of the layout."""
    local = time.local()
    parts: list[str] = []
    for plain, element in split_layout(to_narrow(layout)):
        parts += (plain, _shown(time, local, element))
    return to_wide("".join(parts))


def _shown(time: Moment, local: dt.datetime, element: str) -> str:
    if element in _FIELDS:
        return _FIELDS[element](local)
    if element in {"2006", "06"}:
        return f"{time.year:04}"[-len(element) :]
    if element == "MST":
        return to_narrow(time.zone)
    if element[:1] in {".", ","}:
        return _fraction(time, element)
    return offset_text(time.offset, element) if element else ""


def _fraction(time: Moment, element: str) -> str:
    digits = f"{time.nanoseconds:09}"[: len(element) - 1].ljust(len(element) - 1, "0")
    if element.endswith("9"):
        digits = digits.rstrip("0")
    return element[0] + digits if digits else ""


def offset_text(offset: int, element: str = _NUMBERS) -> str:
    """The distance from UTC in the form of an element that begins with ``Z`` or a minus."""
    if element.startswith("Z") and not offset:
        return "Z"
    size = abs(offset)
    numbers = (size // _HOUR, size // _MINUTE % _MINUTE, size % _MINUTE)
    separator = ":" if ":" in element else ""
    count = element.count("0")
    shown = separator.join(f"{number:02}" for number in numbers[: _GROUPS[count]])
    return f"{'-' if offset < 0 else '+'}{shown}"


# How many numbers an element has, by the zeros in it: -07, -0700, -070000.
_GROUPS: Final = {1: 1, 3: 2, 5: 3}


def _hour(local: dt.datetime) -> int:
    return local.hour % _NOON or _NOON


def _day_name(local: dt.datetime) -> str:
    return DAYS[local.isoweekday() % len(DAYS)]


def day_of_year(local: dt.datetime) -> int:
    """1 on the first of January."""
    return local.timetuple().tm_yday


_FIELDS: Final[dict[str, Callable[[dt.datetime], str]]] = {
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

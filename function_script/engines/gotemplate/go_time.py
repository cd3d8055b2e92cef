"""Go's time.Time as a value of templates: made by fromYaml, conditions and sprig's dates.

Layouts, zones and arithmetic are sprig's; here is only what printing needs.
"""

from __future__ import annotations

import datetime as dt
from typing import Final, Self

from function_script.engines.gotemplate.values import Struct

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MINUTE: Final = 60
_HOUR: Final = 60


class Time(Struct):
    """An instant: seconds since 1970 in UTC, nanoseconds, and the zone it is shown in."""

    __slots__ = ("nanoseconds", "offset", "seconds", "zone")
    go_type = "time.Time"

    def __init__(
        self, seconds: int, nanoseconds: int = 0, *, offset: int = 0, zone: str = "UTC"
    ) -> None:
        super().__init__({"wall": seconds, "ext": nanoseconds})
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.offset = offset
        self.zone = zone

    @classmethod
    def zero(cls) -> Self:
        """Go's zero time: the first second of year 1."""
        return cls(-62_135_596_800)

    def local(self) -> dt.datetime:
        """The wall clock of its zone, without nanoseconds."""
        return _EPOCH + dt.timedelta(seconds=self.seconds + self.offset)

    def fraction(self) -> str:
        """The nanoseconds as Go prints them: ``.5``, or nothing."""
        return f".{self.nanoseconds:09}".rstrip("0") if self.nanoseconds else ""

    def offset_text(self, separator: str = "") -> str:
        """The distance from UTC: ``+0000``, or ``+00:00`` with a separator."""
        hours, minutes = divmod(abs(self.offset) // _MINUTE, _HOUR)
        return f"{'-' if self.offset < 0 else '+'}{hours:02}{separator}{minutes:02}"

    def text(self) -> str:
        """As Go's String: ``2024-05-06 07:08:09 +0000 UTC``."""
        clock = self.local().strftime("-%m-%d %H:%M:%S")
        year = self.local().year
        return f"{year:04}{clock}{self.fraction()} {self.offset_text()} {self.zone}"

    def rfc3339(self) -> str:
        """As JSON and YAML have it: ``2024-05-06T07:08:09Z``."""
        clock = self.local().strftime("-%m-%dT%H:%M:%S")
        zone = self.offset_text(":") if self.offset else "Z"
        return f"{self.local().year:04}{clock}{self.fraction()}{zone}"

    def json(self) -> object:
        """The text of rfc3339."""
        return self.rfc3339()

    def yaml(self) -> object:
        """Itself: YAML has timestamps."""
        return self

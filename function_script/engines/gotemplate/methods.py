"""The methods of times, durations, months, days of the week and versions, by Go's types."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.go_time import (
    DAYS,
    UNITS,
    UTC,
    Duration,
    Month,
    Time,
    TransitionTime,
    Weekday,
    format_time,
)
from function_script.engines.gotemplate.sprig.semver import Version
from function_script.engines.gotemplate.values import Int

# The receiver is the first argument.
_Call: TypeAlias = Callable[..., object]  # type: ignore[explicit-any] # a receiver of each type


class Method(NamedTuple):
    """A method; ``parameters`` are Go's types of its arguments."""

    call: _Call
    parameters: tuple[str, ...] = ()


def _compare(left: Time, right: Time) -> Int:
    mine, others = left.unix_nanoseconds(), right.unix_nanoseconds()
    return Int((mine > others) - (mine < others))


_DURATION: Final = "time.Duration"
_TIME: Final = "time.Time"
_VERSION: Final = "*semver.Version"

_OF_TIME: Final = {
    "Add": Method(Time.plus, (_DURATION,)),
    "AddDate": Method(Time.add_date, ("int", "int", "int")),
    "After": Method(lambda left, right: _compare(left, right) > 0, (_TIME,)),
    "Before": Method(lambda left, right: _compare(left, right) < 0, (_TIME,)),
    "Compare": Method(_compare, (_TIME,)),
    "Day": Method(lambda time: Int(time.wall_clock().day)),
    "Equal": Method(lambda left, right: _compare(left, right) == 0, (_TIME,)),
    "Format": Method(format_time, ("string",)),
    "Hour": Method(lambda time: Int(time.wall_clock().hour)),
    "IsZero": Method(Time.is_zero),
    "Local": Method(lambda time: time.in_location(UTC)),
    "Minute": Method(lambda time: Int(time.wall_clock().minute)),
    "Month": Method(lambda time: Month(time.wall_clock().month)),
    "Nanosecond": Method(lambda time: Int(time.nanoseconds)),
    "Second": Method(lambda time: Int(time.wall_clock().second)),
    "String": Method(Time.text),
    "Sub": Method(Time.minus, (_TIME,)),
    "UTC": Method(lambda time: time.in_location(UTC)),
    "Unix": Method(lambda time: time.seconds),
    "UnixMicro": Method(lambda time: time.unix_nanoseconds() // UNITS["us"]),
    "UnixMilli": Method(lambda time: time.unix_nanoseconds() // UNITS["ms"]),
    "UnixNano": Method(lambda time: values.wrap_int64(time.unix_nanoseconds())),
    "Weekday": Method(lambda time: Weekday(time.wall_clock().isoweekday() % len(DAYS))),
    "Year": Method(lambda time: Int(time.year)),
    "YearDay": Method(lambda time: Int(time.wall_clock().timetuple().tm_yday)),
}


METHODS: Final[Mapping[str, Mapping[str, Method]]] = {
    Time.go_type: _OF_TIME,
    TransitionTime.go_type: _OF_TIME,
    Duration.go_type: {
        "Abs": Method(lambda duration: Duration.bounded(abs(int(duration)))),
        "Hours": Method(lambda duration: duration.measure(UNITS["h"])),
        "Microseconds": Method(lambda duration: duration.count(UNITS["us"])),
        "Milliseconds": Method(lambda duration: duration.count(UNITS["ms"])),
        "Minutes": Method(lambda duration: duration.measure(UNITS["m"])),
        "Nanoseconds": Method(int),
        "Seconds": Method(lambda duration: duration.measure(UNITS["s"])),
        "String": Method(Duration.text),
    },
    Month.go_type: {"String": Method(Month.text)},
    Weekday.go_type: {"String": Method(Weekday.text)},
    f"*{Version.go_type}": {
        "Compare": Method(Version.compare, (_VERSION,)),
        "Equal": Method(lambda left, right: left.compare(right) == 0, (_VERSION,)),
        "GreaterThan": Method(lambda left, right: left.compare(right) > 0, (_VERSION,)),
        "GreaterThanEqual": Method(lambda left, right: left.compare(right) >= 0, (_VERSION,)),
        "LessThan": Method(lambda left, right: left.compare(right) < 0, (_VERSION,)),
        "LessThanEqual": Method(lambda left, right: left.compare(right) <= 0, (_VERSION,)),
        "IncMajor": Method(lambda version: version.release(version.numbers[0] + 1)),
        "IncMinor": Method(lambda it: it.release(it.numbers[0], it.numbers[1] + 1)),
        # The next patch of a pre-release is its release.
        "IncPatch": Method(
            lambda it: it.release(*it.numbers[:2], it.numbers[2] + (0 if it.pre else 1))
        ),
        "Major": Method(lambda version: values.Uint64(version.numbers[0])),
        "Metadata": Method(lambda version: version.metadata),
        "Minor": Method(lambda version: values.Uint64(version.numbers[1])),
        "Original": Method(lambda version: version.original),
        "Patch": Method(lambda version: values.Uint64(version.numbers[2])),
        "Prerelease": Method(lambda version: version.pre),
        "String": Method(Version.text),
    },
}
_NONE: Final[Mapping[str, Method]] = {}


def methods_of(value: object) -> Mapping[str, Method]:
    """Return the methods of a value by name."""
    if isinstance(value, (values.Struct, values.NamedNumber)):
        return METHODS.get(values.go_type(value), _NONE)
    return _NONE

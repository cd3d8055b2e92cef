"""The methods of Go's values that a template can call, as their packages' documents list them.

Left out are those that write a form for a machine (MarshalJSON, GobEncode, AppendFormat, ...) and
those with several results, which no template can call.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.conditions import Condition, TransitionTime
from function_script.engines.gotemplate.go_time import (
    DAYS,
    LOCAL,
    UNITS,
    UTC,
    Duration,
    Location,
    Month,
    Time,
    Weekday,
    day_of_year,
    format_time,
)
from function_script.engines.gotemplate.sprig.semver import Version
from function_script.engines.gotemplate.values import Int

# The receiver is the first argument.
_Call: TypeAlias = Callable[..., object]  # type: ignore[explicit-any] # a receiver of each type


class Method(NamedTuple):
    """A method; ``parameters`` are Go's types of its arguments."""

    parameters: tuple[str, ...]
    call: _Call


def _method(call: _Call, *parameters: str) -> Method:
    return Method(parameters, call)


def _compare(left: Time, right: Time) -> Int:
    mine, others = left.unix_nanoseconds(), right.unix_nanoseconds()
    return Int((mine > others) - (mine < others))


_DURATION: Final = "time.Duration"
_TIME: Final = "time.Time"
_VERSION: Final = "*semver.Version"

_OF_TIME: Final = {
    "Add": _method(Time.plus, _DURATION),
    "AddDate": _method(Time.add_date, "int", "int", "int"),
    "After": _method(lambda left, right: _compare(left, right) > 0, _TIME),
    "Before": _method(lambda left, right: _compare(left, right) < 0, _TIME),
    "Compare": _method(_compare, _TIME),
    "Day": _method(lambda time: Int(time.wall_clock().day)),
    "Equal": _method(lambda left, right: _compare(left, right) == 0, _TIME),
    "Format": _method(format_time, "string"),
    "Hour": _method(lambda time: Int(time.wall_clock().hour)),
    "In": _method(Time.in_location, "*time.Location"),
    # Daylight saving is a matter of zones, and a time is in UTC or at a fixed distance from it.
    "IsDST": _method(lambda _: False),
    "IsZero": _method(Time.is_zero),
    "Local": _method(lambda time: time.in_location(LOCAL)),
    "Location": _method(lambda time: time.location),
    "Minute": _method(lambda time: Int(time.wall_clock().minute)),
    "Month": _method(lambda time: Month(time.wall_clock().month)),
    "Nanosecond": _method(lambda time: Int(time.nanoseconds)),
    "Round": _method(Time.round, _DURATION),
    "Second": _method(lambda time: Int(time.wall_clock().second)),
    "String": _method(Time.text),
    "Sub": _method(Time.minus, _TIME),
    "Truncate": _method(Time.truncate, _DURATION),
    "UTC": _method(lambda time: time.in_location(UTC)),
    "Unix": _method(lambda time: time.seconds),
    "UnixMicro": _method(lambda time: time.unix_nanoseconds() // UNITS["us"]),
    "UnixMilli": _method(lambda time: time.unix_nanoseconds() // UNITS["ms"]),
    "UnixNano": _method(lambda time: values.wrap_int64(time.unix_nanoseconds())),
    "Weekday": _method(lambda time: Weekday(time.wall_clock().isoweekday() % len(DAYS))),
    "Year": _method(lambda time: Int(time.year)),
    "YearDay": _method(lambda time: Int(day_of_year(time.wall_clock()))),
}


def _of_time_inside(method: Method) -> Method:
    return Method(method.parameters, lambda outer, *rest: method.call(outer.time, *rest))


_OF_VERSION: Final = {
    "IncMajor": _method(lambda version: version.change((version.numbers[0] + 1, 0, 0))),
    "IncMinor": _method(
        lambda version: version.change((version.numbers[0], version.numbers[1] + 1, 0))
    ),
    "IncPatch": _method(Version.next_patch),
    "Major": _method(lambda version: values.Uint64(version.numbers[0])),
    "Metadata": _method(lambda version: version.metadata),
    "Minor": _method(lambda version: values.Uint64(version.numbers[1])),
    "Patch": _method(lambda version: values.Uint64(version.numbers[2])),
    "Prerelease": _method(lambda version: version.pre),
    "SetMetadata": _method(Version.with_metadata, "string"),
    "SetPrerelease": _method(Version.with_pre, "string"),
    "String": _method(Version.text),
}

METHODS: Final[Mapping[str, Mapping[str, Method]]] = {
    Time.go_type: _OF_TIME,
    # The pointer's own three hide those of the time inside of it, and a template has no pointer.
    TransitionTime.go_type: {
        name: _of_time_inside(method)
        for name, method in _OF_TIME.items()
        if name not in {"Before", "Equal", "IsZero"}
    },
    Duration.go_type: {
        "Abs": _method(lambda duration: Duration.bounded(abs(int(duration)))),
        "Hours": _method(lambda duration: duration.measure(UNITS["h"])),
        "Microseconds": _method(lambda duration: duration.count(UNITS["us"])),
        "Milliseconds": _method(lambda duration: duration.count(UNITS["ms"])),
        "Minutes": _method(lambda duration: duration.measure(UNITS["m"])),
        "Nanoseconds": _method(int),
        "Round": _method(Duration.round, _DURATION),
        "Seconds": _method(lambda duration: duration.measure(UNITS["s"])),
        "String": _method(Duration.text),
        "Truncate": _method(Duration.truncate, _DURATION),
    },
    Month.go_type: {"String": _method(Month.text)},
    Weekday.go_type: {"String": _method(Weekday.text)},
    f"*{Location.go_type}": {"String": _method(Location.text)},
    Version.go_type: _OF_VERSION,
    f"*{Version.go_type}": {
        **_OF_VERSION,
        "Compare": _method(Version.compare, _VERSION),
        "Equal": _method(lambda left, right: left.compare(right) == 0, _VERSION),
        "GreaterThan": _method(lambda left, right: left.compare(right) > 0, _VERSION),
        "GreaterThanEqual": _method(lambda left, right: left.compare(right) >= 0, _VERSION),
        "LessThan": _method(lambda left, right: left.compare(right) < 0, _VERSION),
        "LessThanEqual": _method(lambda left, right: left.compare(right) <= 0, _VERSION),
        "Original": _method(lambda version: version.original),
    },
    Condition.go_type: {
        "Equal": _method(Condition.is_like, Condition.go_type),
        "WithMessage": _method(lambda it, text: it.change("Message", text), "string"),
        "WithObservedGeneration": _method(
            lambda it, number: it.change("ObservedGeneration", number), "int64"
        ),
    },
}
_NONE: Final[Mapping[str, Method]] = {}


def of_value(value: object) -> Mapping[str, Method]:
    """Return the methods of a value by name."""
    if isinstance(value, (values.Struct, values.NamedNumber)):
        return METHODS.get(values.go_type(value), _NONE)
    return _NONE

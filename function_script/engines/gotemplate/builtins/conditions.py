"""``getResourceCondition``: the condition of a type that a resource's status has, as a struct."""

import datetime as dt
from typing import Final

from function_script.engines.gotemplate.go_time import MAX_SECONDS, Time
from function_script.engines.gotemplate.values import NamedString, Struct

_UNKNOWN: Final = "Unknown"


class ConditionType(NamedString):
    """The type of a condition."""

    __slots__ = ()
    go_type = "v2.ConditionType"


class ConditionStatus(NamedString):
    """True, False or Unknown."""

    __slots__ = ()
    go_type = "v1.ConditionStatus"


class ConditionReason(NamedString):
    """Why a condition has its status."""

    __slots__ = ()
    go_type = "v2.ConditionReason"


class TransitionTime(Time):
    """Last transition of a condition's status; JSON writes the zero time as null."""

    __slots__ = ()
    go_type = "v1.Time"

    def json(self) -> object:
        """Return the text of the time, or null."""
        return self.rfc3339() if self.seconds != Time.zero().seconds else None

    def yaml(self) -> object:
        """Return the text of the time."""
        return self.rfc3339()


class Condition(Struct):
    """A condition; fields without a value are empty, as in Go."""

    __slots__ = ()
    go_type = "v2.Condition"

    def json(self) -> object:
        """Return the fields without an empty message and an observed generation of zero."""
        fields = {f"{name[0].lower()}{name[1:]}": value for name, value in self.fields.items()}
        for optional in ("message", "observedGeneration"):
            if not fields[optional]:
                del fields[optional]
        return fields


def read_condition(kind: str, resource: object) -> Condition:
    """Return the first condition of a type; Unknown if there is none or the status is malformed.

    ``resource`` is an entry of the observed resources, or a resource itself.
    """
    for holder in (_at(resource, "resource"), resource):
        conditions = _conditions(_at(holder, "status"))
        if conditions is not None:
            matches = (condition for condition in conditions if condition.fields["Type"] == kind)
            return next(matches, _make(kind, _UNKNOWN))
    return _make(kind, _UNKNOWN)


def _at(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _conditions(status: object) -> list[Condition] | None:
    """Return all conditions of a status; None for no status or one that is malformed."""
    if not isinstance(status, dict):
        return None
    conditions = status.get("conditions")
    if conditions is None:
        return []
    if not isinstance(conditions, list):
        return None
    try:
        return [_read(entry) for entry in conditions]
    except (TypeError, ValueError):
        return None


def _read(entry: object) -> Condition:
    if entry is None:
        return _make("", "")
    if not isinstance(entry, dict):
        raise TypeError("a condition is an object")
    texts = {key: _text(entry.get(key)) for key in ("type", "status", "reason", "message")}
    generation = entry.get("observedGeneration")
    if generation is not None and type(generation) is not int:
        raise TypeError("a generation is an integer")
    return Condition(
        {
            "Type": ConditionType(texts["type"]),
            "Status": ConditionStatus(texts["status"]),
            "LastTransitionTime": _time(_text(entry.get("lastTransitionTime"))),
            "Reason": ConditionReason(texts["reason"]),
            "Message": texts["message"],
            "ObservedGeneration": generation or 0,
        }
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("a condition's fields are text")
    return value


def _time(text: str) -> TransitionTime:
    if not text:
        return TransitionTime.zero()
    moment = dt.datetime.fromisoformat(text)
    # West of UTC the year 9999 ends after the last time of Time.
    return TransitionTime(min(int(moment.timestamp()), MAX_SECONDS))


def _make(kind: str, status: str) -> Condition:
    return Condition(
        {
            "Type": ConditionType(kind),
            "Status": ConditionStatus(status),
            "LastTransitionTime": TransitionTime.zero(),
            "Reason": ConditionReason(""),
            "Message": "",
            "ObservedGeneration": 0,
        }
    )

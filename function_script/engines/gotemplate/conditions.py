"""Conditions of a status, as the structs of Crossplane's and Kubernetes' Go packages."""

from __future__ import annotations

from typing import Final, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.go_time import LOCAL, MAX_SECONDS, RFC3339, Time, parse_date
from function_script.engines.gotemplate.values import Struct


class TransitionTime(Time):
    """Last transition of a condition's status; JSON writes the zero time as null."""

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


class Condition(Struct):
    """A condition; fields without a value are empty, as in Go."""

    __slots__ = ()
    go_type = "common.Condition"

    @classmethod
    def empty(cls, kind: str, status: str) -> Self:
        """Return a condition with nothing but its type and its status."""
        return cls(
            {
                "Type": kind,
                "Status": status,
                "LastTransitionTime": TransitionTime(Time.zero()),
                "Reason": "",
                "Message": "",
                "ObservedGeneration": 0,
            }
        )

    @classmethod
    def read(cls, entry: object) -> Self:
        """Return the condition of a status's entry; raises CallError where Go cannot decode it."""
        if entry is None:
            return cls.empty("", "")
        if not isinstance(entry, dict):
            raise CallError("a condition is an object")
        kind, status, reason, message = (_read_text(entry.get(key)) for key in _TEXTS)
        generation = entry.get("observedGeneration")
        if generation is not None and type(generation) is not int:
            raise CallError("a generation is an integer")
        transition = entry.get("lastTransitionTime")
        time = Time.zero()
        if transition is not None:
            time = parse_date(RFC3339, _read_text(transition))
            # West of UTC the year 9999 ends after the last time of Time.
            time = Time(min(time.seconds, MAX_SECONDS), time.nanoseconds, LOCAL)
        return cls(
            {
                **cls.empty(kind, status).fields,
                "LastTransitionTime": TransitionTime(time),
                "Reason": reason,
                "Message": message,
                "ObservedGeneration": generation or 0,
            }
        )

    def json(self) -> object:
        """Return the fields without an empty message and an observed generation of zero."""
        fields = {f"{name[0].lower()}{name[1:]}": value for name, value in self.fields.items()}
        for optional in ("message", "observedGeneration"):
            if not fields[optional]:
                del fields[optional]
        return fields


_TEXTS: Final = ("type", "status", "reason", "message")


def _read_text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CallError("a condition's fields are text")
    return value

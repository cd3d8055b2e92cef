"""What people are told about resources that wait or are not ready: a condition, and news of it.

The condition says it on every call. An event is added only when what waits is not what the XR's
own condition says from the call before: equal events on every call would say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from function_script import wire
from function_script.diagnostics import cut
from function_script.objects import find_condition
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from function_script.values import Readable

DEFAULT_CONDITION: Final = "ResourcesReady"
_WAITING: Final = "Waiting: "
_UNREADY: Final = "Unready: "


class Blocked(NamedTuple):
    """Something that is withheld, and why: ``for vpc``, ``because spec.size is undefined``."""

    subject: str
    reason: str


class Unready(NamedTuple):
    """A resource that is not ready, and why: ``has Ready=False: Creating``."""

    name: str
    why: str


def condition(kind: str, waits: Sequence[Blocked], unready: Sequence[Unready]) -> wire.Condition:
    """The condition that sums up; its message is sorted and at most 1,024 bytes long."""
    if not waits and not unready:
        return wire.Condition(kind, enums.STATUS_CONDITION_TRUE, "Ready")
    lines = [_waiting(waits)] if waits else []
    if unready:
        told = "; ".join(f"{each.name} {each.why}" for each in sorted(unready))
        lines.append(f"{_UNREADY}{told}")
    reason = "Waiting" if waits else "Unready"
    return wire.Condition(kind, enums.STATUS_CONDITION_FALSE, reason, cut(". ".join(lines)))


def change_event(
    kind: str, waits: Sequence[Blocked], xr: Mapping[str, Readable]
) -> tuple[wire.Result, ...]:
    """One event that names what waits, unless the XR's condition says so already."""
    if not waits:
        return ()
    message = cut(_waiting(waits))
    before = find_condition(xr, kind) or {}
    told = str(before.get("message", ""))
    if told == message or told.startswith(f"{message}. {_UNREADY}"):
        return ()
    return (wire.Result(enums.SEVERITY_NORMAL, message, "Waiting"),)


def _waiting(waits: Sequence[Blocked]) -> str:
    return _WAITING + "; ".join(f"{each.subject} {each.reason}" for each in sorted(waits))

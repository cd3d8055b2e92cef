"""Report on resources that are blocked or not ready: a condition, and an event when it changes.

The condition is set on every call. An event is added only when the blocked resources differ
from those in the XR's condition of the call before: equal events on every call would be noise.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from function_script import wire
from function_script.request import objects
from function_script.request.values import Readable
from function_script.step.blocked import Blocked
from function_script.texts.diagnostics import cut
from function_script.wire import enums

DEFAULT_CONDITION: Final = "ResourcesReady"
_WAITING: Final = "Waiting: "
_UNREADY: Final = "Unready: "


class Unready(NamedTuple):
    """A resource that is not ready, and the reason: ``has Ready=False: Creating``."""

    name: str
    why: str


def condition(kind: str, blocked: Sequence[Blocked], unready: Sequence[Unready]) -> wire.Condition:
    """Return the condition; its message is sorted and at most 1,024 bytes long."""
    if not blocked and not unready:
        return wire.Condition(kind, enums.STATUS_CONDITION_TRUE, "Ready")
    lines = [_blocked_text(blocked)] if blocked else []
    if unready:
        lines.append(_UNREADY + "; ".join(f"{each.name} {each.why}" for each in sorted(unready)))
    reason = "Waiting" if blocked else "Unready"
    return wire.Condition(kind, enums.STATUS_CONDITION_FALSE, reason, cut(". ".join(lines)))


def change_event(
    kind: str, blocked: Sequence[Blocked], xr: Mapping[str, Readable]
) -> tuple[wire.Result, ...]:
    """Return an event that names blocked resources, unless the XR's condition names the same."""
    if not blocked:
        return ()
    message = cut(_blocked_text(blocked))
    last_condition = objects.find_condition(xr, kind) or {}
    last_message = str(last_condition.get("message", ""))
    if last_message == message or last_message.startswith(f"{message}. {_UNREADY}"):
        return ()
    return (wire.Result(enums.SEVERITY_NORMAL, message, "Waiting"),)


def _blocked_text(blocked: Sequence[Blocked]) -> str:
    return _WAITING + "; ".join(f"{each.subject} {each.reason}" for each in sorted(blocked))

"""Status conditions: Crossplane's own ones, and how one is set among others.

Called while an XR is prepared and composed. A condition is a plain object as it stands in YAML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.values import Object, Value

# Every time in rendered output, so that rendering twice gives the same text.
TIME: Final = "2024-01-01T00:00:00Z"
# Crossplane ignores what functions say about these types.
SYSTEM_TYPES: Final = frozenset({"Ready", "Synced", "Healthy", "UpToDate", "Responsive"})
_SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition to set. ``for_claim``: a claim shows it as well (legacy XRs only)."""

    type: str
    status: str
    reason: str
    message: str = ""
    for_claim: bool = False


RESPONSIVE: Final = Condition(type="Responsive", status="True", reason="WatchCircuitClosed")
SYNCED: Final = Condition(type="Synced", status="True", reason="ReconcileSuccess")
PAUSED: Final = Condition(
    type="Synced",
    status="False",
    reason="ReconcilePaused",
    message="Reconciliation (including deletion) is paused via the pause annotation",
)
AVAILABLE: Final = Condition(type="Ready", status="True", reason="Available")
CREATING: Final = Condition(type="Ready", status="False", reason="Creating")
DELETING: Final = Condition(type="Ready", status="False", reason="Deleting")


def unready(names: Sequence[str]) -> Condition:
    """Not ready because of these composed resources; a few of them are named."""
    shown = sorted(names)
    text = ", ".join(shown)
    if len(shown) == _SHOWN_NAMES:
        text = f"{', '.join(shown[:-1])}, and {shown[-1]}"
    elif len(shown) > _SHOWN_NAMES:
        text = f"{', '.join(shown[:_SHOWN_NAMES])}, and {len(shown) - _SHOWN_NAMES} more"
    return Condition(
        type="Ready", status="False", reason="Creating", message=f"Unready resources: {text}"
    )


def failed(cause: str) -> Condition:
    """Not synced because of ``cause``."""
    return Condition(type="Synced", status="False", reason="ReconcileError", message=cause)


def unseen(xr: Object, stated: Sequence[Condition], generation: int) -> list[Object]:
    """Those of functions that ``xr`` has and nobody ``stated`` because of a FATAL result.

    They are unknown now, but keep their time.
    """
    said = SYSTEM_TYPES | {condition.type for condition in stated}
    message = "A fatal error occurred before the status of this condition could be determined."
    unknown: Object = {"status": "Unknown", "reason": "FatalError", "message": message}
    if generation:
        unknown["observedGeneration"] = generation
    return [{**item, **unknown} for item in read(xr) if item["type"] not in said]


def mark(xr: Object, conditions: Sequence[Condition], *, generation: int = 0) -> None:
    """Set conditions in ``xr``: known types keep their place, new ones go last."""
    restore(xr, [_to_object(condition, generation) for condition in conditions])


def restore(xr: Object, conditions: Sequence[Object]) -> None:
    """`mark` for conditions as they stand in YAML.

    One that ``xr`` has already and that says the same stays as it is, with its time.
    """
    held = read(xr)
    for wanted in conditions:
        places = [index for index, item in enumerate(held) if item["type"] == wanted["type"]]
        for index in places:
            if not _says_the_same(held[index], wanted):
                held[index] = wanted
        if not places:
            held.append(wanted)
    items: list[Value] = [*held]
    manifests.make_object(xr, "status")["conditions"] = items


def with_times_replaced(manifest: Object) -> Object:
    """``manifest`` with the fixed time in all conditions, which are reduced to known fields."""
    status = manifest.get("status")
    held = status.get("conditions") if isinstance(status, dict) else ""
    if not isinstance(status, dict) or not isinstance(held, (list, type(None))):
        return manifest
    items: list[Value] = [{**item, "lastTransitionTime": TIME} for item in read(manifest)]
    # The official command turns a status without conditions into one with null.
    return {**manifest, "status": {**status, "conditions": None if held is None else items}}


def read(manifest: Object) -> list[Object]:
    """The conditions in ``manifest``, reduced to the fields a condition has."""
    return [
        {
            "type": manifests.text_at(item, "type"),
            "status": manifests.text_at(item, "status"),
            "lastTransitionTime": item.get("lastTransitionTime"),
            "reason": manifests.text_at(item, "reason"),
            **{key: item[key] for key in ("message", "observedGeneration") if item.get(key)},
        }
        for item in manifests.objects_at(manifest, "status", "conditions")
    ]


def _to_object(condition: Condition, generation: int) -> Object:
    made: Object = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": TIME,
        "reason": condition.reason,
    }
    if condition.message:
        made["message"] = condition.message
    if generation:
        made["observedGeneration"] = generation
    return made


def _says_the_same(held: Object, wanted: Object) -> bool:
    keys = ["type", "status", "reason", "message"]
    if "observedGeneration" in held and "observedGeneration" in wanted:
        keys.append("observedGeneration")
    return all(held.get(key) == wanted.get(key) for key in keys)

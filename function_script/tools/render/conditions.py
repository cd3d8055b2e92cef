"""Crossplane's own status conditions, and how conditions are set among others.

In a manifest, a condition is a plain object as in YAML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.step import readiness
from function_script.tools import manifests

# The time of all rendered conditions, so that rendering twice gives the same text.
TIME: Final = "2024-01-01T00:00:00Z"
# Crossplane ignores conditions of these types from functions.
SYSTEM_TYPES: Final = frozenset({"Ready", "Synced", "Healthy", "UpToDate", "Responsive"})
_MAX_NAMES = 3


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
    """Return the condition for unready composed resources, with the names of a few of them."""
    parts = sorted(names)
    if len(parts) > _MAX_NAMES:
        parts[_MAX_NAMES:] = [f"{len(parts) - _MAX_NAMES} more"]
    if len(parts) >= _MAX_NAMES:
        parts[-1] = f"and {parts[-1]}"
    text = ", ".join(parts)
    return Condition(
        type="Ready", status="False", reason="Creating", message=f"Unready resources: {text}"
    )


def failed(cause: str) -> Condition:
    """Return the condition of an XR or Operation that failed because of ``cause``."""
    return Condition(type="Synced", status="False", reason="ReconcileError", message=cause)


def undetermined(xr: Object, custom: Sequence[Condition]) -> list[Object]:
    """Return the functions' conditions of ``xr`` that no function set before a FATAL result.

    ``custom`` are those that functions set. The others become unknown and keep their time.
    """
    known_types = SYSTEM_TYPES | {condition.type for condition in custom}
    message = "A fatal error occurred before the status of this condition could be determined."
    unknown: Object = {"status": "Unknown", "reason": "FatalError", "message": message}
    if generation := manifests.int_at(xr, "metadata", "generation"):
        unknown["observedGeneration"] = generation
    return [{**item, **unknown} for item in read(xr) if item["type"] not in known_types]


def mark(xr: Object, conditions: Sequence[Condition], *, is_observed: bool = False) -> None:
    """Set conditions in ``xr``: existing types keep their position, new ones go last.

    ``is_observed``: they have the generation of ``xr``, as those of Crossplane do.
    """
    generation = manifests.int_at(xr, "metadata", "generation") if is_observed else 0
    restore(xr, [_to_object(condition, generation) for condition in conditions])


def make_ready(manifest: Object) -> None:
    """Set the status of a composed resource that the rule of its kind accepts, and no more.

    A Deployment has no condition ``Ready`` in a cluster either.
    """
    while (lack := readiness.judge(manifest).lack) is not None:
        if isinstance(lack.at, str):
            condition = Condition(type=lack.at, status=str(lack.value), reason="Available")
            others = [SYNCED] if lack.at == AVAILABLE.type else []
            mark(manifest, [*others, condition], is_observed=True)
        else:
            value = objects.deep_copy(lack.value)
            for key in reversed(lack.at):
                value = [value] if isinstance(key, int) else {key: value}
            objects.merge(manifest, {**value} if isinstance(value, dict) else {})


def restore(xr: Object, conditions: Sequence[Object]) -> None:
    """`mark` for conditions as objects.

    A condition that ``xr`` has already with the same content stays as it is, with its time.
    """
    current = read(xr)
    for condition in conditions:
        indexes = [i for i, item in enumerate(current) if item["type"] == condition["type"]]
        for index in indexes:
            fields = ["type", "status", "reason", "message"]
            if "observedGeneration" in current[index] and "observedGeneration" in condition:
                fields.append("observedGeneration")
            if any(current[index].get(field) != condition.get(field) for field in fields):
                current[index] = condition
        if not indexes:
            current.append(condition)
    items: list[Value] = [*current]
    manifests.make_object(xr, "status")["conditions"] = items


def with_times_replaced(manifest: Object) -> Object:
    """Return ``manifest`` with `TIME` in all conditions, which are reduced to known fields."""
    status = manifest.get("status")
    current = status.get("conditions") if isinstance(status, dict) else ""
    if not isinstance(status, dict) or not isinstance(current, (list, type(None))):
        return manifest
    items: list[Value] = [{**item, "lastTransitionTime": TIME} for item in read(manifest)]
    # The official command turns a status without conditions into one with null.
    return {**manifest, "status": {**status, "conditions": None if current is None else items}}


def read(manifest: Object) -> list[Object]:
    """Return the conditions in ``manifest``, reduced to the fields that a condition has."""
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
    item: Object = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": TIME,
        "reason": condition.reason,
    }
    if condition.message:
        item["message"] = condition.message
    if generation:
        item["observedGeneration"] = generation
    return item

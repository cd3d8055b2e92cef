"""The plans of XRs, and what they say together: one XR may change what another one reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from function_script import wire
from function_script.tools import manifests
from function_script.tools.manifests import Key
from function_script.tools.plan.changes import Change
from function_script.tools.plan.dump import Dump

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

Touched: TypeAlias = dict[tuple[str, str], dict[Key, list[tuple[Key, Change | None]]]]
"""The changes by the type and key of the object, each with its XR; None if it is not known."""

_LABELS: Final = ("metadata", "labels")
MAX_DEPTH: Final = 20
BELOW: Final = "the XR above it is unknown, and may change it"


@dataclass(frozen=True, slots=True, kw_only=True)
class XrPlan:
    """The plan of one XR; ``reason`` is why it is unknown, stays, fails or is invalid.

    ``drift`` are the fields whose observed values are not those that are desired before the change.
    ``requires`` is what its steps require.
    """

    key: Key
    xr: str
    composition: str = ""
    verdict: Verdict = "unknown"
    reason: str = ""
    changes: Sequence[Change] = ()
    drift: Sequence[str] = ()
    requires: Sequence[wire.Selector] = ()


def find_touched(plans: Iterable[XrPlan], dump: Dump) -> Touched:
    """Return what changes; of an XR that is unknown, that may be all that it composes."""
    touched: Touched = {}
    for plan in plans:
        touches: list[tuple[Key, Change | None]] = [(each.key, each) for each in plan.changes]
        if plan.verdict == "unknown" and (xr := dump.get(plan.key)) is not None:
            touches += ((key, None) for key in (plan.key, *dump.list_composed(xr)))
        for key, change in touches:
            touched.setdefault(key[:2], {}).setdefault(key, []).append((plan.key, change))
    return touched


def relate(
    plans: Iterable[XrPlan], owners: Mapping[Key, Sequence[Key]], dump: Dump
) -> list[XrPlan]:
    """Return all plans in one order; what other XRs change makes some unknown.

    ``owners`` are the XRs above each XR, its parent first.
    Their changes are those of the next reconcile then, and others may follow.
    """
    # Outer XRs come first, and those without an XRD last.
    depths = {key: len(above) for key, above in owners.items()}
    whole: dict[tuple[Key, str], XrPlan] = {}
    for plan in plans:
        first = whole.setdefault((plan.key, plan.xr), plan)
        # An XR that was planned may read what one below it writes.
        if plan.verdict == "unknown":
            whole[plan.key, plan.xr] = _to_unknown(first, plan.reason)
    related = sorted(whole.values(), key=lambda each: (depths.get(each.key, MAX_DEPTH), each.key))
    unknown = {each.key for each in related if each.verdict == "unknown"}
    while True:
        touched = find_touched(related, dump)
        former, related = related, []
        for plan in former:
            key = plan.key
            added = (
                f"another XR adds {each.object}, too"
                for each in plan.changes
                for xr, other in touched[each.key[:2]][each.key]
                if other is not None and each.verb == other.verb == "add" and xr != key
            )
            is_below = unknown.intersection(owners.get(key, ())[:1])
            reason = BELOW if is_below else next(added, None) or _find_required(plan, touched, dump)
            if reason:
                unknown.add(key)
            related.append(_to_unknown(plan, reason) if reason else plan)
        if related == former:
            return related


def _to_unknown(plan: XrPlan, reason: str) -> XrPlan:
    """Return a plan as unknown, unless it is already, or what it has is refused."""
    is_open = plan.verdict in {"planned", "unchanged", "stays"}
    return replace(plan, verdict="unknown", reason=reason) if is_open else plan


def _find_required(plan: XrPlan, touched: Touched, dump: Dump) -> str | None:
    """Return the reason if a step requires an object that another XR touches, or None."""
    for selector in plan.requires:
        type_ = (manifests.group(selector.api_version), selector.kind)
        of_type = touched.get(type_, {})
        named = {(*type_, selector.namespace or "", selector.match_name or "")}
        for key in of_type.keys() & named if selector.match_name is not None else of_type:
            for change in (each for xr, each in of_type[key] if xr != plan.key):
                is_relabelled = change is None or change.path[:2] == _LABELS
                if selector.match_name is None and not dump.may_select(
                    selector, key, is_relabelled=is_relabelled
                ):
                    continue
                if change is None:
                    return f'a step requires {key[1]} "{key[3]}", which an unknown XR may edit'
                return f"a step requires {change.object}, which the change of another XR edits"
    return None

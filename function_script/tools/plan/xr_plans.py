"""The plans of XRs, and what they say together: one XR may change what another one reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from function_script import wire
from function_script.tools import manifests
from function_script.tools.manifests import Key
from function_script.tools.plan.changes import Change
from function_script.tools.plan.dump import Dump

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

Touched: TypeAlias = dict[tuple[str, str], dict[Key, list[tuple[Key, Change]]]]
"""The changes by the type and the key of the object, each with the key of the XR."""

_LABELS: Final = ("metadata", "labels")
BELOW: Final = "the XR above it is unknown, and may change it"


@dataclass(frozen=True, slots=True, kw_only=True)
class XrPlan:
    """The plan of one XR; ``reason`` is why it is unknown, stays, fails or is invalid.

    ``drift`` are the fields whose observed values are not those that are desired before the change.
    ``order`` is its place among all plans: those of outer XRs come first. ``requires`` is what its
    steps require.
    """

    order: tuple[int, Key]
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
        key = plan.order[1]
        changes = [*plan.changes]
        if plan.verdict == "unknown" and (xr := dump.get(key)) is not None:
            changes += (
                Change(
                    verb="change",
                    resource=None,
                    object=f'{each[1]} "{each[3]}"',
                    key=each,
                    # Any field may change, and by their labels objects are selected.
                    path=_LABELS,
                    is_certain=False,
                )
                for each in (key, *dump.list_composed(xr))
            )
        for change in changes:
            of_type = touched.setdefault(change.key[:2], {})
            of_type.setdefault(change.key, []).append((key, change))
    return touched


def relate(
    plans: Iterable[XrPlan], owners: Mapping[Key, Sequence[Key]], dump: Dump
) -> list[XrPlan]:
    """Return all plans in their order; what other XRs change makes some unknown.

    ``owners`` are the XRs above each XR, its parent first.
    Their changes are those of the next reconcile then, and others may follow.
    """
    related = sorted(plans, key=attrgetter("order"))
    unknown: set[Key] = set()
    while True:
        touched = find_touched(related, dump)
        former, related = related, []
        for plan in former:
            key = plan.order[1]
            shared = (
                f"another XR adds {each.object}, too"
                for each in plan.changes
                for xr, other in touched[each.key[:2]][each.key]
                if each.verb == other.verb == "add" and xr != key
            )
            if plan.verdict == "unknown":
                reason = None
            elif unknown.intersection(owners[key][:1]):
                reason = BELOW
            else:
                reason = next(shared, None) or _find_required(plan, touched, dump)
            if reason:
                unknown.add(key)
            related.append(replace(plan, verdict="unknown", reason=reason) if reason else plan)
        if related == former:
            return related


def _find_required(plan: XrPlan, touched: Touched, dump: Dump) -> str | None:
    """Return the reason if a step requires an object that another XR touches, or None."""
    for selector in plan.requires:
        type_ = (manifests.group(selector.api_version), selector.kind)
        of_type = touched.get(type_, {})
        named = {(*type_, selector.namespace or "", selector.match_name or "")}
        for key in of_type.keys() & named if selector.match_name is not None else of_type:
            others = (change for xr, change in of_type[key] if xr != plan.order[1])
            for change in others:
                if selector.match_name is not None or dump.may_select(
                    selector, key, is_relabelled=change.path[:2] == _LABELS
                ):
                    verb = "edits" if change.is_certain else "may edit"
                    return f"a step requires {change.object}, which the change of another XR {verb}"
    return None

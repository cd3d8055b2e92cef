"""The plans of XRs, and what they say together: one XR may change what another one reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from function_script import wire
from function_script.tools import manifests
from function_script.tools.manifests import Key
from function_script.tools.plan.changes import Change
from function_script.tools.plan.dump import Dump

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

# The changes by the type and the key of the object, each with the key of the XR.
_Touched: TypeAlias = dict[tuple[str, str], dict[Key, list[tuple[Key, Change]]]]

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


def relate(
    plans: Iterable[XrPlan], owners: Mapping[Key, Sequence[Key]], dump: Dump
) -> Iterator[XrPlan]:
    """Yield all plans in their order; what other XRs change makes some unknown.

    ``owners`` are the XRs above each XR, its parent first.
    Their changes are those of the next reconcile then, and others may follow.
    """
    touched: _Touched = {}
    sorted_plans = sorted(plans, key=attrgetter("order"))
    for plan in sorted_plans:
        for change in plan.changes:
            of_type = touched.setdefault(change.key[:2], {})
            of_type.setdefault(change.key, []).append((plan.order[1], change))
    unknown: set[Key] = set()
    for plan in sorted_plans:
        shared = (
            f"another XR adds {each.object}, too"
            for each in plan.changes
            for xr, other in touched[each.key[:2]][each.key]
            if each.verb == other.verb == "add" and xr != plan.order[1]
        )
        if plan.verdict == "unknown":
            reason = None
        elif unknown.intersection(owners[plan.order[1]][:1]):
            reason = BELOW
        else:
            reason = next(shared, None) or _find_required(plan, touched, dump)
        if reason:
            unknown.add(plan.order[1])
        yield replace(plan, verdict="unknown", reason=reason) if reason else plan


def _find_required(plan: XrPlan, touched: _Touched, dump: Dump) -> str | None:
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
                    return f"a step requires {change.object}, which the change of another XR edits"
    return None

"""The plans of XRs, and what they say together: one XR may change what another one reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from function_script import wire
from function_script.tools import manifests
from function_script.tools.manifests import Key
from function_script.tools.plan.changes import Change, Verb
from function_script.tools.plan.dump import Dump

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

BELOW: Final = "the XR above it is unknown, and may change it"


@dataclass(frozen=True, slots=True, kw_only=True)
class XrPlan:
    """The plan of one XR; ``reason`` is why it is unknown, stays, fails or is invalid.

    ``drift`` are the fields whose observed values are not those that are desired before the change.
    ``order`` is its place among all plans: those of outer XRs come first. ``touches`` are the verb,
    key and description of each object that changes, but for new names that are not known, and
    ``requires`` what its steps require.
    """

    order: tuple[int, Key]
    xr: str
    composition: str = ""
    verdict: Verdict = "unknown"
    reason: str = ""
    changes: Sequence[Change] = ()
    drift: Sequence[str] = ()
    touches: Sequence[tuple[Verb, Key, str]] = ()
    requires: Sequence[wire.Selector] = ()


def relate(
    plans: Iterable[XrPlan], owners: Mapping[Key, Sequence[Key]], dump: Dump
) -> Iterator[XrPlan]:
    """Yield all plans in their order; what other XRs change makes some unknown.

    ``owners`` are the XRs above each XR, its parent first.
    Their changes are those of the next reconcile then, and others may follow.
    """
    touched: dict[tuple[str, str], dict[Key, dict[Key, str]]] = {}
    adders: dict[Key, set[Key]] = {}
    sorted_plans = sorted(plans, key=attrgetter("order"))
    for plan in sorted_plans:
        for verb, key, text in plan.touches:
            touched.setdefault(key[:2], {}).setdefault(key, {})[plan.order[1]] = text
            if verb == "add":
                adders.setdefault(key, set()).add(plan.order[1])
    unknown: set[Key] = set()
    for plan in sorted_plans:
        added = (each for each in plan.touches if each[0] == "add")
        shared = next((text for _, key, text in added if len(adders[key]) > 1), None)
        if plan.verdict == "unknown":
            reason = None
        elif unknown.intersection(owners[plan.order[1]][:1]):
            reason = BELOW
        elif shared:
            reason = f"another XR adds {shared}, too"
        else:
            reason = _find_required(plan, touched, dump)
        if reason:
            unknown.add(plan.order[1])
        yield replace(plan, verdict="unknown", reason=reason) if reason else plan


def _find_required(
    plan: XrPlan, touched: Mapping[tuple[str, str], Mapping[Key, Mapping[Key, str]]], dump: Dump
) -> str | None:
    """Return the reason if a step requires an object that another XR touches, or None."""
    for selector in plan.requires:
        type_ = (manifests.group(selector.api_version), selector.kind)
        of_type = touched.get(type_, {})
        named = {(*type_, selector.namespace or "", selector.match_name or "")}
        for key in of_type.keys() & named if selector.match_name is not None else of_type:
            others = (text for xr, text in of_type[key].items() if xr != plan.order[1])
            text = next(others, None)
            if text and (selector.match_name is not None or dump.may_select(selector, key)):
                return f"a step requires {text}, which the change of another XR edits"
    return None

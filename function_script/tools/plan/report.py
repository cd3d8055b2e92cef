"""The report of a plan: one entry for each line of a program that changes XRs, deletions first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from function_script.request.reader import format_path
from function_script.texts.diagnostics import Diagnostic
from function_script.tools import console
from function_script.tools.plan.changes import Change
from function_script.tools.plan.xr_plans import Verdict, XrPlan

# The changes of one cause, each with its XR.
_Entry: TypeAlias = list[tuple[str, Change]]

_VERBS: Final = ("destroy", "rename", "add", "change")
_VERDICTS: Final[Mapping[Verdict, str]] = {
    "unknown": "unknown",
    "fails": "fails after the change",
    "invalid": "refused",
    "stays": "outside of the change",
}
_MAX_VALUE: Final = 60


def make(plans: Sequence[XrPlan], notes: Sequence[str], *, has_names: bool) -> console.Report:
    """Return a report with an entry for each cause, and for each reason of XRs without a plan.

    ``notes`` are sentences behind the totals. ``has_names``: no name is left out.
    """
    totals = [*_list_totals(plans)]
    return console.Report(
        entries=[*_list_entries(plans, has_names=has_names)],
        summary=[*totals, *notes],
        value={"xrs": [_to_object(each) for each in plans]},
        markdown_head=[f"**{' '.join(totals)}**", ""],
        markdown_end=[f"- {console.to_code(note)}" for note in notes],
    )


def _to_object(plan: XrPlan) -> dict[str, object]:
    """Return a plan as JSON."""
    return {
        "xr": plan.xr,
        "composition": plan.composition,
        "verdict": plan.verdict,
        "reason": plan.reason,
        "drift": [*plan.drift],
        "changes": [
            {
                "verb": change.verb,
                "resource": change.resource,
                "object": change.object,
                "step": change.step,
                "position": None if change.span is None else str(change.span),
                "path": [*change.path],
                "before": change.before,
                "after": change.after,
                "certain": change.is_certain,
                "later": change.is_later,
            }
            for change in plan.changes
        ],
    }


def _list_totals(plans: Sequence[XrPlan]) -> Iterator[str]:
    """Yield the sentence with the numbers of objects, and one with those of XRs without a plan."""
    objects: Counter[str] = Counter(
        verb
        for plan in plans
        for verb, _ in {
            ("change" if each.verb == "rename" else each.verb, each.resource)
            for each in plan.changes
        }
    )
    yield "Plan: {add} to add, {change} to change, {destroy} to destroy.".format_map(objects)
    verdicts = Counter(plan.verdict for plan in plans)
    parts = [f"{console.count(len(plans), 'XR')} looked at"]
    parts += [f"{verdicts[each]} {text}" for each, text in _VERDICTS.items() if verdicts[each]]
    if number := sum(bool(plan.drift) for plan in plans):
        parts.append(f"{number} with drift")
    yield f"{', '.join(parts)}."


def _list_entries(plans: Sequence[XrPlan], *, has_names: bool) -> Iterator[console.Entry]:
    """Yield the causes, and the reasons, each with the names of objects or XRs."""

    def list_names(names: Iterable[str]) -> tuple[str, ...]:
        unique = [*dict.fromkeys(map(console.one_line, names))]
        return (*(unique if has_names else console.cut_names(unique)),)

    for entry in _group(plans):
        first = entry[0][1]
        names = list_names(f"{each.object} of {xr}" for xr, each in entry)
        problem = Diagnostic(message=_describe(entry), notes=names)
        yield first.verb, replace(problem, span=first.span, excerpt=first.excerpt)
    for (word, message), xrs in _list_reasons(plans):
        yield word, Diagnostic(message=message, notes=list_names(xrs))


def _describe(entry: _Entry) -> str:
    """Return the numbers of objects and XRs, and what becomes of the first."""
    change = entry[0][1]
    number = len({(xr, each.resource) for xr, each in entry})
    xrs = console.count(len({xr for xr, _ in entry}), "XR")
    subject = f"{console.count(number, 'object')} of {xrs}"
    if change.verb == "change":
        before, after = (
            console.to_short(value, _MAX_VALUE) for value in (change.before, change.after)
        )
        after = after if change.is_certain else "?"
        text = f"{format_path(change.path)}: {before} becomes {after}"
    elif change.verb == "rename":
        text = f'"{change.before}" becomes "{change.after}", the object stays'
    else:
        orphan = f", and {change.before} stays behind" if change.before else ""
        text = f"{change.object}{orphan}"
    return f"{subject}{', later' if change.is_later else ''}: {text}"


def _group(plans: Sequence[XrPlan]) -> list[_Entry]:
    """Return the causes: one for each verb, place and field."""
    entries: dict[object, _Entry] = {}
    for plan in plans:
        for change in plan.changes:
            place = change.span and (change.span.name, change.span.line)
            field = () if change.verb in {"destroy", "add"} and place else change.path
            is_field = change.verb == "change"
            values = (change.before, change.after, change.is_certain) if is_field else ()
            head = (change.verb, change.is_later, plan.composition, change.step)
            cause = (head, place, field, *map(str, values))
            entries.setdefault(cause, []).append((plan.xr, change))
    order = sorted(entries.values(), key=lambda entry: -len(entry))
    return sorted(order, key=lambda entry: _VERBS.index(entry[0][1].verb))


def _list_reasons(plans: Sequence[XrPlan]) -> list[tuple[tuple[str, str], list[str]]]:
    """Return the reasons for which XRs have no plan, and drift, with the XRs of each."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for plan in plans:
        if text := _VERDICTS.get(plan.verdict):
            reasons.setdefault((text, plan.reason), []).append(plan.xr)
        for drift in plan.drift:
            message = f"{drift} is not what the Composition before desires"
            reasons.setdefault(("drift", message), []).append(plan.xr)
    return sorted(reasons.items())

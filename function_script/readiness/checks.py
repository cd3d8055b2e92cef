"""The checks that rules are made of: conditions, fields, replicas. Each gives a function.

Used by the table of kinds and by the rules of authors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.objects import find_condition, find_path
from function_script.readiness.verdict import READY, Check, Verdict, not_ready

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Readable

    Resource = Mapping[str, Readable]


def exists(_: Resource) -> Verdict:
    """Ready because it is there: for kinds that no controller reports on."""
    return READY


def condition(kind: str, status: str = "True") -> Check:
    """The condition has this status, and was judged for the spec the object has now."""

    def check(resource: Resource) -> Verdict:
        found = find_condition(resource, kind)
        if found is None:
            return not_ready(f"has no condition {kind} yet")
        if _is_stale(resource, found.get("observedGeneration")):
            return not_ready(f"has a condition {kind} of an older generation")
        if found.get("status") != status:
            reason = found.get("reason")
            because = f": {reason}" if isinstance(reason, str) and reason else ""
            return not_ready(f"has {kind}={found.get('status')}{because}")
        return READY

    return check


def field(path: str) -> Check:
    """The field is there, and neither null nor empty."""

    def check(resource: Resource) -> Verdict:
        return READY if is_there(find_path(resource, path)) else not_ready(f"has no {path} yet")

    return check


def field_is(path: str, *expected: Readable) -> Check:
    """The field has one of these values."""

    def check(resource: Resource) -> Verdict:
        found = find_path(resource, path)
        if any(_is_same(found, one) for one in expected):
            return READY
        shown = " or ".join(map(shown_value, expected))
        return not_ready(f"has no {path}={shown} yet")

    return check


def all_of(*checks: Check) -> Check:
    """Every check holds; the first that does not is the reason."""

    def check(resource: Resource) -> Verdict:
        verdicts = (one(resource) for one in checks)
        return next((verdict for verdict in verdicts if not verdict.is_ready), READY)

    return check


def any_of(*checks: Check) -> Check:
    """One check holds; the first is the reason when none does."""

    def check(resource: Resource) -> Verdict:
        verdicts = [one(resource) for one in checks]
        return next((verdict for verdict in verdicts if verdict.is_ready), verdicts[0])

    return check


def when(special: Check, check: Check) -> Check:
    """An object that passes ``special`` has to pass ``check``; any other is ready as it exists."""

    def check_special(resource: Resource) -> Verdict:
        return check(resource) if special(resource).is_ready else READY

    return check_special


def observed(resource: Resource) -> Verdict:
    """The controller has seen the spec the object has now: ``status.observedGeneration``."""
    seen = find_path(resource, ("status", "observedGeneration"))
    if seen is None:
        return not_ready("was not seen by its controller yet")
    if _is_stale(resource, seen):
        return not_ready("was not seen by its controller since its last change")
    return READY


def replicas(*counts: str, wanted: str = "spec.replicas", default: int = 1) -> Check:
    """Each of the counts below ``status`` has reached the wanted number of replicas."""

    def check(resource: Resource) -> Verdict:
        number = _number(find_path(resource, wanted), default)
        for name in counts:
            count = _number(find_path(resource, ("status", name)), 0)
            if count < number:
                return not_ready(f"has {name} {count:g} of {number:g}")
        return READY

    return check


def is_there(value: Readable) -> bool:
    """Whether a field says something: a null or an empty text does not."""
    return value is not None and value != ""


def shown_value(value: Readable) -> str:
    """A scalar as YAML shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _is_same(found: Readable, expected: Readable) -> bool:
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


def _is_stale(resource: Resource, seen: Readable) -> bool:
    """Whether what was judged for the generation ``seen`` is out of date.

    A controller that says no generation is believed.
    """
    generation = find_path(resource, ("metadata", "generation"))
    known = isinstance(seen, (int, float)) and isinstance(generation, (int, float))
    return known and _number(seen, 0) < _number(generation, 0)


def _number(value: Readable, default: float) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, (int, float)) else default

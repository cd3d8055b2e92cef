"""Verdicts on objects, the checks that rules are made of, and the rules that authors state."""

import json
import re
from collections.abc import Callable, Mapping
from math import ceil, inf
from typing import Final, NamedTuple, TypeAlias

from function_script.request.objects import Path, find_condition, find_path, parse_path
from function_script.request.values import Readable

_CONDITION: Final = re.compile(r"condition\s+(?P<type>[A-Za-z0-9./_-]+)(\s*==\s*(?P<status>\w+))?")
_COMPARISON: Final = re.compile(r"(?P<path>[^=\s]+)\s*==\s*(?P<value>.+)")
_ROOTS: Final = ("data", "metadata", "spec", "status")
_NOT_A_PATH: Final = re.compile(r"[\s=]")
_STATUSES: Final = ("True", "False", "Unknown")
HINT: Final = (
    'write "Exists", "Never", "condition Available", "status.endpoint" or "status.phase == Bound"'
)

Resource: TypeAlias = Mapping[str, Readable]


class Lack(NamedTuple):
    """The part that an object needs to be ready: a condition of this type, or a field at a path."""

    at: str | Path
    value: Readable


class Verdict(NamedTuple):
    """The readiness of an object; ``why`` follows its name: ``does not exist yet``.

    ``why`` is empty for a ready object. It has no times and no free texts of controllers: they
    would change while the object stays as it is, and each change is reported. ``lack`` is the
    first field to set; None: no status makes the object ready.
    """

    is_ready: bool
    why: str = ""
    lack: Lack | None = None


Check: TypeAlias = Callable[[Resource], Verdict]

READY = Verdict(is_ready=True)


def not_ready(why: str, lack: Lack | None = None) -> Verdict:
    """Return the verdict on an object that is not ready."""
    return Verdict(is_ready=False, why=why, lack=lack)


def exists(_: Resource) -> Verdict:
    """Accept every object that exists: for kinds that no controller reports on."""
    return READY


def never(_: Resource) -> Verdict:
    """Accept no object: an author holds back what depends on it."""
    return not_ready("is never ready by its own rule")


def condition(kind: str, status: str = "True") -> Check:
    """Require a condition with this status, of the object's present generation."""
    lack = Lack(kind, status)

    def check(resource: Resource) -> Verdict:
        current = find_condition(resource, kind)
        if current is None:
            return not_ready(f"has no condition {kind} yet", lack)
        if _is_stale(resource, current.get("observedGeneration")):
            return not_ready(f"has a condition {kind} of an older generation", lack)
        if current.get("status") != status:
            reason = current.get("reason")
            because = f": {reason}" if isinstance(reason, str) and reason else ""
            return not_ready(f"has {kind}={current.get('status')}{because}", lack)
        return READY

    return check


def field(path: str, example: str = "") -> Check:
    """Require a field that is neither null nor an empty text, such as the example."""
    lack = Lack(parse_path(path), example) if example else None

    def check(resource: Resource) -> Verdict:
        if has_value(find_path(resource, path)):
            return READY
        return not_ready(f"has no {path} yet", lack)

    return check


def field_is(path: str, *expected: Readable) -> Check:
    """Require a field with one of these values; a boolean equals no number."""

    def check(resource: Resource) -> Verdict:
        value = find_path(resource, path)
        for each in expected:
            if value == each and isinstance(value, bool) == isinstance(each, bool):
                return READY
        choices = " or ".join(map(_to_yaml, expected))
        return not_ready(f"has no {path}={choices} yet", Lack(parse_path(path), expected[0]))

    return check


def all_of(*checks: Check) -> Check:
    """Require every check to hold; the first that does not gives the reason."""

    def check(resource: Resource) -> Verdict:
        verdicts = (each(resource) for each in checks)
        return next((verdict for verdict in verdicts if not verdict.is_ready), READY)

    return check


def any_of(*checks: Check) -> Check:
    """Require one check to hold; the first one gives the reason when none does."""

    def check(resource: Resource) -> Verdict:
        verdicts = [each(resource) for each in checks]
        return next((verdict for verdict in verdicts if verdict.is_ready), verdicts[0])

    return check


def when(selector: Check, check: Check) -> Check:
    """Require ``check`` of objects that pass ``selector``; others are ready once they exist."""

    def check_selection(resource: Resource) -> Verdict:
        return check(resource) if selector(resource).is_ready else READY

    return check_selection


def observed(resource: Resource) -> Verdict:
    """Require ``status.observedGeneration`` of the object's present generation."""
    generation = find_path(resource, ("status", "observedGeneration"))
    if generation is not None and not _is_stale(resource, generation):
        return READY
    when = "yet" if generation is None else "since its last change"
    present = find_path(resource, ("metadata", "generation"))
    lack = Lack(("status", "observedGeneration"), 1 if present is None else present)
    return not_ready(f"was not seen by its controller {when}", lack)


def replicas(*counts: str, target: str = "spec.replicas", default: int = 1) -> Check:
    """Require each of the counts below ``status`` to reach the number at ``target``."""

    def check(resource: Resource) -> Verdict:
        number = _to_number(find_path(resource, target), default)
        for name in counts:
            count = _to_number(find_path(resource, ("status", name)), 0)
            if count < number:
                lack = Lack(("status", name), ceil(number))
                return not_ready(f"has {name} {count:g} of {number:g}", lack)
        return READY

    return check


def has_value(value: Readable) -> bool:
    """Report whether a field is neither null nor an empty text."""
    return value is not None and value != ""


def _to_yaml(value: Readable) -> str:
    """Write a value as a rule has it: a text that reads as another value is in quotes."""
    if isinstance(value, str) and _parse_value(value) == value:
        return value
    return json.dumps(value)


def _is_stale(resource: Resource, observed_generation: Readable) -> bool:
    """Report whether a status is of an older generation; one without a generation is not."""
    generation = find_path(resource, ("metadata", "generation"))
    # One that is no number is of every generation.
    return _to_number(observed_generation, inf) < _to_number(generation, 0)


def _to_number(value: Readable, default: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return default


def parse_rule(text: str) -> Check:
    """Parse the rule that an author states for one resource (``ready-when``).

    Raises ValueError "cannot read the rule …".
    """
    rule = text.strip()
    if rule == "Exists":
        return exists
    if rule == "Never":
        return never
    if match := _CONDITION.fullmatch(rule):
        status = match["status"] or "True"
        if status not in _STATUSES:
            cause = f"a condition is {', '.join(_STATUSES)}, not {status}"
            raise ValueError(f'cannot read the rule "{rule}": {cause}')
        return condition(match["type"], status)
    if match := _COMPARISON.fullmatch(rule):
        return field_is(_check_path(rule, match["path"]), _parse_value(match["value"]))
    return field(_check_path(rule, rule))


def read_awaited(text: str) -> Path:
    """Return the path of the field that a rule waits for; () for a rule without one."""
    match = _COMPARISON.fullmatch(text.strip())
    try:
        return parse_path(_check_path(text, match["path"] if match else text.strip()))
    except ValueError:
        return ()


def _check_path(text: str, path: str) -> str:
    """Return the path of a field, which must lie below one of the usual roots."""
    try:
        parts = parse_path(path)
    except ValueError as error:
        raise ValueError(f'cannot read the rule "{text}": {error}') from error
    # One word alone is a misspelled keyword rather than a field of every object.
    if not parts[1:] or parts[0] not in _ROOTS or _NOT_A_PATH.search(path):
        raise ValueError(f'cannot read the rule "{text}": {HINT}')
    return path


def _parse_value(text: str) -> Readable:
    """Parse a scalar of JSON; any other text is itself."""
    text = text.strip()
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, (str, int, float, bool)) else text

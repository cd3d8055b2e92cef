"""Parser of the readiness rule that an author states for one resource (``ready-when``)."""

import json
import re
from typing import Final

from function_script.request.objects import parse_path
from function_script.request.values import Readable
from function_script.step.readiness import checks

_CONDITION: Final = re.compile(r"condition\s+(?P<type>[A-Za-z0-9./_-]+)(\s*==\s*(?P<status>\w+))?")
_COMPARISON: Final = re.compile(r"(?P<path>[^=\s]+)\s*==\s*(?P<value>.+)")
_ROOTS: Final = ("data", "metadata", "spec", "status")
_NOT_A_PATH: Final = re.compile(r"[\s=]")
_STATUSES: Final = ("True", "False", "Unknown")
HINT: Final = (
    'write "Exists", "Never", "condition Available", "status.endpoint" or "status.phase == Bound"'
)


class Rule:
    """A check with its source text; equal texts are equal rules."""

    __slots__ = ("_check", "text")

    def __init__(self, text: str, check: checks.Check) -> None:
        self.text = text
        self._check = check

    def __call__(self, resource: checks.Resource) -> checks.Verdict:
        """Judge an object that exists."""
        return self._check(resource)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def parse_rule(text: str) -> Rule:
    """Parse a rule; raises ValueError "cannot read the rule …"."""
    rule = text.strip()
    check: checks.Check
    if rule == "Exists":
        check = checks.exists
    elif rule == "Never":
        check = checks.never
    elif match := _CONDITION.fullmatch(rule):
        status = match["status"] or "True"
        if status not in _STATUSES:
            cause = f"a condition is {', '.join(_STATUSES)}, not {status}"
            raise ValueError(f'cannot read the rule "{rule}": {cause}')
        check = checks.condition(match["type"], status)
    elif match := _COMPARISON.fullmatch(rule):
        check = checks.field_is(_check_path(rule, match["path"]), _parse_value(match["value"]))
    else:
        check = checks.field(_check_path(rule, rule))
    return Rule(text, check)


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

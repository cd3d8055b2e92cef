"""An author's own rule for one resource, from the text it is written as.

Called by whoever reads what a program said: the annotation ``ready-when`` and its like.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from function_script.objects import parse_path
from function_script.readiness import checks
from function_script.readiness.verdict import Verdict, not_ready

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.readiness.verdict import Check
    from function_script.values import Readable

_CONDITION: Final = re.compile(r"condition\s+(?P<type>[A-Za-z0-9./_-]+)(\s*==\s*(?P<status>\w+))?")
_COMPARISON: Final = re.compile(r"(?P<path>[^=\s]+)\s*==\s*(?P<value>.+)")
_ROOTS: Final = ("data", "metadata", "spec", "status")
_NOT_A_PATH: Final = re.compile(r"[\s=]")
_STATUSES: Final = ("True", "False", "Unknown")
HINT: Final = (
    'write "Exists", "Never", "condition Available", "status.endpoint" or "status.phase == Bound"'
)


class Rule:
    """A check with the text it was written as; equal texts are equal rules."""

    __slots__ = ("_check", "text")

    def __init__(self, text: str, check: Check) -> None:
        self.text = text
        self._check = check

    def __call__(self, resource: Mapping[str, Readable]) -> Verdict:
        """The verdict on an object that exists."""
        return self._check(resource)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def parse_rule(text: str) -> Rule:
    """The rule a text stands for; raises ValueError "cannot read the rule …"."""
    return Rule(text, _check(text.strip()))


def _check(text: str) -> Check:
    if text == "Exists":
        return checks.exists
    if text == "Never":
        return _never
    if found := _CONDITION.fullmatch(text):
        return _condition(text, found["type"], found["status"] or "True")
    if found := _COMPARISON.fullmatch(text):
        return checks.field_is(_path(text, found["path"]), _value(found["value"].strip()))
    return checks.field(_path(text, text))


def _never(_: Mapping[str, Readable]) -> Verdict:
    return not_ready("is never ready by its own rule")


def _condition(text: str, kind: str, status: str) -> Check:
    if status not in _STATUSES:
        allowed = ", ".join(_STATUSES)
        raise ValueError(f'cannot read the rule "{text}": a condition is {allowed}, not {status}')
    return checks.condition(kind, status)


def _path(text: str, path: str) -> str:
    try:
        parts = parse_path(path)
    except ValueError as error:
        raise ValueError(f'cannot read the rule "{text}": {error}') from error
    # One word alone is a misspelled keyword rather than a field of every object.
    if not parts[1:] or parts[0] not in _ROOTS or _NOT_A_PATH.search(path):
        raise ValueError(f'cannot read the rule "{text}": {HINT}')
    return path


def _value(text: str) -> Readable:
    """A scalar as JSON has it; any other text is taken as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, (str, int, float, bool)) else text

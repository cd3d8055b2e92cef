"""A CRD's x-kubernetes-validations: rules in CEL, evaluated as on creation of the object.

The evaluator is an optional dependency (extra `cel`) that is imported when the first rule is met.
A rule that it cannot evaluate is reported as such; it never counts as passed or failed.
"""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.tools import schemas
from function_script.tools.validate.findings import Problem, Unevaluated
from function_script.values import type_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.values import Object, Value

RULES: Final = "x-kubernetes-validations"
_OLD_SELF: Final = re.compile(r"\boldSelf\b")
_NOT_INSTALLED: Final = "install function-script[cel] to evaluate rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One rule and the value it is for."""

    path: str
    value: Value
    schema: Object
    rule: str
    message: str
    field_path: str


def check(value: Value, schema: Object) -> tuple[list[Problem], list[Unevaluated]]:
    """What ``value``'s rules refuse, and which of them could not be evaluated."""
    problems: list[Problem] = []
    unevaluated: list[Unevaluated] = []
    for rule in _rules(value, schema, ""):
        reason = _NOT_INSTALLED
        if is_available():
            outcome = _evaluate(rule)
            if outcome is None:
                continue
            is_failure, reason = outcome
            if is_failure:
                problems.append(_problem(rule, reason))
                continue
        unevaluated.append(Unevaluated(field=rule.path, rule=rule.rule, reason=reason))
    return problems, unevaluated


def is_available() -> bool:
    """Whether the evaluator is installed."""
    return importlib.util.find_spec("celpy") is not None


def _rules(value: Value, schema: Object, path: str) -> Iterator[_Rule]:
    """The rules of ``value`` and of everything below it."""
    if value is None:
        return
    found = schema.get(RULES)
    for item in found if isinstance(found, list) else ():
        if isinstance(item, dict) and not _is_for_updates(item):
            yield _Rule(
                path=path,
                value=value,
                schema=schema,
                rule=str(item.get("rule", "")),
                message=str(item.get("message") or "").strip(),
                field_path=str(item.get("fieldPath") or ""),
            )
    for place, part, field in schemas.below(value, schema):
        yield from _rules(part, field, schemas.at(path, place))


def _is_for_updates(item: Object) -> bool:
    """Rules that compare with the object's former state do not apply to its creation."""
    return bool(_OLD_SELF.search(str(item.get("rule")))) and not item.get("optionalOldSelf")


def _evaluate(rule: _Rule) -> tuple[bool, str] | None:
    """None when the rule holds; else whether it failed, and how, or could not be evaluated."""
    from function_script.tools.validate import cel  # noqa: PLC0415 - optional, and slow to import

    try:
        holds = cel.evaluate(rule.rule, rule.value, rule.schema)
    except cel.RuleError as error:
        return True, f"failed rule: {rule.rule}: {error}"
    except cel.UnsupportedError as error:
        return False, str(error)
    return None if holds else (True, f"failed rule: {rule.rule}")


def _problem(rule: _Rule, reason: str) -> Problem:
    field = f"{rule.path}{rule.field_path}".removeprefix(".")
    shown = json.dumps(rule.value) if isinstance(rule.value, str | int | float) else ""
    shown = shown or f'"{type_name(rule.value)}"'
    text = f"{field or '<root>'}: Invalid value: {shown}: {rule.message or reason}"
    return Problem(type="cel", field=field, message=text, value=rule.value)

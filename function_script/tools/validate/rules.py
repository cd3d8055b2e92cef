"""A CRD's x-kubernetes-validations: rules in CEL, evaluated as on creation of the object.

The evaluator is an optional dependency (extra `cel`), and a process that the first rule starts.
A rule that it cannot evaluate is reported as such; it never counts as passed or failed.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.tools import structural_schema
from function_script.tools.validate import wording
from function_script.tools.validate.evaluator import RuleError, UnsupportedError
from function_script.tools.validate.findings import Problem, SkippedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.tools.validate.evaluator import Evaluator
    from function_script.values import Object, Value

RULES: Final = "x-kubernetes-validations"
_OLD_SELF: Final = re.compile(r"\boldSelf\b")
_NOT_INSTALLED: Final = "install function-script[cel] to evaluate rules"
_DUPLICATE: Final = "Duplicate value"
_REASONS: Final = {
    "FieldValueForbidden": "Forbidden",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": _DUPLICATE,
}
_WITHOUT_VALUE: Final = ("Forbidden", "Required value")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One rule and the value it is for."""

    path: str
    value: Value
    schema: Object
    rule: str
    message: str
    message_expression: str
    field_path: str
    reason: str


def check(
    value: Value, schema: Object, evaluator: Evaluator
) -> tuple[list[Problem], list[SkippedRule]]:
    """What ``value``'s rules refuse, and which of them could not be evaluated."""
    problems: list[Problem] = []
    unevaluated: list[SkippedRule] = []
    for rule in _rules(value, schema, ""):
        found = (
            _evaluate(rule, evaluator) if is_available() else _not_evaluated(rule, _NOT_INSTALLED)
        )
        if isinstance(found, SkippedRule):
            unevaluated.append(found)
        elif found is not None:
            problems.append(found)
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
        if isinstance(item, dict) and item.get("rule") and not _is_for_updates(item):
            yield _Rule(
                path=path,
                value=value,
                schema=schema,
                rule=str(item["rule"]).strip(),
                message=str(item.get("message") or "").strip(),
                message_expression=str(item.get("messageExpression") or ""),
                field_path=str(item.get("fieldPath") or ""),
                reason=_REASONS.get(str(item.get("reason")), "Invalid value"),
            )
    named = structural_schema.properties(schema)
    for place, part, field in structural_schema.below(value, schema):
        is_named = isinstance(place, str) and place in named
        at = structural_schema.at(path, place) if is_named else f"{path}[{place}]"
        yield from _rules(part, field, at)


def _is_for_updates(item: Object) -> bool:
    """Rules that compare with the object's former state do not apply to its creation."""
    return bool(_OLD_SELF.search(str(item.get("rule")))) and not item.get("optionalOldSelf")


def _evaluate(rule: _Rule, evaluator: Evaluator) -> Problem | SkippedRule | None:
    """None when the rule holds."""
    try:
        found = evaluator.evaluate(rule.rule, rule.value, rule.schema)
    except RuleError as error:
        return _unanswered(rule, str(error))
    except UnsupportedError as error:
        return _not_evaluated(rule, str(error))
    if isinstance(found, str):
        return _unanswered(rule, "it gives no boolean")
    return None if found else _broken(rule, _message(rule, evaluator))


def _message(rule: _Rule, evaluator: Evaluator) -> str:
    """What the rule says of an object that breaks it."""
    fallback = rule.message or f"failed rule: {rule.rule}"
    if not rule.message_expression:
        return fallback
    try:
        found = evaluator.evaluate(rule.message_expression, rule.value, rule.schema)
    except (RuleError, UnsupportedError):
        return fallback
    text = found.strip() if isinstance(found, str) else ""
    return fallback if not text or "\n" in text else text


def _broken(rule: _Rule, message: str) -> Problem:
    """The object breaks the rule. Only of scalars the value is shown."""
    field = f"{rule.path}{rule.field_path}".removeprefix(".") or wording.NO_FIELD
    is_scalar = not isinstance(rule.value, dict | list)
    value: Value = rule.value if is_scalar else {}
    parts = [field, rule.reason]
    if rule.reason in _WITHOUT_VALUE:
        value = ""
    elif is_scalar:
        parts.append(wording.shown(value))
    if rule.reason != _DUPLICATE:
        parts.append(message)
    return Problem(type="cel", field=field, value=value, message=": ".join(parts))


def _unanswered(rule: _Rule, fault: str) -> Problem:
    """The rule fails in itself, as for a field that is not there."""
    field = rule.path or wording.NO_FIELD
    kind = str(rule.schema.get("type") or wording.type_of(rule.value))
    text = f'Invalid value: "{kind}": {fault} evaluating rule: {rule.message or rule.rule}'
    return Problem(type="cel", field=field, value=kind, message=f"{field}: {text}")


def _not_evaluated(rule: _Rule, reason: str) -> SkippedRule:
    return SkippedRule(field=rule.path, rule=rule.rule, reason=reason)

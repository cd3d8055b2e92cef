"""Evaluation of x-kubernetes-validations: a CRD's rules in CEL, as on creation of the object.

The evaluator is an optional dependency (extra `cel`) and runs in a process that the first rule
starts. A rule that cannot be evaluated is reported as such; it never counts as passed or failed.
"""

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from function_script.request.values import Object, Value
from function_script.texts.problems import list_choices, suggest
from function_script.tools import structural_schema
from function_script.tools.validate import wording
from function_script.tools.validate.evaluator import EVALUATOR, RuleError, UnsupportedError
from function_script.tools.validate.report import Problem, SkippedRule

RULES: Final = "x-kubernetes-validations"
_OLD_SELF: Final = re.compile(r"\boldSelf\b")
_NOT_INSTALLED: Final = "install function-script[cel] to evaluate rules"
_DUPLICATE: Final = "Duplicate value"
_MAX_MESSAGE_BYTES: Final = 5 << 10
_REASONS: Final = {
    "FieldValueForbidden": "Forbidden",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": _DUPLICATE,
}
_PRESERVE: Final = structural_schema.PRESERVE
# An object with one of these may have other fields than its schema names.
_OPEN: Final = {"additionalProperties", "x-kubernetes-embedded-resource", _PRESERVE}
# Signs and reserved words have underscores in CEL.
_SELF_FIELD: Final = re.compile(r"(?<![\w.])self\.([A-Za-z][A-Za-z0-9]*)\b(?! *\()")
_STRING: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_WITHOUT_VALUE: Final = ("Forbidden", "Required value")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One rule, by its entry in the schema, and the value that it validates.

    ``path`` is as the API server writes it, ``position`` as `objects.parse_path` reads it. ``old``
    is the value before a change, for a rule that compares with it.
    """

    path: str
    position: str
    value: Value
    schema: Object
    rule: str
    entry: Object
    old: Value = None

    def text(self, key: str) -> str:
        """Return a text of the entry, or ""."""
        return str(self.entry.get(key) or "")


def check(
    value: Value, schema: Object, old: Value = None
) -> tuple[list[Problem], list[SkippedRule]]:
    """Return the rules that ``value`` violates, and those that could not be evaluated.

    With an ``old`` value before it, they are those of the parts that are other ones. Those that
    could not be evaluated are then those that compare both: others may have refused ``old``, too.
    """
    problems: list[Problem] = []
    unevaluated: list[SkippedRule] = []
    for rule in _rules(value, schema, old):
        outcome = _evaluate(rule)
        if isinstance(outcome, Problem):
            problems.append(outcome)
        elif outcome is not None and (old is None or rule.old is not None):
            unevaluated.append(outcome)
    return problems, unevaluated


def _rules(
    value: Value, schema: Object, old: Value = None, path: str = "", position: str = ""
) -> Iterator[_Rule]:
    """Yield the rules of ``value`` and of everything below it.

    A rule that compares with the former state applies where there is one. Items of lists have none.
    Values that are as before have no rules.
    """
    if value is None or value == old:
        return
    listed = schema.get(RULES)
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict) or not item.get("rule"):
            continue
        rule = str(item["rule"]).strip()
        # With optionalOldSelf the API server applies the rule on creation, too.
        is_transition = not item.get("optionalOldSelf") and bool(_OLD_SELF.search(rule))
        if not is_transition or old is not None:
            yield _Rule(
                path=path,
                position=position,
                value=value,
                schema=schema,
                rule=rule,
                entry=item,
                old=old if is_transition else None,
            )
    fields = structural_schema.properties(schema)
    for key, part, field in structural_schema.below(value, schema):
        is_named = isinstance(key, str) and key in fields
        # In the API server's paths a key of a map is in brackets, whatever its characters are.
        part_path = structural_schema.at(path, key) if is_named else f"{path}[{key}]"
        old_part = old.get(key) if isinstance(old, dict) and isinstance(key, str) else None
        yield from _rules(part, field, old_part, part_path, structural_schema.at(position, key))


def _evaluate(rule: _Rule) -> Problem | SkippedRule | None:
    """Evaluate a rule; None when it holds."""
    if importlib.util.find_spec("celpy") is None:
        return _skipped(rule, _NOT_INSTALLED)
    try:
        result = EVALUATOR.evaluate(rule.rule, rule.value, rule.schema, rule.old)
    except RuleError as error:
        return _failed_rule(rule, str(error))
    except UnsupportedError as error:
        return _skipped(rule, str(error))
    if isinstance(result, str):
        return _failed_rule(rule, "it gives no boolean")
    return None if result else _violation(rule, _message(rule))


def _message(rule: _Rule) -> str:
    """Return the rule's message for an object that violates it."""
    fallback = rule.text("message").strip() or f"failed rule: {rule.rule}"
    expression = rule.text("messageExpression")
    if not expression:
        return fallback
    try:
        result = EVALUATOR.evaluate(expression, rule.value, rule.schema, rule.old)
    except (RuleError, UnsupportedError):
        return fallback
    text = result.strip() if isinstance(result, str) else ""
    # The API server takes no message of several lines, and no longer one.
    is_refused = not text or "\n" in text or len(text.encode()) > _MAX_MESSAGE_BYTES
    return fallback if is_refused else text


def _violation(rule: _Rule, message: str) -> Problem:
    """Return the problem of an object that violates a rule; only scalar values are quoted."""
    reason = _REASONS.get(rule.text("reason"), "Invalid value")
    field = f"{rule.path}{rule.text('fieldPath')}".removeprefix(".") or wording.NO_FIELD
    is_scalar = not isinstance(rule.value, dict | list)
    value: Value = rule.value if is_scalar else {}
    parts = [field, reason]
    if reason in _WITHOUT_VALUE:
        value = ""
    elif is_scalar:
        parts.append(wording.format_value(value))
    if reason != _DUPLICATE:
        parts.append(message)
    return Problem(
        type="cel",
        field=field,
        value=value,
        message=": ".join(parts),
        path=f"{rule.position}{rule.text('fieldPath')}".removeprefix("."),
    )


def _failed_rule(rule: _Rule, fault: str) -> Problem:
    """Return the problem of a rule that fails itself, as for an absent field."""
    field = rule.path or wording.NO_FIELD
    kind = str(rule.schema.get("type") or wording.type_of(rule.value))
    name = rule.text("message").strip() or rule.rule
    text = f'Invalid value: "{kind}": {fault} evaluating rule: {name}'
    hints = (hint for _, hint in find_unknown_fields(rule.rule, rule.schema))
    problem = Problem(type="cel", field=field, message=f"{field}: {text}", path=rule.position)
    return replace(problem, value=kind, hint=next(hints, None))


def find_unknown_fields(rule: str, schema: Object) -> Iterator[tuple[str, str]]:
    """Yield the fields of an object that its rule reads and its schema lacks, with hints."""
    fields = tuple(structural_schema.properties(schema))
    is_open = not _OPEN.isdisjoint(schema)
    for name in _SELF_FIELD.findall(_STRING.sub("", rule)) if fields and not is_open else ():
        if name not in fields:
            yield name, suggest(name, fields) or list_choices(fields)


def _skipped(rule: _Rule, reason: str) -> SkippedRule:
    return SkippedRule(field=rule.path, rule=rule.rule, reason=reason)

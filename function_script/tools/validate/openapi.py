"""Validation of an object against a CRD's OpenAPI schema, in the order of the API server.

The checks are those of the Kubernetes API server, which differ from JSON Schema in types, null,
patterns and formats.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from function_script.request import quantities
from function_script.request.values import Object, Value
from function_script.tools import structural_schema
from function_script.tools.validate import formats, wording
from function_script.tools.validate.report import Problem, SkippedRule

_NUMERIC: Final = {"integer", "number"}
_ALTERNATIVES: Final = {"anyOf", "oneOf", "allOf", "not"}
# Larger numbers are not integers to the API server's library.
_WHOLE: Final = (1 << 53) - 1


def check(value: Object, schema: Object) -> tuple[list[Problem], list[SkippedRule]]:
    """Return everything in ``value`` that ``schema`` does not allow, sorted by field.

    A keyword of the schema that has a wrong type counts as absent. Behind the problems are the
    patterns that were not evaluated.
    """
    unevaluated: list[SkippedRule] = []
    outcome = _validate(_Subject(value, schema, "", unevaluated))
    return outcome.problems, unevaluated


class _Outcome:
    """Problems, and the number of checks: the nearest alternative is the one with the most."""

    def __init__(self, problems: Iterable[Problem] = (), checks: int = 0) -> None:
        self.problems = list(problems)
        self.checks = checks

    def add(self, other: _Outcome) -> None:
        """Add the outcome of another check, without duplicates."""
        self.problems += [each for each in other.problems if each not in self.problems]
        self.checks += other.checks


class _Subject:
    """A value, its schema, and its path, which is empty for the root."""

    def __init__(
        self, value: Value, schema: Object, path: str, unevaluated: list[SkippedRule]
    ) -> None:
        self.value = value
        self.schema = schema
        self.path = path
        self.unevaluated = unevaluated

    def types(self) -> list[str]:
        """Return the types that the schema allows; an empty list allows any."""
        if self.schema.get(structural_schema.INT_OR_STRING) is True:
            return ["integer", "string"]
        if self.schema.get(structural_schema.QUANTITY) is True:
            return ["number", "string"]
        name = self.schema.get("type")
        return [name] if isinstance(name, str) and name else []

    def format(self) -> str:
        """Return the schema's format if the API server checks it, else an empty text."""
        name = self.schema.get("format")
        return name if isinstance(name, str) and formats.is_known(name) else ""

    def limit(self, keyword: str) -> float | None:
        """Return the number behind ``keyword``, or None."""
        limit = self.schema.get(keyword)
        return limit if isinstance(limit, int | float) and not isinstance(limit, bool) else None

    def alternatives(self, keyword: str) -> list[_Subject]:
        """Return the value with each of the schemas in the list behind ``keyword``."""
        schemas = self.schema.get(keyword)
        return [
            _Subject(self.value, schema, self.path, self.unevaluated)
            for schema in (schemas if isinstance(schemas, list) else ())
            if isinstance(schema, dict)
        ]

    def child(self, key: str | int, value: Value, schema: Object) -> _Subject:
        """Return a field or an item of this value."""
        return _Subject(value, schema, structural_schema.at(self.path, key), self.unevaluated)


def _validate(subject: _Subject) -> _Outcome:
    """Apply the checks for the type of the value."""
    value, format_ = subject.value, subject.format()
    parts: list[_Outcome] = []
    if value is None or subject.types() or format_:
        parts.append(_check_type(subject))
    if value is not None:
        parts.append(_check_alternatives(subject))
    if isinstance(value, str):
        is_wrong = bool(format_) and not formats.is_valid(value, format_)
        problems = [wording.wrong_type(subject.path, format_, value)] if is_wrong else []
        parts += [_check_text(subject, value), _Outcome(problems)]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        parts.append(_check_number(subject, value))
    elif isinstance(value, list):
        parts.append(_check_list(subject, value))
    parts.append(_check_enum(subject))
    if isinstance(value, dict):
        parts.append(_check_object(subject, value))
    is_present = value is not None
    outcome = _Outcome(checks=int(is_present))
    for part in parts:
        outcome.add(part)
        outcome.checks += is_present
    return outcome


def _check_type(subject: _Subject) -> _Outcome:
    types, value = subject.types(), subject.value
    if value is None:
        is_allowed = not types or "null" in types or subject.schema.get("nullable") is True
    elif subject.format() and not _NUMERIC & set(types) and isinstance(value, str | list):
        # Formats have a check of their own, even for a list.
        is_allowed = True
    elif subject.format() and not types:
        return _Outcome([wording.wrong_type(subject.path, subject.format(), "")])
    elif wording.type_of(value) == "number":
        is_allowed = "number" in types or ("integer" in types and _is_whole(value))
    else:
        is_allowed = wording.type_of(value) in types
    if is_allowed:
        return _Outcome(checks=1)
    return _Outcome([wording.wrong_type(subject.path, ",".join(types), wording.type_of(value))])


def _is_whole(value: Value) -> bool:
    return isinstance(value, int | float) and abs(value) <= _WHOLE and value == int(value)


def _check_alternatives(subject: _Subject) -> _Outcome:
    outcome = _Outcome(checks=1)
    # Few schemas have any, and every value of an object comes here.
    if _ALTERNATIVES.isdisjoint(subject.schema):
        return outcome
    outcome.add(_check_any_of(subject))
    outcome.add(_check_one_of(subject))
    outcome.add(_check_all_of(subject))
    excluded = subject.schema.get("not")
    if isinstance(excluded, dict):
        before = len(subject.unevaluated)
        inner = _validate(_Subject(subject.value, excluded, subject.path, subject.unevaluated))
        # A pattern that was not evaluated counts as matching, which would break `not`.
        if not inner.problems and len(subject.unevaluated) == before:
            text = f'"{subject.path}" must not validate the schema (not)'
            outcome.add(_Outcome([wording.whole(subject.path, text)]))
    return outcome


def _check_any_of(subject: _Subject) -> _Outcome:
    outcomes = [_validate(alternative) for alternative in subject.alternatives("anyOf")]
    fitting = [outcome for outcome in outcomes if not outcome.problems]
    if fitting or not outcomes:
        return fitting[0] if fitting else _Outcome()
    text = f'"{subject.path}" must validate at least one schema (anyOf)'
    return _failed(subject.path, text, _nearest(outcomes))


def _check_one_of(subject: _Subject) -> _Outcome:
    before = len(subject.unevaluated)
    outcomes = [_validate(alternative) for alternative in subject.alternatives("oneOf")]
    fitting = [outcome for outcome in outcomes if not outcome.problems]
    if len(subject.unevaluated) > before:
        return _Outcome()
    if len(fitting) == 1 or not outcomes:
        return fitting[0] if fitting else _Outcome()
    count = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
    text = f'"{subject.path}" must validate one and only one schema (oneOf). {count}'
    return _failed(subject.path, text, None if fitting else _nearest(outcomes))


def _check_all_of(subject: _Subject) -> _Outcome:
    outcomes = [_validate(part) for part in subject.alternatives("allOf")]
    total = _Outcome()
    for outcome in outcomes:
        total.add(outcome)
    fitting = sum(not outcome.problems for outcome in outcomes)
    if fitting < len(outcomes):
        count = "" if fitting else ". None validated"
        text = f'"{subject.path}" must validate all the schemas (allOf){count}'
        total.add(_Outcome([wording.whole(subject.path, text)]))
    return total


def _nearest(outcomes: list[_Outcome]) -> _Outcome:
    """Return the alternative to report: the first of those with the most checks."""
    return max(outcomes, key=lambda outcome: outcome.checks)


def _failed(path: str, text: str, nearest: _Outcome | None) -> _Outcome:
    outcome = _Outcome([wording.whole(path, text)])
    if nearest is not None:
        outcome.add(nearest)
    return outcome


def _check_text(subject: _Subject, text: str) -> _Outcome:
    """Check length and pattern; only the first violation counts."""
    path = subject.path
    is_quantity = subject.schema.get(structural_schema.QUANTITY) is True
    if is_quantity and not quantities.is_quantity(text):
        return _Outcome([wording.wrong_type(path, "quantity", text)])
    longest, shortest = subject.limit("maxLength"), subject.limit("minLength")
    pattern = subject.schema.get("pattern")
    if longest is not None and len(text) > longest:
        return _Outcome([wording.too_long(path, int(longest))])
    if shortest is not None and len(text) < shortest:
        fault = f"should be at least {int(shortest)} chars long"
        return _Outcome([wording.invalid(path, text, fault)])
    if isinstance(pattern, str) and pattern and (fault := _mismatch(pattern, text, subject)):
        return _Outcome([wording.invalid(path, text, f"should match '{fault}'")])
    return _Outcome()


def _mismatch(pattern: str, text: str, subject: _Subject) -> str:
    """Return the pattern if ``text`` does not match it, with the fault of an invalid pattern."""
    try:
        return "" if formats.is_match(pattern, text) else pattern
    except ValueError as error:
        return f"{pattern}, but pattern is invalid: {error}"
    except formats.NotEvaluatedError as error:
        fault = SkippedRule(field=subject.path, rule=pattern, reason=str(error), type="pattern")
        if fault not in subject.unevaluated:
            subject.unevaluated.append(fault)
        return ""


def _check_number(subject: _Subject, value: float) -> _Outcome:
    faults: list[str] = []
    factor = subject.limit("multipleOf")
    if factor is not None and factor > 0 and not _is_whole(value / factor):
        faults.append(f"should be a multiple of {wording.number(factor)}")
    lowest, highest = subject.limit("minimum"), subject.limit("maximum")
    excludes = subject.schema.get("exclusiveMinimum") is True
    if lowest is not None and (value < lowest or (excludes and value == lowest)):
        than = "greater than" if excludes else "greater than or equal to"
        faults.append(f"should be {than} {wording.number(lowest)}")
    excludes = subject.schema.get("exclusiveMaximum") is True
    if highest is not None and (value > highest or (excludes and value == highest)):
        than = "less than" if excludes else "less than or equal to"
        faults.append(f"should be {than} {wording.number(highest)}")
    problems = [wording.invalid(subject.path, value, fault) for fault in faults]
    if subject.types() == ["integer"] and not (
        value == int(value) and -(1 << 63) <= value < 1 << 63
    ):
        text = f"Checked value must be of type integer (default format) in {subject.path}"
        problems.insert(0, wording.whole(subject.path, text))
    return _Outcome(problems, checks=1)


def _check_list(subject: _Subject, items: list[Value]) -> _Outcome:
    outcome = _Outcome(checks=1)
    below = structural_schema.items(subject.schema)
    if below is not None:
        for index, item in enumerate(items):
            outcome.add(_validate(subject.child(index, item, below)))
    outcome.problems += _wrong_size(subject, "Items", len(items))
    if subject.schema.get("uniqueItems") is True and len(set(map(_key, items))) < len(items):
        outcome.problems.append(wording.invalid(subject.path, "", "shouldn't contain duplicates"))
    return outcome


def _wrong_size(subject: _Subject, of: str, size: int) -> Iterator[Problem]:
    lowest, highest = subject.limit(f"min{of}"), subject.limit(f"max{of}")
    if lowest is not None and size < lowest:
        text = f"should have at least {int(lowest)} {of.lower()}"
        yield wording.invalid(subject.path, size, text)
    if highest is not None and size > highest:
        yield wording.too_many(subject.path, size, int(highest))


def _check_enum(subject: _Subject) -> _Outcome:
    allowed = subject.schema.get("enum")
    if not isinstance(allowed, list) or not allowed:
        return _Outcome()
    if any(_key(subject.value) == _key(item) for item in allowed):
        return _Outcome()
    return _Outcome([wording.unsupported(subject.path, subject.value, allowed)])


def _key(value: Value) -> str:
    """Serialize a value: equal values have equal texts; 1 equals 1.0, but not true."""
    whole = int(value) if isinstance(value, float) and _is_whole(value) else value
    return json.dumps(whole, sort_keys=True)


def _check_object(subject: _Subject, value: Object) -> _Outcome:
    schema = subject.schema
    outcome = _Outcome(_wrong_size(subject, "Properties", len(value)))
    fields, others = structural_schema.properties(schema), structural_schema.additional(schema)
    is_closed = schema.get("additionalProperties") is False
    for key in sorted(value):
        if key not in fields and others is not None:
            outcome.add(_validate(subject.child(key, value[key], others)))
        elif key not in fields and is_closed:
            outcome.problems.append(wording.forbidden(subject.path, key))
    for key in sorted(fields.keys() & value.keys()):
        outcome.add(_validate(subject.child(key, value[key], fields[key])))
    required = schema.get("required")
    names = list(map(str, required)) if isinstance(required, list) else []
    if schema.get(structural_schema.EMBEDDED) is True:
        names += ["apiVersion", "kind"]
    outcome.problems += [
        wording.missing(structural_schema.at(subject.path, name))
        for name in dict.fromkeys(names)
        if name not in value
    ]
    return outcome

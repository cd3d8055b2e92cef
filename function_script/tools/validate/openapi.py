"""An object against a CRD's OpenAPI schema: what it refuses, in the order the API server looks.

Called by `validate` and by the conformance tests of our own CRDs. The checks are those of the
Kubernetes API server, which differ from JSON Schema in types, null, patterns and formats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from function_script.tools import structural_schema
from function_script.tools.validate import formats, patterns, wording
from function_script.tools.validate.findings import SkippedRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.tools.validate.findings import Problem
    from function_script.values import Object, Value

_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_NUMERIC: Final = {"integer", "number"}
# The largest and smallest numbers that are integers to the API server's library.
_WHOLE: Final = (1 << 53) - 1


def problems(value: Object, schema: Object) -> list[Problem]:
    """Everything in ``value`` that ``schema`` does not allow, an object's fields in their order.

    A keyword of the schema that is of a wrong type counts as absent.
    """
    return check(value, schema)[0]


def check(value: Object, schema: Object) -> tuple[list[Problem], list[SkippedRule]]:
    """The problems, and the patterns that were not evaluated."""
    unevaluated: list[SkippedRule] = []
    found = _validate(_Place(value, schema, "", unevaluated)).problems
    return found, unevaluated


class _Outcome:
    """What was found, and how many checks there were: the nearest alternative has the most."""

    def __init__(self, found: Iterable[Problem] = (), checks: int = 0) -> None:
        self.problems = list(found)
        self.checks = checks

    def add(self, other: _Outcome) -> None:
        """Take in what another check found; the same is told once."""
        self.problems += [found for found in other.problems if found not in self.problems]
        self.checks += other.checks


class _Place:
    """A value, its schema, and its path, which is empty for the object itself."""

    def __init__(
        self, value: Value, schema: Object, path: str, unevaluated: list[SkippedRule]
    ) -> None:
        self.value = value
        self.schema = schema
        self.path = path
        self.unevaluated = unevaluated

    def types(self) -> list[str]:
        """The types that the schema allows; none: any."""
        if self.schema.get(_INT_OR_STRING) is True:
            return ["integer", "string"]
        found = self.schema.get("type")
        return [found] if isinstance(found, str) and found else []

    def format(self) -> str:
        """The format that the schema asks for, if it is one that the API server knows."""
        found = self.schema.get("format")
        return found if isinstance(found, str) and formats.is_known(found) else ""

    def limit(self, keyword: str) -> float | None:
        """The number behind ``keyword``."""
        found = self.schema.get(keyword)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def alternatives(self, keyword: str) -> list[_Place]:
        """The same value with each of the schemas in the list behind ``keyword``."""
        found = self.schema.get(keyword)
        return [
            _Place(self.value, schema, self.path, self.unevaluated)
            for schema in (found if isinstance(found, list) else ())
            if isinstance(schema, dict)
        ]

    def child(self, key: str | int, value: Value, schema: Object) -> _Place:
        """A field or an item of this value."""
        return _Place(value, schema, structural_schema.at(self.path, key), self.unevaluated)


def _validate(place: _Place) -> _Outcome:
    is_there = place.value is not None
    outcome = _Outcome(checks=int(is_there))
    for found in _outcomes(place):
        outcome.add(found)
        outcome.checks += is_there
    return outcome


def _outcomes(place: _Place) -> Iterator[_Outcome]:
    """What applies to the value, by its own type."""
    value = place.value
    if value is None or place.types() or place.format():
        yield _check_type(place)
    if value is not None:
        yield _check_alternatives(place)
    if isinstance(value, str):
        yield _check_text(place, value)
        yield _check_format(place, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _check_number(place, value)
    elif isinstance(value, list):
        yield _check_list(place, value)
    yield _check_enum(place)
    if isinstance(value, dict):
        yield _check_object(place, value)


def _check_type(place: _Place) -> _Outcome:
    types, value = place.types(), place.value
    if value is None:
        is_allowed = not types or "null" in types or place.schema.get("nullable") is True
    elif place.format() and not _NUMERIC & set(types) and isinstance(value, str | list):
        # Formats are left to their own check, even for a list.
        is_allowed = True
    elif place.format() and not types:
        return _Outcome([wording.wrong_type(place.path, place.format(), "")])
    else:
        is_allowed = _is_of(value, types)
    if is_allowed:
        return _Outcome(checks=1)
    return _Outcome([wording.wrong_type(place.path, ",".join(types), wording.type_of(value))])


def _is_of(value: Value, types: list[str]) -> bool:
    found = wording.type_of(value)
    if found == "number":
        return "number" in types or ("integer" in types and _is_whole(value))
    return found in types


def _is_whole(value: Value) -> bool:
    return isinstance(value, int | float) and abs(value) <= _WHOLE and value == int(value)


def _check_alternatives(place: _Place) -> _Outcome:
    outcome = _Outcome(checks=1)
    outcome.add(_check_any_of(place))
    outcome.add(_check_one_of(place))
    outcome.add(_check_all_of(place))
    banned = place.schema.get("not")
    if isinstance(banned, dict):
        before = len(place.unevaluated)
        inner = _validate(_Place(place.value, banned, place.path, place.unevaluated))
        # A pattern that was not evaluated counts as matching, which would break `not`.
        if not inner.problems and len(place.unevaluated) == before:
            text = f'"{place.path}" must not validate the schema (not)'
            outcome.add(_Outcome([wording.whole(text)]))
    return outcome


def _check_any_of(place: _Place) -> _Outcome:
    outcomes = [_validate(alternative) for alternative in place.alternatives("anyOf")]
    fitting = [outcome for outcome in outcomes if not outcome.problems]
    if fitting or not outcomes:
        return fitting[0] if fitting else _Outcome()
    text = f'"{place.path}" must validate at least one schema (anyOf)'
    return _failed(text, _nearest(outcomes))


def _check_one_of(place: _Place) -> _Outcome:
    before = len(place.unevaluated)
    outcomes = [_validate(alternative) for alternative in place.alternatives("oneOf")]
    fitting = [outcome for outcome in outcomes if not outcome.problems]
    if len(place.unevaluated) > before:
        return _Outcome()
    if len(fitting) == 1 or not outcomes:
        return fitting[0] if fitting else _Outcome()
    count = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
    text = f'"{place.path}" must validate one and only one schema (oneOf). {count}'
    return _failed(text, None if fitting else _nearest(outcomes))


def _check_all_of(place: _Place) -> _Outcome:
    outcomes = [_validate(part) for part in place.alternatives("allOf")]
    together = _Outcome()
    for outcome in outcomes:
        together.add(outcome)
    fitting = sum(not outcome.problems for outcome in outcomes)
    if fitting < len(outcomes):
        count = "" if fitting else ". None validated"
        text = f'"{place.path}" must validate all the schemas (allOf){count}'
        together.add(_Outcome([wording.whole(text)]))
    return together


def _nearest(outcomes: list[_Outcome]) -> _Outcome:
    """The alternative to tell about: the first of those with the most checks."""
    return max(outcomes, key=lambda outcome: outcome.checks)


def _failed(text: str, nearest: _Outcome | None) -> _Outcome:
    outcome = _Outcome([wording.whole(text)])
    if nearest is not None:
        outcome.add(nearest)
    return outcome


def _check_text(place: _Place, text: str) -> _Outcome:
    """The first of length and pattern that is broken."""
    path = place.path
    longest, shortest = place.limit("maxLength"), place.limit("minLength")
    pattern = place.schema.get("pattern")
    if longest is not None and len(text) > longest:
        return _Outcome([wording.too_long(path, int(longest))])
    if shortest is not None and len(text) < shortest:
        fault = f"should be at least {int(shortest)} chars long"
        return _Outcome([wording.invalid(path, text, fault)])
    if isinstance(pattern, str) and pattern and (fault := _mismatch(pattern, text, place)):
        return _Outcome([wording.invalid(path, text, f"should match '{fault}'")])
    return _Outcome()


def _mismatch(pattern: str, text: str, place: _Place) -> str:
    """The pattern when ``text`` does not match it, with what is wrong with the pattern itself."""
    try:
        return "" if patterns.is_match(pattern, text) else pattern
    except ValueError as error:
        return f"{pattern}, but pattern is invalid: {error}"
    except patterns.NotEvaluatedError as error:
        fault = SkippedRule(field=place.path, rule=pattern, reason=str(error), type="pattern")
        if fault not in place.unevaluated:
            place.unevaluated.append(fault)
        return ""


def _check_format(place: _Place, text: str) -> _Outcome:
    name = place.format()
    if not name or formats.is_valid(text, name):
        return _Outcome()
    return _Outcome([wording.wrong_type(place.path, name, text)])


def _check_number(place: _Place, value: float) -> _Outcome:
    found = [wording.invalid(place.path, value, text) for text in _broken_bounds(place, value)]
    if place.types() == ["integer"] and not (value == int(value) and -(1 << 63) <= value < 1 << 63):
        text = f"Checked value must be of type integer (default format) in {place.path}"
        found.insert(0, wording.whole(text))
    return _Outcome(found, checks=1)


def _broken_bounds(place: _Place, value: float) -> Iterator[str]:
    factor = place.limit("multipleOf")
    if factor is not None and factor > 0 and not _is_whole(value / factor):
        yield f"should be a multiple of {wording.number(factor)}"
    lowest, highest = place.limit("minimum"), place.limit("maximum")
    excludes = place.schema.get("exclusiveMinimum") is True
    if lowest is not None and (value < lowest or (excludes and value == lowest)):
        than = "greater than" if excludes else "greater than or equal to"
        yield f"should be {than} {wording.number(lowest)}"
    excludes = place.schema.get("exclusiveMaximum") is True
    if highest is not None and (value > highest or (excludes and value == highest)):
        than = "less than" if excludes else "less than or equal to"
        yield f"should be {than} {wording.number(highest)}"


def _check_list(place: _Place, items: list[Value]) -> _Outcome:
    outcome = _Outcome(checks=1)
    below = structural_schema.items(place.schema)
    if below is not None:
        for index, item in enumerate(items):
            outcome.add(_validate(place.child(index, item, below)))
    outcome.problems += _wrong_size(place, "Items", len(items))
    if place.schema.get("uniqueItems") is True and len(set(map(_key, items))) < len(items):
        outcome.problems.append(wording.invalid(place.path, "", "shouldn't contain duplicates"))
    return outcome


def _wrong_size(place: _Place, of: str, size: int) -> Iterator[Problem]:
    lowest, highest = place.limit(f"min{of}"), place.limit(f"max{of}")
    if lowest is not None and size < lowest:
        text = f"should have at least {int(lowest)} {of.lower()}"
        yield wording.invalid(place.path, size, text)
    if highest is not None and size > highest:
        yield wording.too_many(place.path, size, int(highest))


def _check_enum(place: _Place) -> _Outcome:
    allowed = place.schema.get("enum")
    if not isinstance(allowed, list) or not allowed:
        return _Outcome()
    if any(_key(place.value) == _key(item) for item in allowed):
        return _Outcome()
    return _Outcome([wording.unsupported(place.path, place.value, allowed)])


def _key(value: Value) -> str:
    """The same text for the same value only: 1 is 1.0, but not true."""
    whole = int(value) if isinstance(value, float) and _is_whole(value) else value
    return json.dumps(whole, sort_keys=True)


def _check_object(place: _Place, value: Object) -> _Outcome:
    schema = place.schema
    outcome = _Outcome(_wrong_size(place, "Properties", len(value)))
    known, others = structural_schema.properties(schema), structural_schema.additional(schema)
    is_closed = schema.get("additionalProperties") is False
    for key in sorted(value):
        if key not in known and others is not None:
            outcome.add(_validate(place.child(key, value[key], others)))
        elif key not in known and is_closed:
            outcome.problems.append(wording.forbidden(place.path, key))
    for key in sorted(known.keys() & value.keys()):
        outcome.add(_validate(place.child(key, value[key], known[key])))
    outcome.problems += [
        wording.missing(structural_schema.at(place.path, key)) for key in _missing(value, schema)
    ]
    return outcome


def _missing(value: Object, schema: Object) -> Iterator[str]:
    """Required fields that are not there; an embedded object needs its type as well."""
    required = schema.get("required")
    names = list(required) if isinstance(required, list) else []
    if schema.get(structural_schema.EMBEDDED) is True:
        names += ["apiVersion", "kind"]
    for name in dict.fromkeys(map(str, names)):
        if name not in value:
            yield name

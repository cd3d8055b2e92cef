"""Validation of an object against a CRD's OpenAPI schema, in the order of the API server.

The checks are those of the Kubernetes API server, which differ from JSON Schema in types, null,
patterns and formats.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from function_script.request import quantities
from function_script.request.values import Object, Value, text_hint
from function_script.tools import structural_schema
from function_script.tools.validate import formats, wording
from function_script.tools.validate.report import Problem, SkippedRule

_NUMERIC: Final = {"integer", "number"}
_ALTERNATIVES: Final = {"anyOf", "oneOf", "allOf", "not"}
# Larger numbers are not integers to the API server's library.
_WHOLE: Final = (1 << 53) - 1
# The problems of an alternative, and the number of its checks.
_Outcome: TypeAlias = tuple[list[Problem], int]


def check(value: Value, schema: Object, path: str = "") -> tuple[list[Problem], list[SkippedRule]]:
    """Return everything in the ``value`` at ``path`` that ``schema`` does not allow, by field.

    A keyword of the schema that has a wrong type counts as absent. Behind the problems are the
    patterns that were not evaluated.
    """
    walk = _Walk()
    problems = {(each.path, each.message): each for each in walk.find_problems(value, schema, path)}
    return [*problems.values()], walk.unevaluated


class _Walk:
    """Finds the problems of one object, and counts the API server's checks on the way.

    Of alternatives that all fail, the nearest one is that with the most checks.
    """

    def __init__(self) -> None:
        self.unevaluated: list[SkippedRule] = []
        self._checks = 0
        # The values that lists of `enum` allow, by the id of the list.
        self._allowed: dict[int, set[str]] = {}

    def find_problems(self, value: Value, schema: Object, path: str) -> Iterator[Problem]:
        """Yield what a schema does not allow in a value at a path, which is empty for the root."""
        format_ = _format(schema)
        if value is None or _types(schema) or format_:
            problem = _check_type(value, schema, path)
            self._checks += (value is not None) + (problem is None)
            if problem is not None:
                yield problem
        if value is not None:
            # A check of the API server counts itself, and so does what calls it.
            self._checks += 4
            yield from self._check_alternatives(value, schema, path)
        if isinstance(value, str):
            self._checks += 2
            yield from self._check_text(value, schema, path)
            if format_ and not formats.is_valid(value, format_):
                yield wording.wrong_type(path, format_, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._checks += 2
            yield from _check_number(value, schema, path)
        elif isinstance(value, list):
            self._checks += 2
            yield from self._check_list(value, schema, path)
        yield from self._check_enum(value, schema, path)
        if isinstance(value, dict):
            self._checks += 1
            yield from self._check_object(value, schema, path)

    def _check_alternatives(self, value: Value, schema: Object, path: str) -> Iterator[Problem]:
        # Few schemas have any, and every value of an object comes here.
        if _ALTERNATIVES.isdisjoint(schema):
            return
        outcomes = self._try_each(schema.get("anyOf"), value, path)
        fitting = [checks for problems, checks in outcomes if not problems]
        if fitting:
            self._checks += fitting[0]
        elif outcomes:
            yield wording.whole(path, f'"{path}" must validate at least one schema (anyOf)')
            yield from self._take_nearest(outcomes)
        yield from self._check_one_of(value, schema, path)
        outcomes = self._try_each(schema.get("allOf"), value, path)
        for problems, checks in outcomes:
            self._checks += checks
            yield from problems
        if any(problems for problems, _ in outcomes):
            count = ". None validated" if all(problems for problems, _ in outcomes) else ""
            yield wording.whole(path, f'"{path}" must validate all the schemas (allOf){count}')
        skipped = len(self.unevaluated)
        for problems, _ in self._try_each([schema.get("not")], value, path):
            # A pattern that was not evaluated counts as matching, which would break `not`.
            if not problems and len(self.unevaluated) == skipped:
                yield wording.whole(path, f'"{path}" must not validate the schema (not)')

    def _check_one_of(self, value: Value, schema: Object, path: str) -> Iterator[Problem]:
        skipped = len(self.unevaluated)
        outcomes = self._try_each(schema.get("oneOf"), value, path)
        fitting = [checks for problems, checks in outcomes if not problems]
        if len(self.unevaluated) > skipped or not outcomes:
            return
        if len(fitting) == 1:
            self._checks += fitting[0]
            return
        count = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
        text = f'"{path}" must validate one and only one schema (oneOf). {count}'
        yield wording.whole(path, text)
        if not fitting:
            yield from self._take_nearest(outcomes)

    def _try_each(self, schemas: Value, value: Value, path: str) -> list[_Outcome]:
        """Return the outcome of each of the schemas in a list, whose checks are not counted yet."""
        outcomes: list[_Outcome] = []
        before = self._checks
        for schema in schemas if isinstance(schemas, list) else ():
            if isinstance(schema, dict):
                problems = [*self.find_problems(value, schema, path)]
                outcomes.append((problems, self._checks - before))
                self._checks = before
        return outcomes

    def _take_nearest(self, outcomes: list[_Outcome]) -> list[Problem]:
        """Return the problems of the alternative to report: the first one with the most checks."""
        problems, checks = max(outcomes, key=lambda outcome: outcome[1])
        self._checks += checks
        return problems

    def _check_text(self, text: str, schema: Object, path: str) -> Iterator[Problem]:
        """Check length and pattern; only the first violation counts."""
        longest, shortest = _limit(schema, "maxLength"), _limit(schema, "minLength")
        pattern = schema.get("pattern")
        if schema.get(structural_schema.QUANTITY) is True and not quantities.is_quantity(text):
            yield wording.wrong_type(path, "quantity", text)
        elif longest is not None and len(text) > longest:
            yield wording.too_long(path, int(longest))
        elif shortest is not None and len(text) < shortest:
            fault = f"should be at least {int(shortest)} chars long"
            yield wording.invalid(path, text, fault)
        elif isinstance(pattern, str) and (fault := self._mismatch(pattern, text, path)):
            is_number = text.isdecimal() and schema.get(structural_schema.INT_OR_STRING) is True
            hint = "leave the quotes out, or make it a number" if is_number else None
            yield replace(wording.invalid(path, text, f"should match '{fault}'"), hint=hint)

    def _mismatch(self, pattern: str, text: str, path: str) -> str:
        """Return the pattern if a text does not match it, with the fault of an invalid pattern."""
        try:
            return "" if formats.is_match(pattern, text) else pattern
        except ValueError as error:
            return f"{pattern}, but pattern is invalid: {error}"
        except formats.NotEvaluatedError as error:
            rule = SkippedRule(field=path, rule=pattern, reason=str(error), type="pattern")
            if rule not in self.unevaluated:
                self.unevaluated.append(rule)
            return ""

    def _check_enum(self, value: Value, schema: Object, path: str) -> Iterator[Problem]:
        allowed = schema.get("enum")
        if not isinstance(allowed, list) or not allowed:
            return
        if id(allowed) not in self._allowed:
            self._allowed[id(allowed)] = {*map(_key, allowed)}
        if _key(value) not in self._allowed[id(allowed)]:
            yield wording.unsupported(path, value, allowed)

    def _check_list(self, items: list[Value], schema: Object, path: str) -> Iterator[Problem]:
        below = structural_schema.items(schema)
        if below is not None:
            for index, item in enumerate(items):
                yield from self.find_problems(item, below, structural_schema.at(path, index))
        yield from _check_size(len(items), "Items", schema, path)
        if schema.get("uniqueItems") is True and len(set(map(_key, items))) < len(items):
            yield wording.invalid(path, "", "shouldn't contain duplicates")
        yield from _check_identities(items, schema, path)

    def _check_object(self, value: Object, schema: Object, path: str) -> Iterator[Problem]:
        yield from _check_size(len(value), "Properties", schema, path)
        fields, others = structural_schema.properties(schema), structural_schema.additional(schema)
        is_closed = schema.get("additionalProperties") is False
        for key in sorted(value.keys() - fields.keys()):
            if others is not None:
                below = structural_schema.at(path, key)
                yield from self.find_problems(value[key], others, below)
            elif is_closed:
                yield wording.forbidden(path, key)
        for key in sorted(fields.keys() & value.keys()):
            below = structural_schema.at(path, key)
            yield from self.find_problems(value[key], fields[key], below)
        names = structural_schema.required(schema)
        if schema.get(structural_schema.EMBEDDED) is True:
            names += ["apiVersion", "kind"]
        for name in dict.fromkeys(names):
            if name not in value:
                yield wording.missing(structural_schema.at(path, name))


def _types(schema: Object) -> list[str]:
    """Return the types that a schema allows; an empty list allows any."""
    if schema.get(structural_schema.INT_OR_STRING) is True:
        return ["integer", "string"]
    if schema.get(structural_schema.QUANTITY) is True:
        return ["number", "string"]
    name = schema.get("type")
    return [name] if isinstance(name, str) and name else []


def _format(schema: Object) -> str:
    """Return a schema's format if the API server checks it, else an empty text."""
    name = schema.get("format")
    return name if isinstance(name, str) and formats.is_known(name) else ""


def _limit(schema: Object, keyword: str) -> float | None:
    """Return the number behind a keyword, or None."""
    limit = schema.get(keyword)
    return limit if isinstance(limit, int | float) and not isinstance(limit, bool) else None


def _check_type(value: Value, schema: Object, path: str) -> Problem | None:
    types, format_ = _types(schema), _format(schema)
    actual = wording.type_of(value)
    if value is None:
        is_allowed = not types or "null" in types or schema.get("nullable") is True
    elif (
        format_
        and not _NUMERIC & set(types)
        and isinstance(value, str if schema.get(structural_schema.TEXT) is True else str | list)
    ):
        # Formats have a check of their own, even for a list.
        is_allowed = True
    elif format_ and not types:
        return wording.wrong_type(path, format_, "")
    else:
        is_whole = actual == "number" and _is_whole(value)
        is_allowed = actual in types or ("integer" in types and is_whole)
    if is_allowed:
        return None
    return replace(wording.wrong_type(path, ",".join(types), actual), hint=_advise(value, types))


def _advise(value: Value, types: Sequence[str]) -> str | None:
    """Return the hint for a value of another type that quotes, or their absence, have made."""
    if types == ["string"] and isinstance(value, bool | int | float):
        return text_hint(value)
    if types == ["integer"] and isinstance(value, float):
        return "make it a whole number: // divides so, and in Go templates div"
    if not isinstance(value, str):
        return None
    if _NUMERIC & set(types) and value.removeprefix("-").isdecimal():
        return "leave the quotes out, or make it a number"
    is_flag = types == ["boolean"] and value in {"true", "false"}
    return "leave the quotes out, or make it a boolean" if is_flag else None


def _is_whole(value: Value) -> bool:
    return isinstance(value, int | float) and abs(value) <= _WHOLE and value == int(value)


def _check_number(value: float, schema: Object, path: str) -> Iterator[Problem]:
    if _types(schema) == ["integer"] and not (
        value == int(value) and -(1 << 63) <= value < 1 << 63
    ):
        text = f"Checked value must be of type integer (default format) in {path}"
        yield wording.whole(path, text)
    factor = _limit(schema, "multipleOf")
    if factor is not None and factor > 0 and not _is_whole(value / factor):
        yield wording.invalid(path, value, f"should be a multiple of {wording.number(factor)}")
    lowest, highest = _limit(schema, "minimum"), _limit(schema, "maximum")
    excludes = schema.get("exclusiveMinimum") is True
    if lowest is not None and (value < lowest or (excludes and value == lowest)):
        than = "greater than" if excludes else "greater than or equal to"
        yield wording.invalid(path, value, f"should be {than} {wording.number(lowest)}")
    excludes = schema.get("exclusiveMaximum") is True
    if highest is not None and (value > highest or (excludes and value == highest)):
        than = "less than" if excludes else "less than or equal to"
        yield wording.invalid(path, value, f"should be {than} {wording.number(highest)}")


def _check_identities(items: list[Value], schema: Object, path: str) -> Iterator[Problem]:
    """Find items that a set has twice, or that have the keys of another item of a map."""
    keys, kind = schema.get("x-kubernetes-list-map-keys"), schema.get("x-kubernetes-list-type")
    if kind not in ("map", "set"):
        return
    names = {*map(str, keys)} if isinstance(keys, list) else set()
    counts: Counter[str] = Counter()
    for index, item in enumerate(items):
        identity = item
        if kind == "map":
            # An item that is no object has a problem of its own.
            fields = item if isinstance(item, dict) else {}
            identity = {key: part for key, part in fields.items() if key in names}
        counts[_key(identity)] += 1
        # Names that are empty, such as those of ports of a container, are none.
        is_named = not isinstance(identity, dict) or any(identity.values())
        if counts[_key(identity)] > 1 and is_named:
            yield wording.duplicate(structural_schema.at(path, index), identity)


def _check_size(size: int, of: str, schema: Object, path: str) -> Iterator[Problem]:
    lowest, highest = _limit(schema, f"min{of}"), _limit(schema, f"max{of}")
    if lowest is not None and size < lowest:
        text = f"should have at least {int(lowest)} {of.lower()}"
        yield wording.invalid(path, size, text)
    if highest is not None and size > highest:
        yield wording.too_many(path, size, int(highest))


def _key(value: Value) -> str:
    """Serialize a value: equal values have equal texts; 1 equals 1.0, but not true."""
    whole = int(value) if isinstance(value, float) and _is_whole(value) else value
    return json.dumps(whole, sort_keys=True)

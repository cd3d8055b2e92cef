import importlib.util
import subprocess
from typing import Final

import pytest
from support.timing import PATIENCE_SECONDS

from function_script.request.values import Object, Value
from function_script.tools.validate import evaluator as processes
from function_script.tools.validate import rules
from function_script.tools.validate.evaluator import EVALUATOR, Evaluator
from function_script.tools.validate.report import Problem, SkippedRule


def schema(rule: str, message: str = "", **properties: Value) -> Object:
    stated: Object = {"rule": rule} | ({"message": message} if message else {})
    return {"type": "object", "properties": properties, "x-kubernetes-validations": [stated]}


@pytest.fixture(autouse=True)
def _report() -> None:
    """Begin a report for each test."""
    EVALUATOR.begin_report()


def check(value: Value, stated: Object) -> tuple[list[Problem], list[SkippedRule]]:
    """Return the results of a schema's rules."""
    return rules.check(value, stated)


INTEGER: Object = {"type": "integer"}
NUMBER: Object = {"type": "number"}
TEXT: Object = {"type": "string"}
TEXTS: Object = {"type": "array", "items": {"type": "string"}}
INTEGERS: Object = {"type": "array", "items": INTEGER}

HOLDS = {
    "integers": ("self.a > 1", {"a": 2}, INTEGER),
    "numbers-are-doubles": ("self.a > 1.5", {"a": 2}, NUMBER),
    "has": ("has(self.a) && !has(self.b)", {"a": 1}, INTEGER),
    "lazy": ("!has(self.b) || self.b.c > 1", {"a": 1}, INTEGER),
    "in": ("'*' in self.a || 'x' in self.a", {"a": ["x"]}, TEXTS),
    "all": ("self.a.all(x, x.startsWith('a'))", {"a": ["a", "ab"]}, TEXTS),
    "matches": ("self.a.matches('^[a-z]+$')", {"a": "abc"}, TEXT),
    "characters": ("self.a.size() == 2", {"a": "äö"}, TEXT),
    "lists": ("self.a.isSorted() && self.a.min() == 'a'", {"a": ["a", "b"]}, TEXTS),
    "texts": ("self.a.split(',').join('-').upperAscii() == 'X-Y'", {"a": "x,y"}, TEXT),
    "find": ("self.a.find('[0-9]+') == '12'", {"a": "a12b3"}, TEXT),
    "find-all": ("self.a.findAll('[0-9]+') == ['12', '3']", {"a": "a12b3"}, TEXT),
    "index": ("self.a.indexOf('b') == 1", {"a": "abb"}, TEXT),
    "last-index": ("self.a.lastIndexOf('b') == 2", {"a": ["a", "b", "b"]}, TEXTS),
    "substring": ("self.a.substring(1, 2) == 'b'", {"a": "abc"}, TEXT),
    "replace": ("self.a.replace('b', '') == 'ac'", {"a": "abc"}, TEXT),
    "trim": ("self.a.trim().charAt(0) == 'x'", {"a": " x "}, TEXT),
    "ascii": ("self.a.lowerAscii() == 'É-x'", {"a": "É-X"}, TEXT),
    "duration": ("self.a > duration('1m')", {"a": "90s"}, TEXT | {"format": "duration"}),
    "time": (
        "self.a < timestamp('2026-02-01T00:00:00Z')",
        {"a": "2026-01-01T00:00:00Z"},
        TEXT | {"format": "date-time"},
    ),
    "rules-for-updates-do-not-apply": ("self == oldSelf", {"a": 1}, INTEGER),
    "sum": ("self.a.sum() == 3", {"a": [1, 2]}, INTEGERS),
    "null-is-absent": ("!has(self.a)", {"a": None}, TEXT | {"nullable": True}),
}


@pytest.mark.parametrize(("rule", "value", "field"), HOLDS.values(), ids=HOLDS)
def test_rules_that_hold(rule: str, value: Object, field: Object) -> None:
    assert check(value, schema(rule, a=field)) == ([], [])


def test_fields_that_cel_could_not_read_are_escaped() -> None:
    """Reserved words and odd characters are spelled as Kubernetes spells them."""
    rule = "self.__namespace__ == self.a__dash__b && self.x__dot__y == 'v'"
    value: Object = {"namespace": "v", "a-b": "v", "x.y": "v"}
    stated = schema(rule, **dict.fromkeys(value, TEXT))
    assert check(value, stated) == ([], [])


def test_keys_of_maps_are_not_escaped() -> None:
    """Only fields are names; keys are data."""
    stated = schema("self['a-b'] == 'v'") | {"additionalProperties": TEXT}
    assert check({"a-b": "v"}, stated) == ([], [])


def test_broken_rule_tells_its_message() -> None:
    inner = schema("self.a <= self.b", "a must not exceed b", a=INTEGER, b=INTEGER)
    outer: Object = {"type": "object", "properties": {"spec": inner}}
    (problem,), unevaluated = check({"spec": {"a": 2, "b": 1}}, outer)
    assert problem.message == "spec: Invalid value: a must not exceed b"
    assert (problem.type, problem.field, unevaluated) == ("cel", "spec", [])


def test_rule_may_point_to_a_field() -> None:
    stated = schema("self.a > 1", a=INTEGER)
    stated["x-kubernetes-validations"] = [{"rule": "self.a > 1", "fieldPath": ".a"}]
    (problem,), _ = check({"a": 0}, stated)
    assert problem.message == "a: Invalid value: failed rule: self.a > 1"


def test_field_that_is_not_there_fails_the_rule() -> None:
    """A cluster refuses an object whose rule cannot be evaluated."""
    (problem,), _ = check({}, schema("self.a > 1", a=INTEGER))
    assert problem.message == (
        '<nil>: Invalid value: "object": no such key: a evaluating rule: self.a > 1'
    )


# Each with the verdict of the official command, which was asked: None where the rule holds.
ABSENT: Final = "no such key"
RUN_TIME = {
    "not-and": ("!(self.a && self.b)", {}, ABSENT),
    "and": ("self.a && self.b", {}, ABSENT),
    "or": ("self.a || self.b", {}, ABSENT),
    "error-and-false": ("!(self.a && self.b)", {"b": False}, None),
    "false-and-error": ("!(self.b && self.a)", {"b": False}, None),
    "error-and-true": ("self.a && self.b", {"b": True}, ABSENT),
    "error-or-true": ("self.a || self.b", {"b": True}, None),
    "true-or-error": ("self.b || self.a", {"b": True}, None),
    "error-or-false": ("self.a || self.b", {"b": False}, ABSENT),
    "condition": ("self.a ? self.b : true", {"b": True}, ABSENT),
    "other-side": ("self.b ? true : self.a", {"b": True}, None),
    "chosen-side": ("self.b ? self.a : true", {"b": True}, ABSENT),
    "has-of-an-absent-field": ("!has(self.o.x)", {}, ABSENT),
    "has": ("!has(self.o.x)", {"o": {}}, None),
    "index": ("self.l[2] == 1", {"l": [1]}, "index out of bounds: 2"),
    "negative-index": ("self.l[-1] == 1", {"l": [1]}, "index out of bounds: -1"),
    "index-or-true": ("self.l[2] == 1 || true", {"l": [1]}, None),
    "key": ("self.o['x'] == 1", {"o": {}}, "no such key: x"),
    "all": ("self.l.all(i, self.l[i] > 0)", {"l": [5, 6]}, "index"),
    "all-with-a-false": ("!self.l.all(i, self.l[i] > 1)", {"l": [0, 6]}, None),
    "exists": ("self.l.exists(i, self.l[i] > 0)", {"l": [9, 0]}, None),
    "map": ("self.l.map(i, self.l[i])[0] > 0", {"l": [5]}, "index"),
    "map-or-true": ("self.l.map(i, self.l[i])[0] > 0 || true", {"l": [5]}, None),
    "filter": ("self.l.filter(i, i > 1)[0] == 2", {"l": [1]}, "index"),
    "max": ("self.l.max() > 1", {"l": []}, "empty"),
    "min": ("self.l.min() > 1", {"l": []}, "empty"),
    "min-of-a-list": ("self.l.min() == 1", {"l": [2, 1]}, None),
    "int": ("int(self.s) > 1", {"s": "x"}, 'cannot convert "x" to int'),
    "int-of-python": ("int(self.s) > 1", {"s": "1_0"}, "cannot convert"),
    "double": ("double(self.s) > 1.0", {"s": "x"}, "cannot convert"),
    "double-that-is-one": ("double(self.s) > 1.0", {"s": "1.5e0"}, None),
    "bool": ("bool(self.s)", {"s": "12"}, "cannot convert"),
    "bool-that-is-one": ("bool(self.s)", {"s": "1"}, None),
    "uint": ("uint(self.s) > 0u", {"s": "-1"}, "cannot convert"),
    "duration": ("duration(self.s) > duration('0')", {"s": "1d"}, "cannot"),
    "duration-of-go": ("duration(self.s) > duration('0s')", {"s": "1m30s"}, None),
    "timestamp": ("timestamp(self.s) > timestamp(self.s)", {"s": "x"}, "x"),
    "overflow": ("self.n + 9223372036854775807 > 0", {"n": 1}, "overflow"),
    "division": ("1 / self.n == 0", {"n": 0}, "division by zero"),
    "division-or-true": ("1 / self.n == 0 || true", {"n": 0}, None),
    "modulus": ("5 % self.n == 0", {"n": 0}, "zero"),
    "char-at": ("self.s.charAt(9) == ''", {"s": "ab"}, "index out of bounds: 9"),
    "char-at-the-end": ("self.s.charAt(2) == ''", {"s": "ab"}, None),
    "substring": ("self.s.substring(3) == ''", {"s": "ab"}, "index"),
    "substring-backwards": ("self.s.substring(2, 1) == ''", {"s": "ab"}, "index"),
    "index-of": ("self.s.indexOf('b', 9) == 1", {"s": "ab"}, "index"),
    "replace-once": ("self.s.replace('b', 'c', 1) == 'acb'", {"s": "abb"}, None),
    "split-twice": ("self.s.split(',', 2) == ['a', 'b,c']", {"s": "a,b,c"}, None),
    "pattern": ("self.s.matches('(')", {"s": "ab"}, "pattern"),
    "type": ("type(self.n) == int", {"n": 1}, None),
    "no-boolean": ("self.s", {"s": "x"}, "no boolean"),
    "no-boolean-but-a-number": ("self.n", {"n": 1}, "no boolean"),
}


@pytest.mark.parametrize(("rule", "value", "fault"), RUN_TIME.values(), ids=RUN_TIME)
def test_rule_that_fails_when_it_runs_fails_the_object(
    rule: str, value: Object, fault: str | None
) -> None:
    """Only `&&`, `||` and `?:` drop an error, as the language says."""
    fields: Object = {
        "a": {"type": "boolean"},
        "b": {"type": "boolean"},
        "l": INTEGERS,
        "o": {"type": "object", "properties": {"x": INTEGER}},
        "s": TEXT,
        "n": INTEGER,
    }
    problems, unevaluated = check(value, schema(rule, **fields))
    assert unevaluated == []
    if fault is None:
        assert problems == []
    else:
        (problem,) = problems
        assert problem.message.endswith(f"evaluating rule: {rule}")
        assert fault in problem.message


SAID = {
    "forbidden": ({"reason": "FieldValueForbidden"}, "a: Forbidden: no", ""),
    "required": ({"reason": "FieldValueRequired"}, "a: Required value: no", ""),
    "duplicate": ({"reason": "FieldValueDuplicate"}, "a: Duplicate value: 0", 0),
    "message-expression": (
        {"messageExpression": "'it is ' + string(self)"},
        "a: Invalid value: 0: it is 0",
        0,
    ),
    "message-expression-that-fails": (
        {"messageExpression": "self.b"},
        "a: Invalid value: 0: no",
        0,
    ),
    "message-expression-of-5-kib": (
        {"messageExpression": "'" + "é" * 2560 + "'"},
        f"a: Invalid value: 0: {'é' * 2560}",
        0,
    ),
    "message-expression-that-is-too-long": (
        {"messageExpression": "'" + "é" * 2561 + "'"},
        "a: Invalid value: 0: no",
        0,
    ),
}


@pytest.mark.parametrize(("extra", "message", "value"), SAID.values(), ids=SAID)
def test_message_of_a_rule_is_printed(extra: Object, message: str, value: Value) -> None:
    stated: Object = {"rule": "self > 0", "message": "no", **extra}
    field = {**INTEGER, "x-kubernetes-validations": [stated]}
    (problem,), _ = check({"a": 0}, {"type": "object", "properties": {"a": field}})
    assert (problem.message, problem.value) == (message, value)


UNSUPPORTED = {
    "function": ("quantity(self.a).isLessThan(quantity('1Gi'))", 'no function "quantity"'),
    "syntax": ("self.?a.orValue(1) == 1", "cannot parse"),
    "types": ("self.a > 1", "do not go together"),
}


@pytest.mark.parametrize(("rule", "reason"), UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_rule_that_cannot_be_evaluated_is_reported(rule: str, reason: str) -> None:
    problems, (unevaluated,) = check({"a": "1Mi"}, schema(rule, a=TEXT))
    assert problems == []
    assert unevaluated.rule == rule
    assert reason in unevaluated.reason


def test_rules_without_the_evaluator_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra says what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    problems, (unevaluated,) = check({"a": 1}, schema("self.a > 1", a=INTEGER))
    assert problems == []
    assert unevaluated.reason == "install function-script[cel] to evaluate rules"


def test_rules_below_lists_and_maps_are_found() -> None:
    item = schema("self.a > 1", "too small", a=INTEGER)
    stated: Object = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": item},
            "map": {"type": "object", "additionalProperties": item},
        },
    }
    value: Object = {"list": [{"a": 2}, {"a": 1}], "map": {"x": {"a": 0}}}
    problems, _ = check(value, stated)
    assert [problem.field for problem in problems] == ["list[1]", "map[x]"]


TOO_EXPENSIVE = [
    pytest.param(
        "self.a.all(w, self.a.all(x, self.a.all(y, self.a.all(z, w + x + y + z >= 0))))",
        INTEGERS,
        list(range(300)),
        id="300**4",
    ),
    pytest.param(f"self.a.matches('{'(x+x+)+' * 3}y')", TEXT, "x" * 100_000, id="matches"),
]


def test_rule_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither passed nor failed, is not tried again, and the next rule is evaluated."""
    EVALUATOR.stop()
    starts: list[Evaluator] = []
    start = Evaluator._start

    def count(evaluator: Evaluator) -> subprocess.Popen[str]:
        starts.append(evaluator)
        return start(evaluator)

    monkeypatch.setattr(Evaluator, "_start", count)
    monkeypatch.setattr(processes, "RULE_SECONDS", 0.3)
    rule, field, value = TOO_EXPENSIVE[0].values
    for _ in range(2):
        problems, (unevaluated,) = check({"a": value}, schema(rule, a=field))
        assert problems == []
        assert unevaluated.reason == "it is too expensive: it takes longer than 10 s"
    assert len(starts) == 1
    # For the next rule there is time, on the slowest machine.
    monkeypatch.setattr(processes, "RULE_SECONDS", PATIENCE_SECONDS)
    (problem,), _ = check({"a": 1}, schema("self.a > 1", a=INTEGER))
    assert "failed rule" in problem.message


def test_rules_after_several_endless_ones_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a whole report is bounded."""
    monkeypatch.setattr(processes, "RULE_SECONDS", 0.1)
    monkeypatch.setattr(processes, "_SLOW_SECONDS", 0.2)
    expensive, field, value = TOO_EXPENSIVE[0].values
    for number in range(3):
        rule = f"{expensive} && {number} == {number}"
        _, (unevaluated,) = check({"a": value}, schema(rule, a=field))
    assert unevaluated.reason == "the rules before it took too long"


def test_rules_after_many_slow_ones_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them reaches its own time limit, and each report has time of its own."""
    monkeypatch.setattr(processes, "_FAST_SECONDS", 0)
    monkeypatch.setattr(processes, "_SLOW_SECONDS", 1e-6)
    for _ in range(2):
        outcomes = [check({"a": 2}, schema("self.a > 1", a=INTEGER)) for _ in range(2)]
        assert outcomes[0] == ([], [])
        assert [each.reason for each in outcomes[1][1]] == ["the rules before it took too long"]
        EVALUATOR.begin_report()


def test_patterns_in_rules_are_linear() -> None:
    """They are RE2's in `matches`, too."""
    rule, field, value = TOO_EXPENSIVE[1].values
    (problem,), _ = check({"a": value}, schema(rule, a=field))
    assert "failed rule" in problem.message


@pytest.mark.parametrize(
    "rule",
    [
        f"{'(' * 3000}true{')' * 3000}",
        f"{'!' * 5000}true",
        "self.a.map(x, " * 200 + "1" + ")" * 200,
    ],
    ids=["parentheses", "negations", "maps"],
)
def test_rule_that_the_evaluator_cannot_hold(rule: str) -> None:
    problems, result = check({"a": [1]}, schema(rule, a=INTEGERS))
    assert problems == []
    assert all(one.reason for one in result)

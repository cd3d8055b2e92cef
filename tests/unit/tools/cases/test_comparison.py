"""Partial matching: what contains what, and how a difference is told."""

import pytest

from function_script.request.values import Value
from function_script.tools.cases.comparison import find_mismatches, is_same

MATCHES = [
    pytest.param({"a": 1, "b": 2}, {"a": 1}, id="a-map-may-have-more"),
    pytest.param({"a": {"b": {"c": 1}}}, {"a": {"b": {}}}, id="at-any-depth"),
    pytest.param({"a": None}, {"a": None}, id="null-is-null"),
    pytest.param({}, {"a": None}, id="null-is-absent"),
    pytest.param({"a": 1.0}, {"a": 1}, id="integral-doubles"),
    pytest.param([1, {"a": 1}], [1, {"a": 1}], id="lists-as-a-whole"),
    pytest.param([1, 2, 3], {"contains": [3, 1]}, id="some-items-in-any-order"),
    pytest.param([{"a": 1, "b": 2}], {"contains": [{"a": 1}]}, id="items-in-part"),
    pytest.param([1, 2], {"contains": 2}, id="a-single-item"),
    pytest.param({"contains": [1]}, {"contains": [1]}, id="a-field-of-that-name"),
    pytest.param([], {"contains": []}, id="no-items"),
]


@pytest.mark.parametrize(("actual", "expected"), MATCHES)
def test_contained(actual: Value, expected: Value) -> None:
    assert list(find_mismatches(actual, expected)) == []


MISMATCHES = [
    pytest.param({"a": 1}, {"a": True}, ("a",), "a: expected true, found 1", id="true-is-not-1"),
    pytest.param({"a": "1"}, {"a": 1}, ("a",), 'a: expected 1, found "1"', id="text-is-no-number"),
    pytest.param({"a": 1}, {"a": None}, ("a",), "a: expected null, found 1", id="must-be-absent"),
    pytest.param(
        {"a": [{"b": 1, "c": 2}]},
        {"a": [{"b": 1}]},
        ("a",),
        'a: expected [{"b": 1}], found [{"b": 1, "c": 2}]',
        id="items-of-lists-exactly",
    ),
    pytest.param(
        {"a": [1]}, {"a": {"contains": [1, 2]}}, ("a", "contains", 1), None, id="item-missing"
    ),
    pytest.param({"a": 1}, {"a": {}}, ("a",), "a: expected {}, found 1", id="no-map"),
    pytest.param(
        {"a": {}},
        {"a": {"b.c": 1}},
        ("a", "b.c"),
        'a["b.c"]: expected 1, but it is not there',
        id="missing",
    ),
]


@pytest.mark.parametrize(("actual", "expected", "at", "message"), MISMATCHES)
def test_pattern_that_is_not_contained(
    actual: Value, expected: Value, at: tuple[str | int, ...], message: str | None
) -> None:
    (mismatch,) = find_mismatches(actual, expected)
    assert mismatch.at == at
    assert message is None or mismatch.message == message


HINTS = [
    pytest.param({"region": 1}, {"regoin": 1}, 'did you mean "region"?', id="typo"),
    pytest.param({"size": 1}, {"region": 1}, "there is size", id="names"),
    pytest.param({}, {"region": 1}, "there is none at all", id="empty"),
    pytest.param([1], [2], "{contains: [...]}", id="lists"),
]


@pytest.mark.parametrize(("actual", "expected", "hint"), HINTS)
def test_hints(actual: Value, expected: Value, hint: str) -> None:
    (mismatch,) = find_mismatches(actual, expected)
    assert hint in (mismatch.hint or "")


def test_long_values_are_cut() -> None:
    (mismatch,) = find_mismatches("x" * 1000, "y")
    assert len(mismatch.message) < 250


def test_sameness_is_that_of_json() -> None:
    assert is_same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1})
    assert not is_same({"a": 1}, {"a": 1, "b": None})
    assert not is_same([True], [1])

"""Plain data: names of types, integral numbers, texts that UTF-8 can hold."""

import math

import pytest

from function_script.request.values import MAX_SAFE_INTEGER, Value, is_encodable, to_integer


@pytest.mark.parametrize(
    ("number", "result"),
    [
        (1.0, 1),
        (-0.0, 0),
        (1.5, 1.5),
        (float(2**53), 2**53),
        (2.0**60, 2.0**60),
        (10**400, 10**400),
    ],
)
def test_integral_numbers_are_ints_as_far_as_doubles_hold_every_integer(
    number: float, result: float
) -> None:
    assert to_integer(number) == result
    assert type(to_integer(number)) is type(result)
    assert MAX_SAFE_INTEGER == 2**53


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_numbers_that_are_not_finite_stay_as_they_are(number: float) -> None:
    assert to_integer(number) is number


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", True), ("\N{SNOWMAN}", True), ({"a": ["\ud800"]}, False), ({"\udc00": 1}, False)],
)
def test_half_of_a_surrogate_pair_cannot_be_encoded(value: Value, *, expected: bool) -> None:
    assert is_encodable(value) is expected

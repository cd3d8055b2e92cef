"""sprig's decimal arithmetic: ``addf 0.1 0.2`` is 0.3.

Each float stands for the shortest decimal that prints as it; only the result is rounded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.sprig.conversions import to_float64

if TYPE_CHECKING:
    from collections.abc import Callable

# Quotients have this many digits behind the point.
_QUOTIENT_PLACES: Final = 16


def _add(*values: object) -> float:
    return _compute(0.0, values, Fraction.__add__)


def _add_one(value: object) -> float:
    return _compute(value, (1,), Fraction.__add__)


def _sub(first: object, *others: object) -> float:
    return _compute(first, others, Fraction.__sub__)


def _mul(first: object, *others: object) -> float:
    return _compute(first, others, Fraction.__mul__)


def _div(first: object, *others: object) -> float:
    return _compute(first, others, _quotient)


def _quotient(dividend: Fraction, divisor: Fraction) -> Fraction:
    if not divisor:
        raise CallError("decimal division by 0")
    scaled = dividend * 10**_QUOTIENT_PLACES / divisor
    # Halves are rounded away from zero.
    rounded = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(rounded if scaled > 0 else -rounded, 10**_QUOTIENT_PLACES)


def _compute(
    first: object, others: tuple[object, ...], operation: Callable[[Fraction, Fraction], Fraction]
) -> float:
    result = _to_decimal(first)
    for other in others:
        result = operation(result, _to_decimal(other))
    try:
        return float(result)
    except OverflowError:
        return math.inf if result > 0 else -math.inf


def _to_decimal(value: object) -> Fraction:
    number = to_float64(value)
    if math.isfinite(number):
        return Fraction(repr(number))
    name = "NaN" if math.isnan(number) else f"{number:+}".replace("inf", "Inf")
    raise CallError(f"Cannot create a Decimal from {name}")


def _decimal(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, gives="float64")


FUNCTIONS: Final = (
    _decimal("addf", "any...", _add),
    _decimal("add1f", "any", _add_one),
    _decimal("subf", "any any...", _sub),
    _decimal("mulf", "any any...", _mul),
    _decimal("divf", "any any...", _div),
)

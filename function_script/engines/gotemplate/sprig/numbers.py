"""sprig's functions on whole numbers, floats and decimals, and its counters: ``until``, ``seq``.

Whole numbers are int64 and wrap around. In decimal arithmetic each float stands for the shortest
decimal that prints as it, and only the result is rounded: ``addf 0.1 0.2`` is 0.3. Arguments of any
type are converted first.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Final

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig import conversions

FUNCTIONS: Final = FunctionTable()

# Whole numbers


@FUNCTIONS.add("atoi")
def atoi(text: str) -> values.Int:
    """The integer of a text."""
    return values.Int(conversions.parse_decimal(text))


@FUNCTIONS.add("int")
def int_(value: object) -> values.Int:
    """The value as an integer."""
    return values.Int(conversions.to_int64(value))


FUNCTIONS.add("int64", summary="The value as an integer of 64 bits.")(conversions.to_int64)


@FUNCTIONS.add("toDecimal")
def from_octal(run: Run, value: object) -> int:
    """The number of an octal text."""
    return conversions.parse_octal(conversions.print_value(run, value))


@FUNCTIONS.add("add")
def add(*operands: object) -> int:
    """The sum of integers."""
    return values.wrap_int64(sum(map(conversions.to_int64, operands)))


@FUNCTIONS.add("add1")
def add_one(value: object) -> int:
    """The integer plus one."""
    return values.wrap_int64(conversions.to_int64(value) + 1)


@FUNCTIONS.add("sub")
def sub(left: object, right: object) -> int:
    """The first integer minus the second."""
    return values.wrap_int64(conversions.to_int64(left) - conversions.to_int64(right))


@FUNCTIONS.add("mul")
def mul(first: object, *others: object) -> int:
    """The product of integers."""
    return reduce(
        lambda left, right: values.wrap_int64(left * right),
        map(conversions.to_int64, others),
        conversions.to_int64(first),
    )


@FUNCTIONS.add("div")
def div(left: object, right: object) -> int:
    """The quotient of integers, without a fraction."""
    # The smallest number divided by -1 is out of range; Go gives the same number again.
    return values.wrap_int64(_quotient(conversions.to_int64(left), conversions.to_int64(right)))


@FUNCTIONS.add("mod")
def mod(left: object, right: object) -> int:
    """The remainder of the division."""
    dividend, divisor = conversions.to_int64(left), conversions.to_int64(right)
    return dividend - _quotient(dividend, divisor) * divisor


def _quotient(dividend: int, divisor: int) -> int:
    """Return the quotient, cut towards zero."""
    if divisor == 0:
        raise CallError("runtime error: integer divide by zero", Code.DIVISION_BY_ZERO)
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


@FUNCTIONS.add("max", "biggest", parameters="any any...")
def max_(*operands: object) -> int:
    """The largest integer."""
    return max(map(conversions.to_int64, operands))


@FUNCTIONS.add("min", parameters="any any...")
def min_(*operands: object) -> int:
    """The smallest integer."""
    return min(map(conversions.to_int64, operands))


# Floats


FUNCTIONS.add("float64", summary="The value as a number with a fraction.")(conversions.to_float64)


@FUNCTIONS.add("maxf", parameters="any any...")
def max_float(*operands: object) -> float:
    """The largest number."""
    return max(map(_ordered, operands))[0]


@FUNCTIONS.add("minf", parameters="any any...")
def min_float(*operands: object) -> float:
    """The smallest number."""
    return min(map(_ordered, operands))[0]


def _ordered(value: object) -> tuple[float, float]:
    """Return a number with its sign, for -0 is less than 0; raises CallError for NaN."""
    number = conversions.to_float64(value)
    if math.isnan(number):
        raise CallError("NaN has no order")
    return number, math.copysign(1, number)


@FUNCTIONS.add("floor")
def floor(value: object) -> float:
    """The number, rounded down."""
    number = conversions.to_float64(value)
    # An int has no -0, and no infinity.
    return float(math.floor(number)) if math.isfinite(number) and number else number


@FUNCTIONS.add("ceil")
def ceil(value: object) -> float:
    """The number, rounded up."""
    number = conversions.to_float64(value)
    if not math.isfinite(number):
        return number
    # The ceiling of -0.5 is -0.
    return math.copysign(math.ceil(number), number)


@FUNCTIONS.add("round")
def round_(value: object, places: int, *options: float) -> float:
    """The number with N digits after the point.

    Go compares the fraction with its sign: -2.2 becomes -3. Raises CallError for so many digits
    that a power of ten is not exact.
    """
    if abs(places) > _MAX_PLACES:
        raise CallError(f"wants at most {_MAX_PLACES} digits, got {abs(places)}")
    power = 10.0**places if places >= 0 else 1 / 10.0**-places
    digits = power * conversions.to_float64(value)
    if not math.isfinite(digits):
        rounded = digits
    elif math.fmod(digits, 1) >= (options[0] if options else 0.5):
        rounded = math.copysign(math.ceil(digits), digits)
    else:
        rounded = float(math.floor(digits)) if digits else digits
    return rounded / power


# The largest power of ten that a float holds exactly.
_MAX_PLACES: Final = 22


# Counting


@FUNCTIONS.add("until")
def until(run: Run, count: int) -> values.Ints:
    """The integers from 0 up to N, without N."""
    return until_step(run, 0, count, -1 if count < 0 else 1)


@FUNCTIONS.add("untilStep")
def until_step(run: Run, start: int, stop: int, step: int) -> values.Ints:
    """The integers from START up to STOP, by STEP.

    A negative step counts down. There are none if the step leads away from STOP.
    """
    # Rounded up: the last integer may be nearer to STOP than a whole step.
    count = max(0, -((start - stop) // step)) if step else 0
    run.check_list(count)
    return values.Ints(map(values.Int, range(start, start + count * step, step or 1)))


@FUNCTIONS.add("seq")
def seq(run: Run, *numbers: int) -> str:
    """The integers from the first to the last, as one text.

    The arguments are those of the command seq: END, START END or START STEP END, all inclusive.
    """
    if not 1 <= len(numbers) <= len(("start", "step", "end")):
        return ""
    start = numbers[0] if len(numbers) > 1 else 1
    end = numbers[-1]
    direction = -1 if end < start else 1
    step = numbers[1] if len(numbers) == len(("start", "step", "end")) else direction
    if direction < 0 < step:
        return ""
    return " ".join(map(str, until_step(run, start, end + direction, step)))


# Decimals

# Digits of a quotient behind the point.
_QUOTIENT_PLACES: Final = 16


@FUNCTIONS.add("addf")
def add_decimals(*operands: object) -> float:
    """The sum of numbers."""
    return _compute(Fraction.__add__, 0.0, *operands)


@FUNCTIONS.add("add1f")
def add_one_decimal(value: object) -> float:
    """The number plus one."""
    return _compute(Fraction.__add__, 1, value)


@FUNCTIONS.add("subf")
def sub_decimals(first: object, *others: object) -> float:
    """The first number minus the others."""
    return _compute(Fraction.__sub__, first, *others)


@FUNCTIONS.add("mulf")
def mul_decimals(first: object, *others: object) -> float:
    """The product of numbers."""
    return _compute(Fraction.__mul__, first, *others)


@FUNCTIONS.add("divf")
def div_decimals(first: object, *others: object) -> float:
    """The first number, divided by the others."""
    return _compute(_quotient_of_decimals, first, *others)


def _quotient_of_decimals(dividend: Fraction, divisor: Fraction) -> Fraction:
    if not divisor:
        raise CallError("decimal division by 0")
    scaled = dividend * 10**_QUOTIENT_PLACES / divisor
    # Halves are rounded away from zero.
    rounded = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(rounded if scaled > 0 else -rounded, 10**_QUOTIENT_PLACES)


def _compute(
    operation: Callable[[Fraction, Fraction], Fraction], first: object, *others: object
) -> float:
    result = _to_decimal(first)
    for other in others:
        result = operation(result, _to_decimal(other))
    try:
        return float(result)
    except OverflowError:
        return math.inf if result > 0 else -math.inf


def _to_decimal(value: object) -> Fraction:
    number = conversions.to_float64(value)
    if math.isfinite(number):
        return Fraction(repr(number))
    raise CallError(f"Cannot create a Decimal from {printing.float_text(number)}")

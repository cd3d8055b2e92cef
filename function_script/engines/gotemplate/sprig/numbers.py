"""sprig's functions on whole numbers, floats and decimals, and its counters: ``until``, ``seq``.

Whole numbers are int64 and wrap around. In decimal arithmetic each float stands for the shortest
decimal that prints as it, and only the result is rounded: ``addf 0.1 0.2`` is 0.3. Arguments of any
type are converted first.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.printing import to_text
from function_script.engines.gotemplate.sprig.conversions import (
    parse_decimal,
    parse_octal,
    to_float64,
    to_int64,
)
from function_script.engines.gotemplate.values import Int, Ints, wrap_int64

# Whole numbers


def _atoi(text: str) -> Int:
    return Int(parse_decimal(text))


def _int(value: object) -> Int:
    return Int(to_int64(value))


def _from_octal(allocator: Allocator, value: object) -> int:
    if isinstance(value, (dict, list)):
        allocator.check_tree(value)
    return parse_octal(to_text(value))


def _add(*values: object) -> int:
    return wrap_int64(sum(map(to_int64, values)))


def _add_one(value: object) -> int:
    return wrap_int64(to_int64(value) + 1)


def _sub(left: object, right: object) -> int:
    return wrap_int64(to_int64(left) - to_int64(right))


def _mul(first: object, *others: object) -> int:
    return reduce(
        lambda left, right: wrap_int64(left * right), map(to_int64, others), to_int64(first)
    )


def _div(left: object, right: object) -> int:
    return wrap_int64(_quotient(to_int64(left), to_int64(right)))


def _mod(left: object, right: object) -> int:
    dividend, divisor = to_int64(left), to_int64(right)
    return dividend - _quotient(dividend, divisor) * divisor


def _quotient(dividend: int, divisor: int) -> int:
    """Return the quotient, cut towards zero."""
    if divisor == 0:
        raise CallError("runtime error: integer divide by zero")
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _max(*values: object) -> int:
    return max(map(to_int64, values))


def _min(*values: object) -> int:
    return min(map(to_int64, values))


# Floats


def _extreme(limit: float, *values: object) -> float:
    """Return the number nearest to a limit; NaN if there is one, but the limit itself wins."""
    numbers = list(map(to_float64, values))
    sign = math.copysign(1, limit)
    extreme = numbers[0]
    for number in numbers[1:]:
        if limit in {extreme, number}:
            extreme = limit
        elif math.isnan(extreme) or math.isnan(number):
            extreme = math.nan
        elif extreme == number == 0:
            extreme = number if math.copysign(1, number) == sign else extreme
        else:
            extreme = max(extreme, number) if sign > 0 else min(extreme, number)
    return extreme


def _floor(value: object) -> float:
    number = to_float64(value)
    return float(math.floor(number)) if math.isfinite(number) and number else number


def _ceil(value: object) -> float:
    number = to_float64(value)
    if not math.isfinite(number):
        return number
    return math.copysign(math.ceil(number), number)


def _round(value: object, places: int, *options: float) -> float:
    """Round as Go does, which compares the fraction with its sign: -2.2 becomes -3."""
    power = _power_of_ten(places)
    digits = power * to_float64(value)
    if not math.isfinite(digits):
        rounded = digits
    elif math.fmod(digits, 1) >= (options[0] if options else 0.5):
        rounded = math.copysign(math.ceil(digits), digits)
    else:
        rounded = float(math.floor(digits)) if digits else digits
    return _divide(rounded, power)


_TOO_LARGE: Final = 1 << 12


def _power_of_ten(places: int) -> float:
    """Return Go's math.Pow(10, places), which is not always the nearest float."""
    mantissa, exponent = 1.0, 0
    base, base_exponent = math.frexp(10.0)
    bits = abs(places)
    while bits and base_exponent <= _TOO_LARGE:
        if bits & 1:
            mantissa *= base
            exponent += base_exponent
        base, shift = math.frexp(base * base)
        base_exponent = 2 * base_exponent + shift
        bits >>= 1
    if bits:
        return math.inf if places > 0 else 0.0
    if places < 0:
        mantissa, exponent = 1 / mantissa, -exponent
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.inf


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left)


# Counting


def _until(allocator: Allocator, count: int) -> Ints:
    return _until_step(allocator, 0, count, -1 if count < 0 else 1)


def _until_step(allocator: Allocator, start: int, stop: int, step: int) -> Ints:
    """Count up with a positive step, down with a negative one; nothing if it leads away."""
    count = max(0, -((start - stop) // step)) if step else 0
    allocator.check_list(count)
    return Ints(map(Int, range(start, start + count * step, step or 1)))


def _seq(allocator: Allocator, *numbers: int) -> str:
    """Return the output of the command seq: END, START END or START STEP END, all inclusive."""
    if not 1 <= len(numbers) <= len(("start", "step", "end")):
        return ""
    start = numbers[0] if len(numbers) > 1 else 1
    end = numbers[-1]
    direction = -1 if end < start else 1
    step = numbers[1] if len(numbers) == len(("start", "step", "end")) else direction
    if direction < 0 < step:
        return ""
    return " ".join(map(str, _until_step(allocator, start, end + direction, step)))


# Decimals

# Digits of a quotient behind the point.
_QUOTIENT_PLACES: Final = 16


def _decimal_quotient(dividend: Fraction, divisor: Fraction) -> Fraction:
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
    number = to_float64(value)
    if math.isfinite(number):
        return Fraction(repr(number))
    name = "NaN" if math.isnan(number) else f"{number:+}".replace("inf", "Inf")
    raise CallError(f"Cannot create a Decimal from {name}")


def _whole(name: str, parameters: str, call: object) -> Function:
    return Function(name=name, parameters=parameters, call=call, returns="int64")


def _float(name: str, parameters: str, call: object) -> Function:
    return Function(name=name, parameters=parameters, call=call, returns="float64")


_ALLOCATOR: Final = Injects.ALLOCATOR


FUNCTIONS: Final = (
    Function(name="atoi", parameters="string", call=_atoi, returns="int"),
    Function(name="int", parameters="any", call=_int, returns="int"),
    _whole("int64", "any", to_int64),
    Function(
        name="toDecimal", parameters="any", call=_from_octal, injects=_ALLOCATOR, returns="int64"
    ),
    _whole("add", "any...", _add),
    _whole("add1", "any", _add_one),
    _whole("sub", "any any", _sub),
    _whole("mul", "any any...", _mul),
    _whole("div", "any any", _div),
    _whole("mod", "any any", _mod),
    _whole("max", "any any...", _max),
    _whole("biggest", "any any...", _max),
    _whole("min", "any any...", _min),
    _float("float64", "any", to_float64),
    _float("maxf", "any any...", partial(_extreme, math.inf)),
    _float("minf", "any any...", partial(_extreme, -math.inf)),
    _float("floor", "any", _floor),
    _float("ceil", "any", _ceil),
    _float("round", "any int float64...", _round),
    Function(name="until", parameters="int", call=_until, injects=_ALLOCATOR),
    Function(name="untilStep", parameters="int int int", call=_until_step, injects=_ALLOCATOR),
    Function(name="seq", parameters="int...", call=_seq, injects=_ALLOCATOR, returns="string"),
    _float("addf", "any...", partial(_compute, Fraction.__add__, 0.0)),
    _float("add1f", "any", partial(_compute, Fraction.__add__, 1)),
    _float("subf", "any any...", partial(_compute, Fraction.__sub__)),
    _float("mulf", "any any...", partial(_compute, Fraction.__mul__)),
    _float("divf", "any any...", partial(_compute, _decimal_quotient)),
)

"""What ``+``, ``*``, ``in``, ``==`` and their like do: checked for type, size and cost first.

Called by generated code only. Plain Python operators would take any amount of time and memory,
format strings, and call methods of whatever they are given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeGuard

from jinja2 import Undefined
from jinja2.utils import Namespace

from function_script.engines.jinja.budget import (
    CHARACTERS_PER_STEP,
    MAX_BITS,
    MAX_INTEGER,
    Budget,
    shown,
)
from function_script.engines.jinja.exceptions import (
    BudgetError,
    MissingError,
    RenderError,
    a,
)
from function_script.engines.jinja.output import text, to_plain

# Comparing texts is so cheap that a step pays for this many characters.
_COMPARED_PER_STEP = 256
Bounds: TypeAlias = "slice[int | None, int | None, int | None]"
_SET_HINT = "make one with `namespace(x=1)`; data cannot be changed"
_LOOP_HINT = "null is no list: `value or []` is an empty one"


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether arithmetic takes it; booleans count as 0 and 1, as in Python."""
    return isinstance(value, (int, float))


def is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...] | range]:
    """Whether it is a list in the eyes of a template."""
    return isinstance(value, (list, tuple, range))


def add(budget: Budget, left: object, right: object) -> object:
    """Numbers, texts or lists: ``left + right``."""
    if is_number(left) and is_number(right):
        return _checked(left + right)
    if isinstance(left, str) and isinstance(right, str):
        budget.characters(len(left) + len(right))
        return left + right
    if is_list(left) and is_list(right):
        budget.items(len(left) + len(right))
        return [*left, *right]
    raise _refused("add {right} to {left}", left, right, hint="join texts and values with ~")


def subtract(_budget: Budget, left: object, right: object) -> object:
    """``left - right``."""
    if is_number(left) and is_number(right):
        return _checked(left - right)
    raise _refused("subtract {right} from {left}", left, right)


def multiply(budget: Budget, left: object, right: object) -> object:
    """``left * right``: numbers, or a text or a list so many times."""
    if is_number(left) and is_number(right):
        return _checked(left * right)
    if isinstance(right, (str, list, tuple)):
        left, right = right, left
    if isinstance(left, str) and isinstance(right, int):
        budget.characters(len(left) * max(right, 0))
        return left * max(right, 0)
    if isinstance(left, (list, tuple)) and isinstance(right, int):
        budget.items(len(left) * max(right, 0))
        return [*left] * max(right, 0)
    raise _refused("multiply {left} by {right}", left, right)


def divide(_budget: Budget, left: object, right: object) -> object:
    """``left / right``."""
    return _divided(operator.truediv, left, right)


def floor_divide(_budget: Budget, left: object, right: object) -> object:
    """``left // right``."""
    return _divided(operator.floordiv, left, right)


def modulo(_budget: Budget, left: object, right: object) -> object:
    """``left % right``, for numbers only: there is no formatting with ``%``."""
    if isinstance(left, str):
        raise RenderError("formatting a string with % is not available", hint="join with ~")
    return _divided(operator.mod, left, right)


def _divided(
    divide_by: Callable[[float, float], object], left: object, right: object
) -> int | float:
    if not is_number(left) or not is_number(right):
        raise _refused("divide {left} by {right}", left, right)
    if right == 0:
        raise RenderError("division by zero", hint="test that the divisor is not 0 first")
    return _checked(divide_by(left, right))


def power(_budget: Budget, left: object, right: object) -> object:
    """``left ** right``."""
    if not is_number(left) or not is_number(right):
        raise _refused("raise {left} to the power of {right}", left, right)
    if isinstance(left, float) or isinstance(right, float):
        return _float_power(left, right)
    if right < 0:
        raise RenderError("a negative power of an integer", hint="write 1 / x, or use a float")
    bits = left.bit_length() * right
    if bits > MAX_BITS:
        raise BudgetError(f"an integer of {shown(bits)} bits, the limit is {MAX_BITS}")
    return left**right


def _float_power(left: float, right: float) -> float:
    try:
        result = left**right
    except ArithmeticError as error:
        raise RenderError(f"{left} ** {right} is not a finite number") from error
    if not isinstance(result, float):
        raise RenderError(f"{left} ** {right} is not a real number")
    return result


def negate(value: object) -> object:
    """``-value``."""
    if is_number(value):
        return -value
    raise _refused("negate {left}", value, 0)


def affirm(value: object) -> object:
    """``+value``."""
    if is_number(value):
        return +value
    raise _refused("take the number of {left}", value, 0)


def _checked(result: object) -> int | float:
    if isinstance(result, int):
        if -MAX_INTEGER < result < MAX_INTEGER:
            return result
        raise BudgetError(f"an integer of {result.bit_length()} bits, the limit is {MAX_BITS}")
    if isinstance(result, float) and math.isfinite(result):
        return result
    raise RenderError(f"the result {result} is not a finite number")


def equal(budget: Budget, left: object, right: object) -> bool:
    """``left == right``, at any depth."""
    if isinstance(left, str):
        if isinstance(right, str) and len(left) == len(right):
            budget.spend(len(left) // _COMPARED_PER_STEP)
    elif isinstance(left, (Mapping, list, tuple)) and isinstance(right, (Mapping, list, tuple)):
        return to_plain(budget, left) == to_plain(budget, right)
    return bool(left == right)


def unequal(budget: Budget, left: object, right: object) -> bool:
    """``left != right``."""
    return not equal(budget, left, right)


def _order(budget: Budget, left: object, right: object) -> int:
    """Negative, zero or positive, as ``left`` comes before, with or after ``right``."""
    if isinstance(left, str) and isinstance(right, str):
        budget.spend(min(len(left), len(right)) // _COMPARED_PER_STEP)
        return (left > right) - (left < right)
    if is_number(left) and is_number(right):
        return (left > right) - (left < right)
    raise _refused("compare {left} with {right}", left, right)


def less(budget: Budget, left: object, right: object) -> bool:
    """``left < right``."""
    return _order(budget, left, right) < 0


def less_or_equal(budget: Budget, left: object, right: object) -> bool:
    """``left <= right``."""
    return _order(budget, left, right) <= 0


def greater(budget: Budget, left: object, right: object) -> bool:
    """``left > right``."""
    return _order(budget, left, right) > 0


def greater_or_equal(budget: Budget, left: object, right: object) -> bool:
    """``left >= right``."""
    return _order(budget, left, right) >= 0


def contains(budget: Budget, item: object, container: object) -> bool:
    """``item in container``: a key of an object, an item of a list, a part of a text."""
    if isinstance(item, Undefined):
        raise MissingError(item)
    if isinstance(container, Mapping):
        return key(item) in container
    if isinstance(container, str) and isinstance(item, str):
        budget.spend(len(container) // CHARACTERS_PER_STEP)
        return item in container
    if isinstance(container, range):
        return item in container if isinstance(item, int) else False
    if is_list(container):
        return _is_item(budget, item, container)
    raise _refused("look for {left} in {right}", item, container)


def _is_item(budget: Budget, item: object, container: Iterable[object]) -> bool:
    items = list(container)
    if isinstance(item, (Mapping, list, tuple)):
        return any(equal(budget, item, other) for other in items)
    length = len(item) if isinstance(item, str) else 0
    budget.spend(len(items) * (1 + length // _COMPARED_PER_STEP))
    return item in items


def concatenate(budget: Budget, parts: tuple[object, ...]) -> str:
    """``a ~ b ~ c``: each value as it would be written, in one text."""
    return budget.concat([text(budget, part) for part in parts])


def cut(budget: Budget, value: object, bounds: Bounds) -> object:
    """``value[start:stop:step]``."""
    for bound in (value, bounds.start, bounds.stop, bounds.step):
        if isinstance(bound, Undefined):
            raise MissingError(bound)
    if isinstance(value, str):
        budget.characters(len(value))
        return value[bounds]
    if is_list(value):
        budget.spend(len(value))
        return list(value[bounds])
    raise RenderError(f"cannot take a slice of {a(value)}")


def key(value: object) -> object:
    """The value, if it may be the key of an object."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Undefined):
        raise MissingError(value)
    raise RenderError(f"{a(value)} cannot be the key of an object")


def settable(value: object) -> Namespace:
    """The value, if `set` may change its attributes."""
    if isinstance(value, Namespace):
        return value
    raise RenderError("only the attributes of a namespace can be set", hint=_SET_HINT)


def turns(budget: Budget, value: object, steps: int) -> object:
    """What a loop iterates, charged for all its turns: each of them costs so many steps."""
    if isinstance(value, (list, tuple, range, str, Mapping)):
        budget.spend(len(value) * steps)
        return value
    if isinstance(value, Undefined):
        raise MissingError(value)
    raise RenderError(f"cannot loop over {a(value)}", hint=_LOOP_HINT if value is None else None)


def _refused(what: str, left: object, right: object, hint: str | None = None) -> Exception:
    for value in (left, right):
        if isinstance(value, Undefined):
            return MissingError(value)
    return RenderError("cannot " + what.format(left=a(left), right=a(right)), hint=hint)

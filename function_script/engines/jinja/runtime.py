"""The names that generated code imports, as from `jinja2.runtime`: above all operators.

The operators of templates (``+``, ``*``, ``in``, ``==``) are checked for type, size and cost.
Python's own would take any amount of time and memory, format strings, and call methods of any
value.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeGuard

from jinja2 import Undefined
from jinja2.utils import Namespace

from function_script.engines.jinja import exceptions
from function_script.engines.jinja.exceptions import Absent
from function_script.engines.jinja.lookups import Method
from function_script.engines.jinja.output import call_hint, check_key, to_plain, to_text
from function_script.engines.jinja.run import (
    CHARACTERS_PER_STEP,
    MAX_BITS,
    MAX_INTEGER,
    Budget,
    format_amount,
)

__all__ = [
    "Absent",
    "add",
    "affirm",
    "check_key",
    "check_settable",
    "concatenate",
    "contains",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_or_equal",
    "iterate",
    "less",
    "less_or_equal",
    "modulo",
    "multiply",
    "negate",
    "power",
    "subtract",
    "take_slice",
    "to_text",
    "unequal",
]

# Comparing texts is cheap: one step per this many characters.
_COMPARED_PER_STEP = 256
Bounds: TypeAlias = "slice[int | None, int | None, int | None]"
_SET_HINT = "make one with `namespace(x=1)`; data cannot be changed"
_LOOP_HINT = "null is no list: `value or []` is an empty one"
_COUNT_HINT = "write range(n) to count to a number"


def is_number(value: object) -> TypeGuard[int | float]:
    """Report whether arithmetic accepts the value; booleans count as 0 and 1, as in Python."""
    return isinstance(value, (int, float))


def is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...] | range]:
    """Report whether templates treat the value as a list."""
    return isinstance(value, (list, tuple, range))


def add(budget: Budget, left: object, right: object) -> object:
    """Return ``left + right`` of numbers, texts or lists."""
    if is_number(left) and is_number(right):
        return _check_number(left + right)
    if isinstance(left, str) and isinstance(right, str):
        budget.charge_characters(len(left) + len(right))
        return left + right
    if is_list(left) and is_list(right):
        budget.charge_items(len(left) + len(right))
        return [*left, *right]
    raise exceptions.unsuitable("cannot add {1} to {0}", left, right, hint=_add_hint(left, right))


def _arithmetic(
    operate: Callable[[float, float], object], message: str
) -> Callable[[Budget, object, object], object]:
    """Return an operator of two numbers; ``message`` is of values that are none."""

    def apply(_budget: Budget, left: object, right: object) -> object:
        if not is_number(left) or not is_number(right):
            raise exceptions.unsuitable(message, left, right, hint=_convert_hint(left, right))
        try:
            return _check_number(operate(left, right))
        except ZeroDivisionError:
            hint = "test that the divisor is not 0 first"
            raise exceptions.RenderError("division by zero", hint=hint) from None

    return apply


subtract = _arithmetic(operator.sub, "cannot subtract {1} from {0}")
divide = _arithmetic(operator.truediv, "cannot divide {} by {}")
floor_divide = _arithmetic(operator.floordiv, "cannot divide {} by {}")
_remainder = _arithmetic(operator.mod, "cannot divide {} by {}")


def multiply(budget: Budget, left: object, right: object) -> object:
    """Return ``left * right`` of numbers, or a repeated text or list."""
    if is_number(left) and is_number(right):
        return _check_number(left * right)
    if isinstance(right, (str, list, tuple)):
        left, right = right, left
    if isinstance(left, str) and isinstance(right, int):
        budget.charge_characters(len(left) * max(right, 0))
        return left * max(right, 0)
    if isinstance(left, (list, tuple)) and isinstance(right, int):
        budget.charge_items(len(left) * max(right, 0))
        return [*left] * max(right, 0)
    raise exceptions.unsuitable("cannot multiply {} by {}", left, right)


def modulo(budget: Budget, left: object, right: object) -> object:
    """Return ``left % right`` of numbers; there is no formatting with ``%``."""
    if isinstance(left, str):
        raise exceptions.RenderError(
            "formatting a string with % is not available", hint="join with ~"
        )
    return _remainder(budget, left, right)


def power(_budget: Budget, left: object, right: object) -> object:
    """Return ``left ** right``."""
    if not is_number(left) or not is_number(right):
        raise exceptions.unsuitable("cannot raise {} to the power of {}", left, right)
    if isinstance(left, float) or isinstance(right, float):
        try:
            result = left**right
        except ArithmeticError as error:
            raise exceptions.RenderError(f"{left} ** {right} is not a finite number") from error
        if not isinstance(result, float):
            raise exceptions.RenderError(f"{left} ** {right} is not a real number")
        return result
    if right < 0:
        raise exceptions.RenderError(
            "a negative power of an integer", hint="write 1 / x, or use a float"
        )
    # The result has at most so many bits, which is known before it is computed.
    bits = left.bit_length() * right
    if bits > MAX_BITS:
        raise exceptions.BudgetError(
            f"an integer of {format_amount(bits)} bits, the limit is {MAX_BITS}"
        )
    return left**right


def negate(_budget: Budget, value: object) -> object:
    """Return ``-value``."""
    if is_number(value):
        return -value
    raise exceptions.unsuitable("cannot negate {}", value)


def affirm(_budget: Budget, value: object) -> object:
    """Return ``+value``."""
    if is_number(value):
        return +value
    raise exceptions.unsuitable("cannot take the number of {}", value)


def _check_number(result: object) -> int | float:
    if isinstance(result, int):
        if -MAX_INTEGER < result < MAX_INTEGER:
            return result
        raise exceptions.BudgetError(
            f"an integer of {result.bit_length()} bits, the limit is {MAX_BITS}"
        )
    if isinstance(result, float) and math.isfinite(result):
        return result
    raise exceptions.RenderError(f"the result {result} is not a finite number")


def equal(budget: Budget, left: object, right: object) -> bool:
    """Report whether ``left == right``, at any depth."""
    if isinstance(left, str):
        if isinstance(right, str) and len(left) == len(right):
            budget.spend(len(left) // _COMPARED_PER_STEP)
    elif isinstance(left, (Mapping, list, tuple)) and isinstance(right, (Mapping, list, tuple)):
        # Python would compare without a budget, and parts that are shared again and again.
        return to_plain(budget, left) == to_plain(budget, right)
    return bool(left == right)


def unequal(budget: Budget, left: object, right: object) -> bool:
    """Report whether ``left != right``."""
    return not equal(budget, left, right)


def _compare(budget: Budget, left: object, right: object) -> int:
    """Return a negative number, zero or a positive number, like C's strcmp."""
    if isinstance(left, str) and isinstance(right, str):
        budget.spend(min(len(left), len(right)) // _COMPARED_PER_STEP)
        return (left > right) - (left < right)
    if is_number(left) and is_number(right):
        return (left > right) - (left < right)
    raise exceptions.unsuitable(
        "cannot compare {} with {}", left, right, hint=_convert_hint(left, right)
    )


def _ordering(test: Callable[[int, int], bool]) -> Callable[[Budget, object, object], bool]:
    """Return a comparison; ``test`` compares the order of two values with 0."""
    return lambda budget, left, right: test(_compare(budget, left, right), 0)


less = _ordering(operator.lt)
less_or_equal = _ordering(operator.le)
greater = _ordering(operator.gt)
greater_or_equal = _ordering(operator.ge)


def contains(budget: Budget, item: object, container: object) -> bool:
    """Report whether ``item in container``: a key, an item, or a part of a text."""
    if isinstance(item, Undefined):
        raise exceptions.MissingError(item)
    if isinstance(container, Mapping):
        return check_key(item) in container
    if isinstance(container, str) and isinstance(item, str):
        budget.spend(len(container) // CHARACTERS_PER_STEP)
        return item in container
    if is_list(container):
        if isinstance(item, (Mapping, list, tuple)):
            # `in` of Python would compare nested values without a budget.
            return any(equal(budget, item, other) for other in container)
        length = len(item) if isinstance(item, str) else 0
        budget.spend(len(container) * (1 + length // _COMPARED_PER_STEP))
        return item in container
    raise exceptions.unsuitable("cannot look for {} in {}", item, container)


def concatenate(budget: Budget, parts: tuple[object, ...]) -> str:
    """Return ``a ~ b ~ c``: the values as they would be written, in one text."""
    return budget.concat([to_text(budget, part) for part in parts])


def take_slice(budget: Budget, value: object, bounds: Bounds) -> object:
    """Return ``value[start:stop:step]``."""
    for bound in (value, bounds.start, bounds.stop, bounds.step):
        if isinstance(bound, Undefined):
            raise exceptions.MissingError(bound)
    if isinstance(value, str):
        budget.charge_characters(len(value))
        return value[bounds]
    if is_list(value):
        budget.spend(len(value))
        return list(value[bounds])
    raise exceptions.unsuitable("cannot take a slice of {}", value)


def check_settable(value: object) -> Namespace:
    """Return the value if `set` may change its attributes, else raise RenderError."""
    if isinstance(value, Namespace):
        return value
    raise exceptions.RenderError("only the attributes of a namespace can be set", hint=_SET_HINT)


def iterate(budget: Budget, value: object, steps: int) -> object:
    """Return the iterable of a loop, charged for all iterations: each costs ``steps``."""
    if isinstance(value, (list, tuple, range, str, Mapping)):
        budget.spend(len(value) * steps)
        return value
    hint = _LOOP_HINT if value is None else _COUNT_HINT if type(value) is int else call_hint(value)
    raise exceptions.unsuitable("cannot loop over {}", value, hint=hint)


def _add_hint(left: object, right: object) -> str | None:
    """Return the hint for two values that have no sum."""
    if {type(left), type(right)} in ({str, int}, {str, float}, {str, bool}):
        return "join texts and values with ~; a text becomes a number with `text | int`"
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return "write merge(object, other)"
    if is_list(left) and isinstance(right, (str, int, float, Mapping)):
        return "write list + [item]"
    return None


def _convert_hint(left: object, right: object) -> str | None:
    """Return the hint for a number beside a text."""
    for number, text in ((left, right), (right, left)):
        if is_number(number) and isinstance(text, str) and text.replace(".", "", 1).isdigit():
            words = f"`| {'float' if '.' in text else 'int'}`, or write it without quotes"
            return f"a number and a text: convert the text with {words}"
    return None


def invoke(budget: Budget, method: Method, arguments: tuple[object, ...]) -> object:
    """Call the method; arguments are positional."""
    owner, name = method.owner, method.name
    if isinstance(owner, Mapping):
        if name == "get":
            key_argument = check_key(arguments[0]) if arguments else None
            value: object = owner.get(key_argument, *arguments[1:2])
            return value
        if arguments:
            raise exceptions.RenderError(f"{name} takes no arguments", hint=f"write {name}()")
        budget.charge_items(len(owner))
        return list(getattr(owner, name)())
    for argument in arguments:
        if isinstance(argument, Undefined):
            raise exceptions.MissingError(argument)
    if isinstance(owner, str):
        return call_string_method(budget, owner, name, arguments)
    if name == "changed":
        # Jinja compares them with those of the turn before, which may be of any size.
        arguments = (to_plain(budget, arguments),)
    result: object = getattr(owner, name)(*arguments)
    return result


def call_string_method(
    budget: Budget, owner: str, name: str, arguments: tuple[object, ...]
) -> object:
    """Call a method of a text, charged for the slowest of them."""
    if name == "join":
        return join(budget, arguments[0] if arguments else (), owner)
    if name == "replace":
        return replace(budget, owner, *arguments)
    # rfind and strip may take the product of both lengths.
    longest = max((len(each) for each in arguments if isinstance(each, str)), default=1)
    budget.charge_characters(len(owner))
    budget.spend(len(owner) * longest // CHARACTERS_PER_STEP)
    result: object = getattr(owner, name)(*arguments)
    if isinstance(result, list):
        budget.charge_items(len(result))
    return result


def join(budget: Budget, items: object, separator: str) -> str:
    """Return the items of a list as text, with the separator between them."""
    if not isinstance(items, (list, tuple, range, str, Mapping)):
        raise exceptions.unsuitable("cannot join {}", items, name="join")
    parts = [to_text(budget, item) for item in items]
    budget.charge_characters(sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0))
    return separator.join(parts)


def replace(budget: Budget, whole: str, old: object, new: object, count: object = -1) -> str:
    """Return the text with ``new`` for every ``old``, or for the first ``count`` of them."""
    if not isinstance(old, str) or not isinstance(new, str):
        raise exceptions.unsuitable("cannot replace {} by {}: both must be strings", old, new)
    if not isinstance(count, int):
        raise exceptions.unsuitable("cannot replace so many times: {} is not an integer", count)
    times = whole.count(old) if count < 0 else min(count, whole.count(old))
    budget.charge_characters(len(whole) + times * max(len(new) - len(old), 0))
    return whole.replace(old, new, count)

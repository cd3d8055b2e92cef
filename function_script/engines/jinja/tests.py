"""The tests of templates: after ``is``, and in ``select`` and its relatives.

Every test receives the run first, then the value, then the template's arguments.
"""

from collections.abc import Callable, Mapping

from jinja2 import Undefined

from function_script.engines.jinja import exceptions, runtime
from function_script.engines.jinja.budget import Budget
from function_script.engines.jinja.calls import CallContext, build_table
from function_script.engines.tables import Table

_ITERABLE = (list, tuple, range, str, Mapping)


def _integer(value: object) -> int:
    if isinstance(value, Undefined):
        raise exceptions.MissingError(value)
    if isinstance(value, int):
        return value
    raise exceptions.RenderError(f"{exceptions.type_of(value)} is not an integer")


def _compared(
    operator: Callable[[Budget, object, object], bool],
) -> Callable[[CallContext, object, object], bool]:
    return lambda run, value, other: operator(run.budget, value, other)


_EQUAL = _compared(runtime.equal)
_UNEQUAL = _compared(runtime.unequal)
_LESS = _compared(runtime.less)
_LESS_OR_EQUAL = _compared(runtime.less_or_equal)
_GREATER = _compared(runtime.greater)
_GREATER_OR_EQUAL = _compared(runtime.greater_or_equal)

_TESTS = Table[str, object](
    {
        "defined": lambda _, value: not isinstance(value, Undefined),
        "undefined": lambda _, value: isinstance(value, Undefined),
        "none": lambda _, value: value is None,
        "string": lambda _, value: isinstance(value, str),
        "number": lambda _, value: isinstance(value, (int, float)) and not isinstance(value, bool),
        "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
        "float": lambda _, value: isinstance(value, float),
        "boolean": lambda _, value: isinstance(value, bool),
        "true": lambda _, value: value is True,
        "false": lambda _, value: value is False,
        "mapping": lambda _, value: isinstance(value, Mapping),
        "sequence": lambda _, value: isinstance(value, _ITERABLE),
        "iterable": lambda _, value: isinstance(value, _ITERABLE),
        "in": _compared(runtime.contains),
        "odd": lambda _, value: _integer(value) % 2 == 1,
        "even": lambda _, value: _integer(value) % 2 == 0,
        "sameas": lambda _, value, other: value is other,
        "eq": _EQUAL,
        "==": _EQUAL,
        "equalto": _EQUAL,
        "ne": _UNEQUAL,
        "!=": _UNEQUAL,
        "lt": _LESS,
        "<": _LESS,
        "lessthan": _LESS,
        "le": _LESS_OR_EQUAL,
        "<=": _LESS_OR_EQUAL,
        "gt": _GREATER,
        ">": _GREATER,
        "greaterthan": _GREATER,
        "ge": _GREATER_OR_EQUAL,
        ">=": _GREATER_OR_EQUAL,
    }
)


@_TESTS.add("divisibleby")
def _divisible(_run: CallContext, value: object, divisor: object) -> bool:
    if divisor == 0:
        hint = "test that the divisor is not 0 first"
        raise exceptions.RenderError("division by zero", name="divisibleby", hint=hint)
    return _integer(value) % _integer(divisor) == 0


TESTS = build_table(_TESTS)

"""The filters: the harmless ones of Jinja, and those of the shared library.

Every filter receives the run first, then the piped value, then the template's arguments. Its
signature and docstring are printed in the reference. Filters on lists return lists, never
iterators: a result may be printed or stored. A filter with a name of Jinja's has Jinja's meaning;
where the library has the same name, the reference lists the differences.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, TypeVar, cast

from jinja2 import Undefined

from function_script.engines.jinja import exceptions, runtime
from function_script.engines.jinja.calls import (
    LIBRARY,
    LIBRARY_FILTERS,
    Call,
    LibraryFunction,
    build_table,
    explain_missing,
)
from function_script.engines.jinja.lookups import Group
from function_script.engines.jinja.output import to_flow_yaml, to_text
from function_script.engines.jinja.run import Budget, Run
from function_script.engines.jinja.runtime import add, is_number
from function_script.request import quantities

_MAX_INDENT = 200
# Python reads longer numbers in quadratic time.
_MAX_DIGITS = 100
_MAX_PRECISION = 20
# With 0 the text has a prefix, such as 0x.
_BASES = {0, *range(2, 37)}
_MAX_QUOTED = 40
# The most steps of an attribute's path, and the most attributes to sort by.
_MAX_STEPS = 20

# Sort keys: texts and numbers in their own order, lists of them item by item.
SortKey: TypeAlias = str | float | list["SortKey"]
Item = TypeVar("Item")
Check: TypeAlias = Callable[[object], bool]


# Text, and values that may be missing


_ITERABLE = (list, tuple, range, str, Mapping)


def string(run: Run, value: object) -> str:
    """The value as it would be written."""
    return to_text(run.budget, value)


def _charged_text(run: Run, value: object) -> str:
    whole = to_text(run.budget, value)
    run.budget.charge_characters(len(whole))
    return whole


def lower(run: Run, value: object) -> str:
    """The text in lower case."""
    return _charged_text(run, value).lower()


def upper(run: Run, value: object) -> str:
    """The text in upper case."""
    return _charged_text(run, value).upper()


def capitalize(run: Run, value: object) -> str:
    """The text with its first letter in upper case and the others in lower case."""
    return _charged_text(run, value).capitalize()


def title(run: Run, value: object) -> str:
    """The text with each word's first letter in upper case."""
    return _charged_text(run, value).title()


def trim(run: Run, value: object, chars: object = None) -> object:
    """The text without white space, or without these characters, at both ends."""
    return runtime.call_string_method(run.budget, to_text(run.budget, value), "strip", (chars,))


def split(run: Run, value: object, separator: object = None, maxsplit: object = -1) -> object:
    """The parts of a text between separators; without one, its words."""
    return runtime.call_string_method(
        run.budget, to_text(run.budget, value), "split", (separator, maxsplit)
    )


def replace(run: Run, value: object, old: object, new: object, count: object = -1) -> str:
    """The text with every ``old`` replaced, or the first ``count`` of them."""
    budget = run.budget
    whole = to_text(budget, value)
    return runtime.replace(budget, whole, to_text(budget, old), to_text(budget, new), count)


def indent(
    run: Run, value: object, width: object = 4, first: object = False, blank: object = False
) -> str:
    """Indent every line but the first (with ``first`` also that) and empty ones (``blank``)."""
    whole = to_text(run.budget, value)
    if not isinstance(width, int) or width < 0:
        hint = "how many spaces: 0 to 200"
        raise exceptions.unsuitable("cannot indent by {}", width, hint=hint)
    if width > _MAX_INDENT:
        raise exceptions.BudgetError(
            f"an indentation of {width} spaces, the limit is {_MAX_INDENT}"
        )
    head, *others = whole.split("\n")
    run.budget.charge_characters(len(whole) + width * (1 + len(others)))
    margin = " " * width
    lines = [margin + line if line or blank else line for line in others]
    return "\n".join([margin + head if first else head, *lines])


def default(
    _run: Run, value: object, default_value: object = "", boolean: object = False
) -> object:
    """The value, or the default where it does not exist (with ``boolean``: or is false)."""
    if isinstance(value, Undefined) or (boolean and not value):
        return default_value
    return value


def required(run: Run, value: object, message: object = "a required value is missing") -> object:
    """The value; stops with the message where it does not exist, is null or an empty text."""
    if isinstance(value, Undefined) or value is None or value == "":
        raise exceptions.AuthorError(to_text(run.budget, message), name="required")
    return value


# Numbers


def absolute(_run: Run, value: object) -> int | float:
    """The number without its sign."""
    return abs(_number(value))


def integer(run: Run, value: object, default: object = None, base: object = 10) -> object:
    """The integer of a number or a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return int(value)
    if not isinstance(base, int) or base not in _BASES:
        raise exceptions.RenderError("cannot convert: the base must be 2 to 36, or 0", name="int")
    try:
        return int(_digits(run, value), base)
    except ValueError as error:
        if default is None:
            raise _conversion_error(value, "an integer") from error
        return default


def floating(run: Run, value: object, default: object = None) -> object:
    """The number of a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return float(value)
    try:
        number = float(_digits(run, value))
        if not math.isfinite(number):
            raise ValueError("not finite")  # noqa: TRY301 - handled like any other text below
    except ValueError as error:
        if default is None:
            raise _conversion_error(value, "a number") from error
        return default
    return number


def rounded(_run: Run, value: object, precision: object = 0, method: object = "common") -> object:
    """The number with so many digits after the point; ``method``: common, ceil or floor."""
    number = _number(value)
    if not isinstance(precision, int) or not 0 <= precision <= _MAX_PRECISION:
        cause = f"the precision must be 0 to {_MAX_PRECISION}"
        raise exceptions.RenderError(f"cannot round: {cause}", name="round")
    scale = 10**precision
    if method == "ceil":
        return math.ceil(number * scale) / scale
    if method == "floor":
        return math.floor(number * scale) / scale
    if method == "common":
        return round(number, precision)
    raise exceptions.RenderError(
        'cannot round: the method must be "common", "ceil" or "floor"', name="round"
    )


def _digits(run: Run, value: object) -> str:
    digits = to_text(run.budget, value).strip()
    if len(digits) > _MAX_DIGITS:
        raise ValueError("too many digits")
    return digits


def _number(value: object) -> int | float:
    if isinstance(value, (int, float)):
        return value
    raise exceptions.unsuitable("{} is not a number", value)


def _conversion_error(value: object, target: str) -> exceptions.RenderError:
    text_or_type = (
        f'"{value[:_MAX_QUOTED]}"' if isinstance(value, str) else exceptions.type_of(value)
    )
    is_quantity = isinstance(value, str) and quantities.has_unit(value)
    hint = "read a quantity of Kubernetes with `text | quantity`" if is_quantity else None
    return exceptions.RenderError(f"{text_or_type} is not {target}", hint=hint)


# Lists


def items_of(run: Run, value: object) -> list[object]:
    """The items of a list, the keys of an object or the characters of a text."""
    if not isinstance(value, _ITERABLE):
        raise exceptions.unsuitable("{} is not a list", value)
    run.budget.charge_items(len(value))
    return list(value)


def length(_run: Run, value: object) -> int:
    """The number of items, of keys or of characters."""
    if isinstance(value, _ITERABLE):
        return len(value)
    raise exceptions.unsuitable("{} has no length", value)


def join(run: Run, value: object, separator: object = "", attribute: object = None) -> str:
    """The items as text, with the separator between them."""
    pick = _picker(run, attribute)
    items = [pick(item) for item in items_of(run, value)]
    return runtime.join(run.budget, items, to_text(run.budget, separator))


def first(run: Run, value: object) -> object:
    """The first item."""
    return (items_of(run, value) or [_undefined_item(run)])[0]


def last(run: Run, value: object) -> object:
    """The last item."""
    return (items_of(run, value) or [_undefined_item(run)])[-1]


def _undefined_item(run: Run) -> Undefined:
    return run.environment.undefined("an empty list has no first and no last item")


def reverse(run: Run, value: object) -> object:
    """The list, or the text, backwards."""
    backwards = items_of(run, value)[::-1]
    return "".join(cast("list[str]", backwards)) if isinstance(value, str) else backwards


def pairs(run: Run, value: object) -> list[tuple[object, object]]:
    """The keys and values of an object."""
    if not isinstance(value, Mapping):
        raise exceptions.unsuitable("{} is not an object", value)
    run.budget.charge_items(len(value))
    return list(value.items())


def dictsort(
    run: Run,
    value: object,
    case_sensitive: object = False,
    by: object = "key",
    reverse: object = False,
) -> list[tuple[object, object]]:
    """The keys and values of an object in the order of its keys, or ``by="value"``."""
    position = {"key": 0, "value": 1}.get(by if isinstance(by, str) else "")
    if position is None:
        raise exceptions.RenderError('cannot sort: by must be "key" or "value"', name="dictsort")
    order = _sort_key(run, case_sensitive)
    return _sorted(run, pairs(run, value), lambda pair: order(pair[position]), reverse)


def sort(
    run: Run,
    value: object,
    reverse: object = False,
    case_sensitive: object = False,
    attribute: object = None,
) -> list[object]:
    """The items in order; ``attribute`` may name several, separated by commas."""
    order = _sort_key(run, case_sensitive)
    names = attribute.split(",", _MAX_STEPS) if isinstance(attribute, str) else [attribute]
    pickers = [_picker(run, name) for name in names]

    def by(item: object) -> SortKey:
        return [order(pick(item)) for pick in pickers]

    return _sorted(run, items_of(run, value), by, reverse)


def _sorted(
    run: Run, items: list[Item], by: Callable[[Item], SortKey], reverse: object
) -> list[Item]:
    run.budget.spend(len(items) * len(items).bit_length())
    try:
        return sorted(items, key=by, reverse=bool(reverse))
    except TypeError as error:
        raise exceptions.RenderError(
            "cannot sort values of different types", name="sort"
        ) from error


def _sort_key(run: Run, case_sensitive: object) -> Callable[[object], SortKey]:
    """Return the sort key of values: texts without case unless requested; no objects."""

    def order(value: object, depth: int = 3) -> SortKey:
        if isinstance(value, str):
            run.budget.charge_characters(len(value))
            return value if case_sensitive else value.lower()
        if is_number(value):
            return value
        if isinstance(value, (list, tuple)) and depth:
            run.budget.spend(len(value))
            return [order(item, depth - 1) for item in value]
        hint = 'name a field: sort(attribute="…")'
        raise exceptions.unsuitable("cannot sort by {}", value, hint=hint)

    return order


def minimum(
    run: Run, value: object, case_sensitive: object = False, attribute: object = None
) -> object:
    """The smallest item."""
    return first(run, sort(run, value, False, case_sensitive, attribute))  # noqa: FBT003 - a template's arguments


def maximum(
    run: Run, value: object, case_sensitive: object = False, attribute: object = None
) -> object:
    """The biggest item."""
    return last(run, sort(run, value, False, case_sensitive, attribute))  # noqa: FBT003 - a template's arguments


def total(run: Run, value: object, attribute: object = None) -> object:
    """The sum of the numbers in a list."""
    pick = _picker(run, attribute)
    result: object = 0
    for item in items_of(run, value):
        number = pick(item)
        # `+` would join these.
        if isinstance(number, (str, list, tuple)):
            raise exceptions.unsuitable("cannot add up {}", number, name="sum")
        result = add(run.budget, result, number)
    return result


def unique(
    run: Run, value: object, case_sensitive: object = False, attribute: object = None
) -> list[object]:
    """The items without those that came before; texts are compared without case."""
    pick = _picker(run, attribute)
    items: dict[str, object] = {}
    for item in items_of(run, value):
        # Dicts and lists have no hash, so their text stands for them.
        key = to_flow_yaml(run.budget, pick(item))
        items.setdefault(key if case_sensitive else key.lower(), item)
    return list(items.values())


def groupby(
    run: Run,
    value: object,
    attribute: object,
    default: object = None,
    case_sensitive: object = False,
) -> list[Group]:
    """Groups of the items whose attribute is the same: each has a grouper and a list."""
    pick = _picker(run, attribute, default)
    order = _sort_key(run, case_sensitive)
    ordered = _sorted(run, items_of(run, value), lambda item: order(pick(item)), reverse=False)
    groups = itertools.groupby(ordered, key=lambda item: order(pick(item)))
    listed = [list(members) for _, members in groups]
    # The value of the first member, for the order may have lost its case.
    return [Group(pick(members[0]), members) for members in listed]


def select(run: Run, value: object, *check: object) -> list[object]:
    """The items that pass a test; without one, those that are true."""
    passes = _test_of(run, check)
    return [item for item in items_of(run, value) if passes(item)]


def reject(run: Run, value: object, *check: object) -> list[object]:
    """The items that do not pass a test."""
    passes = _test_of(run, check)
    return [item for item in items_of(run, value) if not passes(item)]


def selectattr(run: Run, value: object, attribute: object, *check: object) -> list[object]:
    """The items whose attribute passes a test."""
    pick, passes = _picker(run, attribute), _test_of(run, check)
    return [item for item in items_of(run, value) if passes(pick(item))]


def rejectattr(run: Run, value: object, attribute: object, *check: object) -> list[object]:
    """The items whose attribute does not pass a test."""
    pick, passes = _picker(run, attribute), _test_of(run, check)
    return [item for item in items_of(run, value) if not passes(pick(item))]


def mapped(
    run: Run,
    value: object,
    *call: object,
    attribute: object = None,
    default: object = None,
    **named: object,
) -> list[object]:
    """Each item through a filter, or its attribute."""
    items = items_of(run, value)
    if not call:
        pick = _picker(run, attribute, default)
        return [pick(item) for item in items]
    name = call[0]
    is_key = isinstance(name, str) and any(
        isinstance(item, Mapping) and name in item for item in items
    )
    hint = f'write map(attribute="{name}")' if is_key else None
    apply = _find_callable(run.environment.filters, name, "filter", hint)
    rest = {**named, **({} if default is None else {"default": default})}
    return [apply(run, item, *call[1:], **rest) for item in items]


def _test_of(run: Run, check: tuple[object, ...]) -> Check:
    if not check:
        return bool
    test = _find_callable(run.environment.tests, check[0], "test")
    return lambda value: bool(test(run, value, *check[1:]))


def _find_callable(
    table: Mapping[str, object], name: object, kind: str, hint: str | None = None
) -> Call:
    if isinstance(name, str) and name in table:
        return cast("Call", table[name])
    if not isinstance(name, str):
        raise exceptions.unsuitable(f"the name of a {kind} must be a string, not {{}}", name)
    message, other = explain_missing(name, kind, table)
    raise exceptions.RenderError(message, hint=hint or other, name=name)


def _picker(run: Run, attribute: object, default: object = None) -> Callable[[object], object]:
    """Return a function that looks up ``a.b.0`` in an item; the item itself without attribute."""
    if attribute is None:
        return lambda item: item
    if not isinstance(attribute, (str, int)):
        message = "the name of an attribute must be a string, not {}"
        raise exceptions.unsuitable(message, attribute)
    parts = str(attribute).strip().split(".", _MAX_STEPS)
    steps = [int(part) if part.isdecimal() and len(part) <= _MAX_DIGITS else part for part in parts]

    def pick(item: object) -> object:
        result = item
        for step in steps:
            result = run.environment.getitem(result, step)
        return default if isinstance(result, Undefined) and default is not None else result

    return pick


_BY_NAME: Final = (
    *(capitalize, default, dictsort, first, groupby, indent, join, last, length, lower),
    *(reject, rejectattr, replace, required, reverse, select, selectattr, sort, split, string),
    *(title, trim, unique, upper),
)
_FILTERS: dict[str, object] = {
    **LIBRARY_FILTERS,
    **{each.__name__: each for each in _BY_NAME},
    "abs": absolute,
    "count": length,
    "d": default,
    "dig": LibraryFunction(LIBRARY["get"].function.rename("dig")),
    "float": floating,
    "int": integer,
    "items": pairs,
    "list": items_of,
    "map": mapped,
    "max": maximum,
    "min": minimum,
    "round": rounded,
    "sum": total,
    "tojson": LibraryFunction(LIBRARY["to_json"].function.rename("tojson")),
}
FILTERS = build_table(_FILTERS)


def _integer(value: object) -> int:
    if isinstance(value, int):
        return value
    raise exceptions.unsuitable("{} is not an integer", value)


def _compared(
    operator: Callable[[Budget, object, object], bool],
) -> Callable[[Run, object, object], bool]:
    return lambda run, value, other: operator(run.budget, value, other)


def _divisible(_run: Run, value: object, divisor: object) -> bool:
    if divisor == 0:
        hint = "test that the divisor is not 0 first"
        raise exceptions.RenderError("division by zero", name="divisibleby", hint=hint)
    return _integer(value) % _integer(divisor) == 0


_TESTS: dict[str, object] = {
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
    **dict.fromkeys(("eq", "==", "equalto"), _compared(runtime.equal)),
    **dict.fromkeys(("ne", "!="), _compared(runtime.unequal)),
    **dict.fromkeys(("lt", "<", "lessthan"), _compared(runtime.less)),
    **dict.fromkeys(("le", "<="), _compared(runtime.less_or_equal)),
    **dict.fromkeys(("gt", ">", "greaterthan"), _compared(runtime.greater)),
    **dict.fromkeys(("ge", ">="), _compared(runtime.greater_or_equal)),
    "divisibleby": _divisible,
}
TESTS = build_table(_TESTS)

"""sprig's functions on lists: ``list``, ``append``, ``first``, ``uniq``, ``slice``.

They accept lists of any type and bytes, but no texts. Functions with "must" in their names are the
same functions: a failure ends the template in either case.
"""

from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import to_int64

FUNCTIONS: Final = FunctionTable()


def _items(value: object) -> list[object]:
    """Return the items of a list; raises CallError for other types."""
    if isinstance(value, list):
        return value
    if isinstance(value, bytes):
        return list(map(values.Uint8, value))
    kind = "nil" if value is None else values.go_kind(value)
    raise CallError(f"wants a list, got {kind}", Code.NOT_A_LIST)


@FUNCTIONS.add("list", "tuple", allocates=False, accepts=Accepts.NULL)
def list_(*items: object) -> list[object]:
    """A list of the values."""
    return list(items)


@FUNCTIONS.add("append", "push", "mustAppend", "mustPush", accepts=Accepts.NULL)
def append(run: Run, value: object, item: object) -> list[object]:
    """The list with one more item."""
    items = _items(value)
    run.check_list(len(items) + 1)
    return [*items, item]


@FUNCTIONS.add("prepend", "mustPrepend", accepts=Accepts.NULL)
def prepend(run: Run, value: object, item: object) -> list[object]:
    """The list with one more item in front."""
    items = _items(value)
    run.check_list(len(items) + 1)
    return [item, *items]


@FUNCTIONS.add("concat")
def concat(run: Run, *operands: object) -> list[object]:
    """The items of all lists in one."""
    lists = list(map(_items, operands))
    run.check_list(sum(map(len, lists)))
    return [item for items in lists for item in items] or values.NilList()


@FUNCTIONS.add("first", "mustFirst", allocates=False, is_lookup=True)
def first(value: object) -> object:
    """The first item."""
    items = _items(value)
    return items[0] if items else None


@FUNCTIONS.add("last", "mustLast", allocates=False, is_lookup=True)
def last(value: object) -> object:
    """The last item."""
    items = _items(value)
    return items[-1] if items else None


@FUNCTIONS.add("rest", "mustRest")
def rest(value: object) -> list[object]:
    """The list without its first item."""
    items = _items(value)
    return items[1:] if items else values.NilList()


@FUNCTIONS.add("initial", "mustInitial")
def initial(value: object) -> list[object]:
    """The list without its last item."""
    items = _items(value)
    return items[:-1] if items else values.NilList()


@FUNCTIONS.add("reverse", "mustReverse")
def reverse(value: object) -> list[object]:
    """The list backwards."""
    return list(reversed(_items(value)))


@FUNCTIONS.add("compact", "mustCompact", accepts=Accepts.NULL)
def compact(value: object) -> list[object]:
    """The list without empty items."""
    return list(filter(None, _items(value)))


# Parts


@FUNCTIONS.add("slice", "mustSlice")
def slice_(value: object, *bounds: object) -> object:
    """The items from START up to END."""
    items = _items(value)
    if not items:
        return None
    start = to_int64(bounds[0]) if bounds else 0
    end = to_int64(bounds[1]) if len(bounds) > 1 else len(items)
    if not 0 <= start <= end <= len(items):
        raise CallError("reflect.Value.Slice: slice index out of bounds")
    if isinstance(value, bytes):
        return value[start:end]
    return (
        type(value)(items[start:end]) if isinstance(value, values.TypedList) else items[start:end]
    )


@FUNCTIONS.add("chunk", "mustChunk")
def chunk(size: int, value: object) -> list[object]:
    """The list in lists of N items."""
    items = _items(value)
    if size < 1:
        raise CallError(f"wants at least 1 item in a list, got {size}")
    return [items[start : start + size] for start in range(0, len(items), size)]


# Membership: equal items have equal types


def _measured_key(run: Run, item: object) -> object:
    if isinstance(item, (dict, list)):
        run.check_tree(item)
    return values.deep_key(item)


@FUNCTIONS.add("uniq", "mustUniq", accepts=Accepts.NULL)
def uniq(run: Run, value: object) -> list[object]:
    """The list without repeated items."""
    unique: dict[object, object] = {}
    for item in _items(value):
        unique.setdefault(_measured_key(run, item), item)
    return list(unique.values())


@FUNCTIONS.add("without", "mustWithout", accepts=Accepts.NULL)
def without(run: Run, value: object, *exclusions: object) -> list[object]:
    """The list without these items."""
    excluded = {_measured_key(run, item) for item in exclusions}
    items = _items(value)
    return [item for item in items if _measured_key(run, item) not in excluded]


@FUNCTIONS.add("has", "mustHas", accepts=Accepts.NULL)
def has(run: Run, needle: object, value: object) -> bool:
    """True if the list has the item."""
    if value is None:
        return False
    items = _items(value)
    run.spend(len(items) * _STEPS_PER_COMPARISON)
    key = _measured_key(run, needle)
    return any(_measured_key(run, item) == key for item in items)


_STEPS_PER_COMPARISON: Final = 2

"""The items of ``range``, for generated code: lists, maps in the order of their keys, numbers."""

from collections.abc import Collection, Iterator
from typing import Final

from function_script.engines.gotemplate.errors import EvalError
from function_script.engines.gotemplate.printing import sorted_items, to_text
from function_script.engines.gotemplate.values import MISSING, Int, Sized, Uint8

_INDEXES: Final = tuple(map(Int, range(256)))


def elements(value: object) -> Collection[object]:
    """Return the elements of a list or a map, the numbers below an integer; EvalError otherwise."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [item for _, item in sorted_items(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        return _Numbers(value) if isinstance(value, Sized) else range(value)
    return _bytes(value)


def pairs(value: object) -> Collection[tuple[object, object]]:
    """Return the same with the index or key of each."""
    if isinstance(value, dict):
        return sorted_items(value)
    if isinstance(value, int) and not isinstance(value, bool):
        raise EvalError(f"can't use {value} to iterate over more than one variable")
    items = value if isinstance(value, list) else _bytes(value)
    indexes = _INDEXES if len(items) <= len(_INDEXES) else map(Int, range(len(items)))
    return list(zip(indexes, items, strict=False))


def _bytes(value: object) -> list[object]:
    if value is None or value is MISSING:
        return []
    if isinstance(value, bytes):
        return list(map(Uint8, value))
    raise EvalError(f"range can't iterate over {to_text(value)}")


class _Numbers(Collection[object]):
    """The integers from 0 to below a sized one, each of its type."""

    def __init__(self, end: Sized) -> None:
        self._numbers = range(end)
        self._kind = type(end)

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[object]:
        return map(self._kind, self._numbers)

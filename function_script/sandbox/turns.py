"""A queue that serves whoever waits in turn: one of each key, then one of each again.

Places keep requests in it, by XR. Bounded in total and for each key.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class Turns(Generic[T]):
    """First come first served among the items of one key; round robin between keys."""

    def __init__(self, *, total: int, per_key: int) -> None:
        self._total = total
        self._per_key = per_key
        self._length = 0
        self._rows: OrderedDict[Hashable, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return self._length

    def count(self, key: Hashable) -> int:
        """How many items of ``key`` wait."""
        return len(self._rows.get(key, ()))

    def is_full_for(self, key: Hashable) -> bool:
        """Whether ``add`` would exceed a bound; None, nobody in particular, has no own one."""
        is_full = key is not None and self.count(key) >= self._per_key
        return is_full or self._length >= self._total

    def add(self, key: Hashable, item: T) -> None:
        """Line up; a new key has its turn after all others."""
        self._rows.setdefault(key, deque()).append(item)
        self._length += 1

    def next(self, is_held: Callable[[Hashable], bool], is_due: Callable[[T], bool]) -> T | None:
        """Take out the item whose turn it is, if any.

        Keys that are held are passed over, and those whose first item is not due.
        """
        rows = self._rows.items()
        key = next((key for key, row in rows if is_due(row[0]) and not is_held(key)), _NOBODY)
        if key is _NOBODY:
            return None
        row = self._rows[key]
        item = row.popleft()
        self._length -= 1
        self._rows.move_to_end(key)
        if not row:
            del self._rows[key]
        return item

    def has_any(self, is_held: Callable[[Hashable], bool]) -> bool:
        """Whether an item waits whose key is not held."""
        return any(not is_held(key) for key in self._rows)

    def remove(self, key: Hashable, item: T) -> bool:
        """Take out an item that waits no longer; False: it was not there."""
        row = self._rows.get(key)
        if row is None or item not in row:
            return False
        row.remove(item)
        self._length -= 1
        if not row:
            del self._rows[key]
        return True


_NOBODY = object()

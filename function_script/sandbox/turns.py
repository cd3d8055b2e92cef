"""A line that is served in turn: one of each key, then one of each again.

Places keep requests in it, by XR.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class FairQueue(Generic[T]):
    """First come first served among the items of one key; round robin between keys."""

    def __init__(self) -> None:
        self._length = 0
        self._rows: OrderedDict[Hashable, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return self._length

    def count(self, key: Hashable) -> int:
        """How many items of ``key`` wait."""
        return len(self._rows.get(key, ()))

    def add(self, key: Hashable, item: T) -> None:
        """Line up; a new key has its turn after all others."""
        self._rows.setdefault(key, deque()).append(item)
        self._length += 1

    def add_before(self, key: Hashable, item: T, is_later: Callable[[T], bool]) -> None:
        """Line up before the first item of the same key that is later."""
        row = self._rows.setdefault(key, deque())
        later = (index for index, other in enumerate(row) if is_later(other))
        row.insert(next(later, len(row)), item)
        self._length += 1

    def next(self, is_due: Callable[[T], bool]) -> T | None:
        """Take out the item whose turn it is, if any.

        Keys whose first item is not due are passed over.
        """
        key = next((key for key, row in self._rows.items() if is_due(row[0])), _NOBODY)
        if key is _NOBODY:
            return None
        row = self._rows[key]
        item = row.popleft()
        self._length -= 1
        self._rows.move_to_end(key)
        if not row:
            del self._rows[key]
        return item

    def ahead(self, key: Hashable) -> list[T]:
        """List the items that have their turn before a new item of ``key`` has its own."""
        rounds = self.count(key) + 1
        return [item for row in self._rows.values() for item in islice(row, rounds)]

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

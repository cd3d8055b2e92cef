"""A queue that is fair between keys: of the runs of a pool, and of what a server fetches."""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from itertools import islice
from typing import Generic, TypeVar

_NO_KEY = object()

T = TypeVar("T")


class FairQueue(Generic[T]):
    """First come first served among the items of one key; round robin between keys."""

    def __init__(self) -> None:
        self._length = 0
        self._items_by_key: OrderedDict[Hashable, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return self._length

    def count(self, key: Hashable) -> int:
        """Return how many items of ``key`` are queued."""
        return len(self._items_by_key.get(key, ()))

    def add(self, key: Hashable, item: T) -> None:
        """Append an item; a new key is served after all others."""
        self._items_by_key.setdefault(key, deque()).append(item)
        self._length += 1

    def add_first(self, key: Hashable, item: T) -> None:
        """Insert an item before all others; it had its turn already."""
        self._items_by_key.setdefault(key, deque()).appendleft(item)
        self._items_by_key.move_to_end(key, last=False)
        self._length += 1

    def next(self, may_start: Callable[[T], bool]) -> T | None:
        """Remove and return the next item, or None.

        Keys whose first item may not start are skipped.
        """
        key = next((k for k, items in self._items_by_key.items() if may_start(items[0])), _NO_KEY)
        if key is _NO_KEY:
            return None
        items = self._items_by_key[key]
        item = items.popleft()
        self._length -= 1
        self._items_by_key.move_to_end(key)
        if not items:
            del self._items_by_key[key]
        return item

    def items(self) -> list[T]:
        """List all items."""
        return [item for items in self._items_by_key.values() for item in items]

    def ahead(self, key: Hashable) -> list[T]:
        """List the items that are served before a new item of ``key``."""
        rounds = self.count(key) + 1
        return [item for items in self._items_by_key.values() for item in islice(items, rounds)]

    def has_unblocked(self, is_blocked: Callable[[Hashable], bool]) -> bool:
        """Report whether an item of a key that is not blocked is queued."""
        return any(not is_blocked(key) for key in self._items_by_key)

    def remove(self, key: Hashable, item: T) -> None:
        """Remove an item, if it is queued."""
        items = self._items_by_key.get(key)
        if items is None or item not in items:
            return
        items.remove(item)
        self._length -= 1
        if not items:
            del self._items_by_key[key]

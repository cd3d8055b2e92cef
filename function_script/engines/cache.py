"""A cache of compiled programs by their texts, bounded in number and in size.

Programs are immutable: no request can change an entry.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """An LRU cache of at most ``max_entries`` values and ``max_size`` in all.

    The unit of sizes is the engine's own: bytes, or characters of source.
    """

    def __init__(self, *, max_entries: int, max_size: int) -> None:
        self._max_entries = max_entries
        self._max_size = max_size
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | None:
        """Return the value; None when it was never added, or was evicted."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Add ``value``, and evict the values whose last use is longest ago.

        A value larger than ``max_size`` is not added, and evicts none.
        """
        if key in self._entries:
            self._size -= self._entries.pop(key)[1]
        if size > self._max_size:
            return
        self._entries[key] = (value, size)
        self._size += size
        while len(self._entries) > self._max_entries or self._size > self._max_size:
            _, (_, evicted_size) = self._entries.popitem(last=False)
            self._size -= evicted_size

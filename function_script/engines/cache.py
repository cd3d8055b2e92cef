"""Compiled programs by their texts: the ones used last, bounded in number and in size.

Called by each engine before it compiles. Holds nothing that a request could change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The values used last: at most ``max_entries``, of ``max_size`` in all.

    Sizes are in a unit of the engine's: bytes, or characters of source.
    """

    def __init__(self, *, max_entries: int, max_size: int) -> None:
        self._max_entries = max_entries
        self._max_size = max_size
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | None:
        """The remembered value; None when there is none (any more)."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Remember ``value``, and forget what was not used for longest.

        What is larger than all that may be kept is not remembered, and drives out nothing.
        """
        if key in self._entries:
            self._size -= self._entries.pop(key)[1]
        if size > self._max_size:
            return
        self._entries[key] = (value, size)
        self._size += size
        while len(self._entries) > self._max_entries or self._size > self._max_size:
            _, (_, gone) = self._entries.popitem(last=False)
            self._size -= gone

"""What was built from a text, remembered by that text: bounded in number and in size.

Called by the build of scripts. Holds nothing that a request could change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The values used last: at most ``max_entries``, whose sources have at most ``max_bytes``."""

    def __init__(self, *, max_entries: int, max_bytes: int) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | None:
        """The remembered value; None when there is none (any more)."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Remember ``value``, and forget what was not used for longest."""
        if key in self._entries:
            self._bytes -= self._entries.pop(key)[1]
        self._entries[key] = (value, size_bytes)
        self._bytes += size_bytes
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            _, (_, size) = self._entries.popitem(last=False)
            self._bytes -= size

"""A least-recently-used cache that is bounded in bytes, and the counts of its lookups.

A cache holds pure results only: the loss of an entry costs time and changes nothing else.
"""

import sys
from array import array
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# A power of two, and more than a cache usually has entries.
_SLOTS: Final = 8192


class CacheStats:
    """The lookups and hits of all caches of requests in this process since `reset_stats`."""

    def __init__(self) -> None:
        self.lookups: int = 0
        self.hits: int = 0


# An object, since compiled code counts in its fields in a tenth of the time of a class's.
_stats: Final = CacheStats()


def reset_stats() -> tuple[int, int]:
    """Return the lookups and hits since the last call, and begin again at 0."""
    counts = _stats.lookups, _stats.hits
    _stats.lookups = _stats.hits = 0
    return counts


class ByteLruCache(Generic[K, V]):
    """The most recently used values that fit into ``max_bytes``.

    ``is_of_requests``: of values that requests bring. Lookups count in `CacheStats`, and an entry
    is stored when it is put the second time: a value that comes only once, such as a document with
    a timestamp, then costs neither room nor time to evict.

    Values are shared between requests and must not be changed. Sizes are the caller's estimates.
    """

    def __init__(
        self,
        max_bytes: int,
        *,
        max_entries: int = sys.maxsize,
        is_of_requests: bool = False,
    ) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._bytes = 0
        # In the order of use. A plain dict would not do: the more entries were deleted from its
        # front, the longer it takes to find the first one.
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        # The hashes of missed keys, each in its only slot: a table of fixed size.
        self._missed: array[int] | None = None
        if is_of_requests:
            self._missed = array("q", bytes(8 * _SLOTS))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value for the key, which becomes the most recently used, or None."""
        entry = self._entries.get(key)
        if self._missed is not None:
            _stats.lookups += 1
            if entry is not None:
                _stats.hits += 1
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Store a value, evicting the least recently used ones while there is no room.

        A value that is larger than the whole cache is not stored and evicts nothing but the value
        it replaces.
        """
        if self._missed is not None:
            mark = hash(key)
            slot = mark & (_SLOTS - 1)
            if self._missed[slot] != mark:
                self._missed[slot] = mark
                return
        self.discard(key)
        if size_bytes > self._max_bytes:
            return
        self._entries[key] = (value, size_bytes)
        self._bytes += size_bytes
        while self._bytes > self._max_bytes or len(self._entries) > self._max_entries:
            self._bytes -= self._entries.popitem(last=False)[1][1]

    def discard(self, key: K) -> None:
        """Remove the value for the key, if there is one."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]

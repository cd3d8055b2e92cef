"""Remember what was computed from a text, by exactly that text, within a bound of bytes.

Called by the stream reader; whoever derives more from a document keeps it in a memo of its own,
by the document's ``key`` and what else it depends on. Holds pure results only: forgetting one
changes nothing but time.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")

# What was seen once is noted by its hash, each in the one slot it may have: a table of fixed size
# for as long as the process lives. A power of two, and more than a memo usually has entries.
_SLOTS: Final = 8192


class CacheStats:
    """How often something was looked for in any memo of this process, and found."""

    looked_up: ClassVar[int] = 0
    found: ClassVar[int] = 0


def reset_stats() -> tuple[int, int]:
    """Both since the last call."""
    taken = CacheStats.looked_up, CacheStats.found
    CacheStats.looked_up = CacheStats.found = 0
    return taken


class ByteLruCache(Generic[T]):
    """The most recently used results that fit into ``max_bytes``, from their second time on.

    What comes only once, such as a document with a timestamp in it, neither drives out what
    comes again nor costs the time to keep it and to forget it.
    What it gives out is shared between requests: nobody may change it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        # In the order of use. The first key of a plain dict is ever further away, the more
        # others were taken out before it.
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._seen = array("q", bytes(8 * _SLOTS))

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Hashable) -> T | None:
        """What was kept for this key, or None."""
        entry = self._entries.get(key)
        CacheStats.looked_up += 1
        if entry is None:
            return None
        CacheStats.found += 1
        self._entries.move_to_end(key)
        return entry[0]

    def keep(self, key: Hashable, result: T, *, size_bytes: int) -> None:
        """Keep a result of about this size, key included; forget others if it needs room."""
        if not self._was_seen(hash(key)):
            return
        self.forget(key)
        if size_bytes > self._max_bytes:
            return
        while self._bytes + size_bytes > self._max_bytes:
            self._bytes -= self._entries.popitem(last=False)[1][1]
        self._entries[key] = (result, size_bytes)
        self._bytes += size_bytes

    def _was_seen(self, mark: int) -> bool:
        slot = mark & (_SLOTS - 1)
        if self._seen[slot] == mark:
            return True
        self._seen[slot] = mark
        return False

    def forget(self, key: Hashable) -> None:
        """Forget what was kept for this key, if anything."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]

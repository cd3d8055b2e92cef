"""Remember what was computed from a text, by exactly that text, within a bound of bytes.

Called by the stream reader; whoever derives more from a document keeps it in a memo of its own,
by the document's ``key`` and what else it depends on. Holds pure results only: forgetting one
changes nothing but time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")


class Memo(Generic[T]):
    """The most recently used results that fit into ``max_bytes``.

    What it gives out is shared between requests: nobody may change it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        # In the order of use: a dict remembers in which order its keys were put in.
        self._entries: dict[Hashable, tuple[T, int]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Hashable) -> T | None:
        """What was kept for this key, or None."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._entries[key] = entry
        return entry[0]

    def keep(self, key: Hashable, result: T, *, size_bytes: int) -> None:
        """Keep a result of about this size, key included; forget others if it needs room."""
        self.forget(key)
        if size_bytes > self._max_bytes:
            return
        while self._bytes + size_bytes > self._max_bytes:
            self.forget(next(iter(self._entries)))
        self._entries[key] = (result, size_bytes)
        self._bytes += size_bytes

    def forget(self, key: Hashable) -> None:
        """Forget what was kept for this key, if anything."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]

"""Whose programs have cost a worker lately: the next one of them gets the worker least missed.

A run notes how it ended; whoever picks a worker asks. Knows keys, and nothing of what they mean.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

# More would only be remembered longer than anybody needs.
_MOST = 1_000


class Suspects:
    """The keys that lost a worker last time, the latest of them. Thread-safe.

    Keys are functions, since finding one out costs more than the answer while there are none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: OrderedDict[Hashable, None] = OrderedDict()

    def note(self, key_of: Callable[[], Hashable], *, has_lost: bool) -> None:
        """A run has ended, and has lost its worker or not."""
        if not has_lost and not self._keys:
            return
        key = key_of()
        with self._lock:
            self._keys.pop(key, None)
            # None is nobody in particular.
            if has_lost and key is not None:
                self._keys[key] = None
            if len(self._keys) > _MOST:
                self._keys.popitem(last=False)

    def has(self, key_of: Callable[[], Hashable]) -> bool:
        """Whether its last run has lost a worker."""
        return bool(self._keys) and key_of() in self._keys

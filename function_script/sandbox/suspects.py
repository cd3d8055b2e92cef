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
    """The keys that have lost a worker and not ended well since, the latest of them. Thread-safe.

    Keys are functions, since finding one out costs more than the answer while there are none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: OrderedDict[Hashable, None] = OrderedDict()

    def add(self, key_of: Callable[[], Hashable]) -> None:
        """A run has lost its worker."""
        key = key_of()
        if key is None:
            # Nobody in particular.
            return
        with self._lock:
            self._keys[key] = None
            self._keys.move_to_end(key)
            if len(self._keys) > _MOST:
                self._keys.popitem(last=False)

    def forgive(self, key_of: Callable[[], Hashable]) -> None:
        """A run has ended well."""
        if self._keys:
            key = key_of()
            with self._lock:
                self._keys.pop(key, None)

    def has(self, key_of: Callable[[], Hashable]) -> bool:
        """Whether a run has lost a worker, and none has ended well since."""
        return bool(self._keys) and key_of() in self._keys

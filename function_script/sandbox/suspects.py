"""Whose programs have cost a worker lately: the next one of them gets the worker least missed.

A run notes how it ended; whoever picks a worker asks. Knows keys, and nothing of what they mean.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

# A suspect that finds no CPU can neither lose another worker nor end well: it is tried again.
_SECONDS = 60.0
# More would only be remembered longer than anybody needs.
_MOST = 1_000


class PenaltyBox:
    """The keys that have lost a worker of late and not ended well since. Thread-safe.

    Keys are functions, since finding one out costs more than the answer while there are none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: OrderedDict[Hashable, float] = OrderedDict()

    def add(self, key_of: Callable[[], Hashable]) -> None:
        """A run has lost its worker."""
        key = key_of()
        if key is None:
            # Nobody in particular.
            return
        with self._lock:
            self._keys[key] = time.monotonic() + _SECONDS
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
        """Whether a run has lost a worker of late, and none has ended well since."""
        return bool(self._keys) and self._keys.get(key_of(), 0.0) > time.monotonic()

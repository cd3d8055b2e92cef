"""The work that a search for secrets may cost, counted in bytes, so that none takes for ever."""

from __future__ import annotations


class TooMuchWorkError(Exception):
    """A search would cost more than its budget."""


class Budget:
    """Counts bytes down; the same request always costs the same."""

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int) -> None:
        """Take ``size`` bytes. Raises TooMuchWorkError when fewer are left."""
        self._left -= size
        if self._left < 0:
            raise TooMuchWorkError

"""What long work tells while it lasts.

Called by building and pushing, which move hundreds of megabytes. Who shows it, and how, is not
known here.
"""

from __future__ import annotations

import io
from typing import Protocol


class Progress(Protocol):
    """Gets to know what is going on."""

    def line(self, text: str) -> None:
        """Something begins, or need not be done."""

    def share(self, part: float) -> None:
        """How much of what the last line says is done, from 0 to 1."""


class NullProgress:
    """For those who do not want to know."""

    def line(self, text: str) -> None:
        """Nobody hears it."""

    def share(self, part: float) -> None:
        """Nobody hears it."""


class Body(io.BytesIO):
    """Bytes to send, which tell how much of them is gone; can be sent again."""

    def __init__(self, data: bytes, progress: Progress) -> None:
        super().__init__(data)
        self.size_bytes = len(data)
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes, none at the end."""
        found = super().read(size)
        self._progress.share(self.tell() / self.size_bytes if self.size_bytes else 1.0)
        return found

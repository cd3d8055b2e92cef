"""The progress of builds and pushes, which move hundreds of megabytes."""

import io
from typing import Protocol


class Progress(Protocol):
    """Receives progress and displays it."""

    def line(self, text: str) -> None:
        """Display the beginning of a step, or that it is not needed."""

    def share(self, part: float) -> None:
        """Display how much of the last line's step is done, from 0 to 1."""


class NullProgress:
    """Displays nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""

    def share(self, part: float) -> None:
        """Do nothing."""


class Body(io.BytesIO):
    """Bytes to send, which report how much of them was read; can be sent again."""

    def __init__(self, data: bytes, progress: Progress) -> None:
        super().__init__(data)
        self.size_bytes = len(data)
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes, none at the end."""
        data = super().read(size)
        self._progress.share(self.tell() / self.size_bytes if self.size_bytes else 1.0)
        return data

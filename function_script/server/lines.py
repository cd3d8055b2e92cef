"""Where the lines of the log go: standard error, those of requests a few at a time.

Called by ``log``. Each write wakes whoever reads the log, and at a thousand requests a second that
costs a server a tenth of its time in front of the workers.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Later: TypeAlias = "Callable[[Callable[[], None]], object]"
_MOST: Final = 64


class Lines(logging.StreamHandler[TextIO]):
    """Writes records at once. Lines that are ``put`` wait for others, if ``later`` is set.

    ``later`` calls what it is given a moment later, in the thread that puts lines.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._waiting: list[str] = []
        self.later: Later | None = None

    def put(self, line: str) -> None:
        """Write a line, soon."""
        self.acquire()
        try:
            self._waiting.append(line)
            if self.later is None or len(self._waiting) >= _MOST:
                self.flush()
            elif len(self._waiting) == 1:
                self.later(self.flush)
        finally:
            self.release()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, after the lines that came before it."""
        self._write()
        super().emit(record)

    def flush(self) -> None:
        """Write what waits."""
        self.acquire()
        try:
            self._write()
            super().flush()
        finally:
            self.release()

    def _write(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.stream.write("\n".join(waiting) + "\n")

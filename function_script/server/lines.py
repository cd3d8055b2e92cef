"""Where the lines of the log go: standard error, those of requests a few at a time.

Called by ``log``. Each write wakes whoever reads the log, and at a thousand requests a second that
costs a server a tenth of its time in front of the workers; making one line by itself takes twice
as long as making it with others.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.records import Record

Later: TypeAlias = "Callable[[Callable[[], None]], object]"
_MOST: Final = 64


class Lines(logging.StreamHandler[TextIO]):
    """Writes log records at once. Requests that are ``put`` wait for others, if ``later`` is set.

    ``to_line`` makes the line of a request and the moment it ended; ``later`` calls what it is
    given a moment later, in the thread that puts requests.
    """

    def __init__(self, to_line: Callable[[float, Record], str]) -> None:
        super().__init__(sys.stderr)
        self._to_line = to_line
        # Its ends are safe to use from several threads, so that nobody takes a lock to put.
        self._waiting: deque[tuple[float, Record]] = deque()
        self.later: Later | None = None

    def put(self, moment: float, record: Record) -> None:
        """Write the line of a request, soon; ``moment`` in seconds since 1970."""
        self._waiting.append((moment, record))
        waiting = len(self._waiting)
        if self.later is None or waiting >= _MOST:
            self.flush()
        elif waiting == 1:
            self.later(self.flush)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record, after the lines of requests that came before it."""
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
        lines = []
        while self._waiting:
            lines.append(self._to_line(*self._waiting.popleft()))
        if lines:
            lines.append("")
            self.stream.write("\n".join(lines))

"""The writer of the log: a thread of its own, a bounded queue, and batches of request lines.

A reader of standard error that stalls must not hold up answers, so that lines are dropped and
counted when the queue is full. Called by ``log``.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.request_record import RequestRecord

Schedule: TypeAlias = "Callable[[Callable[[], None]], object]"
_STDERR: Final = 2
_MAX_PENDING: Final = 64
_MAX_QUEUED_BYTES: Final = 1 << 20
_DRAIN_SECONDS: Final = 2.0


class BatchingHandler(logging.Handler):
    """Writes log records at once, and enqueued requests together, to a file descriptor.

    ``to_line`` makes the line of a request and of the moment it ended. ``schedule_flush`` calls
    its argument a moment later, in the thread that enqueues; without it lines are written at once.
    """

    def __init__(
        self, to_line: Callable[[float, RequestRecord], str], descriptor: int = _STDERR
    ) -> None:
        super().__init__()
        self._to_line = to_line
        # Both ends are safe to use from several threads, so that no lock is needed to enqueue.
        self._pending: deque[tuple[float, RequestRecord]] = deque()
        self._writer = Writer(descriptor)
        self.schedule_flush: Schedule | None = None

    @property
    def dropped(self) -> int:
        """The number of lines that were dropped so far."""
        return self._writer.dropped

    def enqueue(self, moment: float, record: RequestRecord) -> None:
        """Write the line of a request soon; ``moment`` in seconds since 1970."""
        self._pending.append((moment, record))
        pending = len(self._pending)
        if self.schedule_flush is None or pending >= _MAX_PENDING:
            self.flush()
        elif pending == 1:
            self.schedule_flush(self.flush)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record, after the lines of requests that came before it."""
        self._write([self.format(record)])

    def flush(self) -> None:
        """Hand the pending lines to the writer."""
        self.acquire()
        try:
            self._write([])
        finally:
            self.release()

    def drain(self) -> None:
        """Wait until all lines are written, but not long for a reader that has stalled."""
        self.flush()
        self._writer.drain()

    def close(self) -> None:
        """Write what is left, as far as the reader takes it."""
        self.drain()
        self._writer.close()
        super().close()

    def _write(self, more: list[str]) -> None:
        lines = []
        while self._pending:
            lines.append(self._to_line(*self._pending.popleft()))
        lines += more
        if not lines or not self._writer.write(lines):
            return
        lost = self._writer.take_unreported()
        if lost:
            text = f"{lost} lines of the log were dropped: its reader did not take them"
            record = logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, None, None)
            self._writer.write([self.format(record)])


class Writer:
    """Writes lines to a descriptor in a thread of its own, and never blocks its caller."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._changed = threading.Condition()
        self._is_closed = False
        self._unreported = 0
        self.dropped = 0
        """The number of lines that were dropped because the queue was full."""
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, lines: list[str]) -> bool:
        """Enqueue lines, or drop them and return False when the reader has stalled."""
        data = "\n".join([*lines, ""]).encode("utf-8", "backslashreplace")
        with self._changed:
            if self._queued_bytes + len(data) > _MAX_QUEUED_BYTES:
                self.dropped += len(lines)
                self._unreported += len(lines)
                return False
            self._queue.append(data)
            self._queued_bytes += len(data)
            self._changed.notify_all()
        return True

    def take_unreported(self) -> int:
        """Return how many lines were dropped since the last call."""
        with self._changed:
            lost, self._unreported = self._unreported, 0
        return lost

    def drain(self) -> None:
        """Wait until the queue is empty, but not long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queued_bytes, _DRAIN_SECONDS)

    def close(self) -> None:
        """End the thread when the queue is empty."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    if self._is_closed:
                        return
                    self._changed.wait()
                data = b"".join(self._queue)
                self._queue.clear()
            self._write_all(data)
            with self._changed:
                self._queued_bytes -= len(data)
                self._changed.notify_all()

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            # The reader has closed its end: nobody is left to tell.
            return

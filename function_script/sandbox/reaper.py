"""Waits for processes that are about to end, all of them in one thread.

The crew hands over each worker that it has killed. A large process takes its time to end, and the
more so when others have the CPU; nothing else may wait for it.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, cast

from function_script.sandbox.refusals import explain_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox.worker_process import ForkedChild, WorkerProcess

# A process that was killed and does not end hangs in the kernel.
_PATIENCE_SECONDS = 10.0
_MAX_BYTES = 4096


class Reaper:
    """Calls ``bury`` for each worker when it has ended. Thread-safe; its thread starts at once.

    Raises SandboxError when no thread is to be had.
    """

    def __init__(self, bury: Callable[[WorkerProcess], object]) -> None:
        self._bury = bury
        self._new: deque[tuple[WorkerProcess, Callable[[], object]]] = deque()
        self._is_closing = False
        self._selector = selectors.DefaultSelector()
        self._waker, self._woken = socket.socketpair()
        self._waker.settimeout(0)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._work, name="reaper", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._release()
            raise explain_threads() from error

    def add(self, child: WorkerProcess, on_end: Callable[[], object]) -> None:
        """Bury ``child``, which was killed, when it has ended, and call ``on_end`` then."""
        self._new.append((child, on_end))
        self._wake()

    def close(self) -> None:
        """Return when all who were added are buried, or will not end."""
        self._is_closing = True
        self._wake()
        self._thread.join(_PATIENCE_SECONDS)
        if not self._thread.is_alive():
            self._release()

    def _release(self) -> None:
        self._selector.close()
        self._waker.close()
        self._woken.close()

    def _wake(self) -> None:
        try:
            self._waker.send(b"\0")
        except BlockingIOError:
            # So many wake it already that one more makes no difference.
            return

    def _work(self) -> None:
        dying = 0
        while dying or self._new or not self._is_closing:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    self._woken.recv(_MAX_BYTES)
                    continue
                self._selector.unregister(key.fileobj)
                dying -= 1
                child, on_end = key.data
                self._bury(child)
                on_end()
            while self._new:
                child, on_end = self._new.popleft()
                descriptor = cast("ForkedChild", child).exit_fileno()
                self._selector.register(descriptor, selectors.EVENT_READ, (child, on_end))
                dying += 1

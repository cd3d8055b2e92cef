"""Waits for processes that are about to end, all of them in one thread.

The crew hands over each worker that it has killed. A large process takes its time to end, and the
more so when others have the CPU; nothing else may wait for it.
"""

from __future__ import annotations

import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox.child import Child


# A process that was killed and does not end hangs in the kernel.
_PATIENCE_SECONDS = 10.0


class Reaper:
    """Calls ``bury`` for each worker when it has ended. Its thread starts at once."""

    def __init__(self, bury: Callable[[Child], object]) -> None:
        self._bury = bury
        self._dying: dict[int, tuple[Child, Callable[[], object]]] = {}
        self._epoll = select.epoll()
        self._closing = os.eventfd(0, os.EFD_CLOEXEC)
        self._epoll.register(self._closing, select.EPOLLIN)
        self._thread = threading.Thread(target=self._work, name="reaper", daemon=True)
        self._thread.start()

    def add(self, child: Child, on_end: Callable[[], object]) -> None:
        """Bury ``child``, which was killed, when it has ended, and call ``on_end`` then."""
        self._dying[child.pidfd] = child, on_end
        self._epoll.register(child.pidfd, select.EPOLLIN)

    def close(self) -> None:
        """Return when all who were added are buried, or will not end."""
        os.eventfd_write(self._closing, 1)
        self._thread.join(_PATIENCE_SECONDS)
        if self._thread.is_alive():
            return
        self._epoll.close()
        os.close(self._closing)

    def _work(self) -> None:
        is_closing = False
        while self._dying or not is_closing:
            for descriptor, _ in self._epoll.poll():
                if descriptor == self._closing:
                    is_closing = True
                    self._epoll.unregister(descriptor)
                    continue
                child, on_end = self._dying.pop(descriptor)
                self._epoll.unregister(descriptor)
                self._bury(child)
                on_end()

"""The threads of a pool: executors and the reaper.

All threads start before they are needed: later, the system may refuse more.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from function_script.sandbox.spawn_errors import explain_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox.worker_process import WorkerProcess

# A process that was killed and does not exit hangs in the kernel.
_CLOSE_SECONDS = 10.0
_MAX_WAKEUP_BYTES = 4096


def start_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Return an executor with ``count`` running threads; raise SandboxError when one fails."""
    executor = ThreadPoolExecutor(count, thread_name_prefix=name)
    # An executor starts a thread only while all others are busy, so each waits for the last one.
    barrier = threading.Barrier(count + 1)
    try:
        for _ in range(count):
            executor.submit(barrier.wait)
    except RuntimeError as error:
        # Otherwise those that were started would wait for the others for ever.
        barrier.abort()
        executor.shutdown(cancel_futures=True)
        raise explain_threads(count) from error
    barrier.wait()
    return executor


class Reaper:
    """A thread that waits for the exit of all killed workers, and calls ``reap`` for each.

    A large process takes long to exit, and longer while others have the CPU; no other thread waits
    for it. Thread-safe. The constructor starts the thread and raises SandboxError when it cannot.
    """

    def __init__(self, reap: Callable[[WorkerProcess], object]) -> None:
        self._reap = reap
        self._added: deque[tuple[WorkerProcess, Callable[[], object] | None]] = deque()
        self._is_closing = False
        self._selector = selectors.DefaultSelector()
        self._wakeup_sender, self._wakeup_receiver = socket.socketpair()
        # A full socket must not block the thread that has killed a worker.
        self._wakeup_sender.settimeout(0)
        self._selector.register(self._wakeup_receiver, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="reaper", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._close_files()
            raise explain_threads(1) from error

    def add(self, worker: WorkerProcess, on_exit: Callable[[], object] | None) -> None:
        """Reap ``worker``, which was killed, when it has exited; call ``on_exit`` then."""
        self._added.append((worker, on_exit))
        self._wake_up()

    def close(self) -> None:
        """Return when all added workers are reaped, or after a long while."""
        self._is_closing = True
        self._wake_up()
        self._thread.join(_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._close_files()

    def _close_files(self) -> None:
        self._selector.close()
        self._wakeup_sender.close()
        self._wakeup_receiver.close()

    def _wake_up(self) -> None:
        # The thread has ended, or the socket is full of wake-ups: one more makes no difference.
        with suppress(OSError):
            self._wakeup_sender.send(b"\0")

    def _run(self) -> None:
        pending = 0
        while pending or self._added or not self._is_closing:
            for key, _ in self._selector.select():
                if key.fileobj is self._wakeup_receiver:
                    self._wakeup_receiver.recv(_MAX_WAKEUP_BYTES)
                    continue
                self._selector.unregister(key.fileobj)
                pending -= 1
                worker, on_exit = key.data
                # A plain worker's descriptor may be readable a moment before its exit.
                if not worker.wait_for_exit():
                    continue
                self._reap(worker)
                if on_exit is not None:
                    on_exit()
            while self._added:
                worker, on_exit = self._added.popleft()
                data = (worker, on_exit)
                self._selector.register(worker.exit_fileno(), selectors.EVENT_READ, data)
                pending += 1

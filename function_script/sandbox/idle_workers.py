"""The workers a pool has: idle ones kept warm, new ones when needed, dead ones buried.

Called by the pool from many threads. Knows nothing of requests.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from function_script.errors import SandboxError
from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.threads import start_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox.measures import Confinement
    from function_script.sandbox.worker_process import WorkerProcess


class Reaper(Protocol):
    """Waits for processes that are about to end, while nothing else does."""

    def add(self, child: WorkerProcess, on_end: Callable[[], object]) -> None:
        """Bury ``child``, which was killed, when it has ended, and call ``on_end`` then."""

    def close(self) -> None:
        """Return when all who were added are buried, or will not end."""


class Nursery(Protocol):
    """Starts workers, and knows what they are confined to and how they ended."""

    def fork(self) -> WorkerProcess:
        """Return a new worker; raises SandboxError when there is no way to get one."""

    def reap(self, pid: int) -> ExitStatus:
        """Tell how a worker ended that has ended."""

    def build_reaper(self, bury: Callable[[WorkerProcess], object]) -> Reaper:
        """Build who waits for the end of workers, and starts at once."""

    def confinement(self) -> Confinement:
        """Return what holds for all workers there are."""

    def is_able(self) -> bool:
        """Tell whether a worker lives, or one could be had when the last was asked for."""

    def close(self) -> None:
        """End every worker that is left."""


class IdleWorkers:
    """Keeps up to ``max_idle`` workers, and after a loss at least ``spare`` of them ready."""

    def __init__(self, nursery: Nursery, *, max_idle: int, spare: int) -> None:
        self._nursery = nursery
        self._max_idle = max_idle
        self._spare = spare
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._is_closed = False
        self._has_reaper = True
        self._restocking = start_threads(1, "restock")
        self._reaper = nursery.build_reaper(self._bury)
        self.retired = 0
        """How many workers were ended in good order."""

    @property
    def idle(self) -> int:
        """How many workers are ready."""
        return len(self._idle)

    def hire(self, number: int) -> None:
        """Have ``number`` more workers ready; raises SandboxError when they do not start."""
        for _ in range(number):
            self._keep(self._nursery.fork(), is_warm=False)

    def take(self, *, coldest: bool = False) -> WorkerProcess:
        """An idle worker or a new one; raises SandboxError when none starts."""
        return self.find_idle(coldest=coldest) or self._nursery.fork()

    def find_idle(self, *, coldest: bool = False) -> WorkerProcess | None:
        """The worker that was busy last, for its caches are warmest; takes no time.

        ``coldest``: the one that would be missed least, for a run that may cost it, and never
        the warmest.
        """
        kept = 1 if coldest else 0
        while True:
            with self._lock:
                if len(self._idle) <= kept:
                    return None
                child = self._idle.pop(0 if coldest else -1)
            if child.is_alive():
                return child
            self.replace_later(child)

    def give_back(self, child: WorkerProcess) -> None:
        """A worker is idle again."""
        self._keep(child, is_warm=True)

    def retire(self, child: WorkerProcess) -> None:
        """End a worker that has done enough, while the caller goes on."""
        self.retired += 1
        self.replace_later(child)

    def replace(self, child: WorkerProcess) -> ExitStatus:
        """End a worker and tell how it ended; another is made ready when few are."""
        death = self.end(child)
        self._restock_later()
        return death

    def replace_later(self, child: WorkerProcess, on_end: Callable[[], object] = bool) -> None:
        """The same, while the caller goes on: a large process takes its time to end."""

        def end() -> None:
            on_end()
            self._restock_later()

        child.kill()
        self._bury_later(child, end)

    def close(self) -> None:
        """End the idle workers and the zygote, and with it every other worker."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            self.end(child)
        self._restocking.shutdown()
        with self._lock:
            self._has_reaper = False
        self._reaper.close()
        self._nursery.close()

    def end(self, child: WorkerProcess) -> ExitStatus:
        """End a worker and tell how it ended."""
        child.kill()
        if child.has_ended():
            return self._bury(child)
        self._bury_later(child)
        return ExitStatus(status=None)

    def _bury_later(self, child: WorkerProcess, on_end: Callable[[], object] = bool) -> None:
        """Bury a worker that was killed when it has ended.

        A run may outlast the reaper, which ends with the crew. Then this waits for the worker.
        """
        with self._lock:
            if self._has_reaper:
                self._reaper.add(child, on_end)
                return
        if child.has_ended():
            self._bury(child)
            on_end()

    def _bury(self, child: WorkerProcess) -> ExitStatus:
        death = self._nursery.reap(child.pid)
        child.close()
        return death

    def _keep(self, child: WorkerProcess, *, is_warm: bool) -> None:
        with self._lock:
            if len(self._idle) < self._max_idle and not self._is_closed:
                self._idle.insert(len(self._idle) if is_warm else 0, child)
                return
        child.kill()
        self._bury_later(child)

    def _restock(self) -> None:
        if self._is_short():
            with suppress(SandboxError):
                self.hire(1)

    def _restock_later(self) -> None:
        if self._is_short():
            # After the end nobody needs more.
            with suppress(RuntimeError):
                self._restocking.submit(self._restock)

    def _is_short(self) -> bool:
        with self._lock:
            return len(self._idle) < self._spare and not self._is_closed

"""The worker processes of a pool: keeps idle ones, spawns on demand, reaps killed ones.

Threads of the pool share it. It knows nothing about requests.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from function_script.sandbox.confinement import UNKNOWN, Confinement, combine
from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.threads import Reaper, start_threads
from function_script.sandbox.worker_process import WorkerProcess
from function_script.texts.errors import SandboxError

# A requested worker that is not ready after this time is late.
_LATE_SECONDS = 5.0


class WorkerFactory(Protocol):
    """Spawns workers."""

    def spawn_worker(self) -> WorkerProcess:
        """Return a new worker; raise SandboxError when none can be spawned."""

    def close(self) -> None:
        """Spawn no more workers."""


class IdleWorkers:
    """Keeps up to ``max_idle`` idle workers, and after a loss at least ``min_idle`` of them."""

    def __init__(self, factory: WorkerFactory, *, max_idle: int, min_idle: int) -> None:
        self._factory = factory
        self._max_idle = max_idle
        self._min_idle = min_idle
        self._lock = threading.Lock()
        # The worker that was busy last is at the end.
        self._idle: list[WorkerProcess] = []
        # Those that are not reaped, busy ones included.
        self._living: set[WorkerProcess] = set()
        # The start times of workers that are being spawned.
        self._spawning: list[float] = []
        # Until the first worker is ready.
        self._has_failed = True
        self._newest = UNKNOWN
        self._is_closed = False
        self._has_reaper = True
        self._restocking = start_threads(1, "restock")
        self._reaper = Reaper(self._reap)
        self.retired = 0
        """The number of workers that were ended as planned."""

    @property
    def idle(self) -> int:
        """The number of idle workers."""
        return len(self._idle)

    def prefork(self, count: int) -> None:
        """Spawn ``count`` idle workers; raise SandboxError when one does not start."""
        for _ in range(count):
            self._add(self._spawn(), is_warm=False)

    def acquire(self, *, coldest: bool = False) -> WorkerProcess:
        """Return an idle worker or a new one; raise SandboxError when it does not start."""
        return self.acquire_nowait(coldest=coldest) or self._spawn()

    def acquire_nowait(self, *, coldest: bool = False) -> WorkerProcess | None:
        """Return the idle worker that was busy last and has the warmest caches, or None.

        ``coldest``: return the one that has been idle longest, for a run that may cost it, but
        never the warmest.
        """
        reserved = 1 if coldest else 0
        while True:
            with self._lock:
                if len(self._idle) <= reserved:
                    return None
                worker = self._idle.pop(0 if coldest else -1)
            # The kernel, or an operator, may have killed it while it was idle.
            if worker.is_alive():
                return worker
            self.replace_in_background(worker)

    def release(self, worker: WorkerProcess) -> None:
        """Return a worker to the idle ones."""
        self._add(worker, is_warm=True)

    def retire(self, worker: WorkerProcess) -> None:
        """Kill a worker that has served its time, without waiting for its exit."""
        self.retired += 1
        self.replace_in_background(worker)

    def replace(self, worker: WorkerProcess) -> ExitStatus:
        """Kill a worker and return its exit status; restock idle workers."""
        exit_status = self.kill(worker)
        self._restock_in_background()
        return exit_status

    def replace_in_background(
        self, worker: WorkerProcess, on_exit: Callable[[], object] | None = None
    ) -> None:
        """Kill a worker without waiting for its exit; restock idle workers then.

        ``on_exit`` is called, in any thread, when the worker has exited.
        """

        def restock() -> None:
            if on_exit is not None:
                on_exit()
            self._restock_in_background()

        worker.kill()
        self._reap_in_background(worker, restock)

    def kill(self, worker: WorkerProcess) -> ExitStatus:
        """Kill a worker and return its exit status."""
        worker.kill()
        if worker.wait_for_exit():
            return self._reap(worker)
        self._reap_in_background(worker)
        return ExitStatus(status=None)

    def confinement(self) -> Confinement:
        """Return the confinement that all living workers and the newest one have, by their word."""
        with self._lock:
            return combine([self._newest, *(worker.confinement for worker in self._living)])

    def is_available(self) -> bool:
        """Report whether a worker lives, or the last requested one was spawned in time."""
        oldest = time.monotonic() - _LATE_SECONDS
        with self._lock:
            if any(worker.is_alive() for worker in self._living):
                return True
            return not self._has_failed and all(started > oldest for started in self._spawning)

    def close(self) -> None:
        """Kill the idle workers, and then all others."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            self.kill(worker)
        # While there is a reaper: a worker that is being forked now is killed when it comes.
        self._restocking.shutdown()
        with self._lock:
            self._has_reaper = False
        self._reaper.close()
        with self._lock:
            for worker in self._living:
                worker.kill()
        self._factory.close()

    def _spawn(self) -> WorkerProcess:
        """Return a new worker; raise SandboxError when it does not start."""
        started = time.monotonic()
        with self._lock:
            self._spawning.append(started)
        worker: WorkerProcess | None = None
        try:
            worker = self._factory.spawn_worker()
            return worker
        finally:
            with self._lock:
                self._spawning.remove(started)
                self._has_failed = worker is None
                if worker is not None:
                    self._living.add(worker)
                    self._newest = worker.confinement
                    # Otherwise it would outlive those that `close` has killed.
                    if self._is_closed:
                        worker.kill()

    def _reap_in_background(
        self, worker: WorkerProcess, on_exit: Callable[[], object] | None = None
    ) -> None:
        """Reap a killed worker when it has exited.

        A run may outlast the reaper, which ends with the pool. Then this waits for the worker.
        """
        with self._lock:
            if self._has_reaper:
                self._reaper.add(worker, on_exit)
                return
        if worker.wait_for_exit():
            self._reap(worker)
            if on_exit is not None:
                on_exit()

    def _reap(self, worker: WorkerProcess) -> ExitStatus:
        # Before that: `close` must not kill by a descriptor that is closed.
        with self._lock:
            self._living.discard(worker)
        return worker.reap()

    def _add(self, worker: WorkerProcess, *, is_warm: bool) -> None:
        with self._lock:
            if len(self._idle) < self._max_idle and not self._is_closed:
                # The last one is taken first, and a new worker has nothing in its caches.
                self._idle.insert(len(self._idle) if is_warm else 0, worker)
                return
        worker.kill()
        self._reap_in_background(worker)

    def _restock(self) -> None:
        if self._is_short():
            with suppress(SandboxError):
                self.prefork(1)

    def _restock_in_background(self) -> None:
        if self._is_short():
            # The executor refuses after ``close``, when no worker is needed any more.
            with suppress(RuntimeError):
                self._restocking.submit(self._restock)

    def _is_short(self) -> bool:
        with self._lock:
            return len(self._idle) < self._min_idle and not self._is_closed

"""The workers that live: how they are confined, and whether another could be had.

The nursery adds each worker that it forks and removes each that has ended; probes ask.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from function_script.errors import SandboxError
from function_script.sandbox import measures
from function_script.sandbox.measures import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.sandbox.measures import Confinement
    from function_script.sandbox.worker_process import WorkerProcess

# A worker that was asked for and is not there after this time is late.
_LATE_SECONDS = 5.0


class Registry:
    """Knows the living workers by their process ids. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: dict[int, tuple[WorkerProcess, Confinement]] = {}
        self._births: list[float] = []
        # Until the first worker is there.
        self._has_failed = True
        self._last = UNKNOWN

    @contextmanager
    def birth(self) -> Iterator[None]:
        """Note how long the birth of a worker takes, and whether it fails."""
        began = time.monotonic()
        with self._lock:
            self._births.append(began)
        has_failed = False
        try:
            yield
        except SandboxError:
            has_failed = True
            raise
        finally:
            with self._lock:
                self._births.remove(began)
                self._has_failed = has_failed

    def add(self, child: WorkerProcess, confinement: Confinement) -> None:
        """Note a new worker."""
        with self._lock:
            self._workers[child.pid] = child, confinement
            self._last = confinement

    def remove(self, pid: int) -> None:
        """Forget a worker that has ended."""
        with self._lock:
            self._workers.pop(pid, None)

    def confinement(self) -> Confinement:
        """Return what holds for all living workers, and for the one that was born last."""
        with self._lock:
            living = [confinement for _, confinement in self._workers.values()]
            return measures.combine([self._last, *living])

    def is_able(self) -> bool:
        """Whether a worker lives, or the last one that was asked for came in time."""
        late = time.monotonic() - _LATE_SECONDS
        with self._lock:
            if any(child.is_alive() for child, _ in self._workers.values()):
                return True
            return not self._has_failed and all(began > late for began in self._births)

"""A pool whose current run ends when the page cancels it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from function_script.errors import SandboxError
from function_script.sandbox import Failed, Pool, PoolOptions, Reply
from function_script.sandbox.execution import Execution, WorkerLost
from function_script.sandbox.outcome import Cause


class CancellablePool(Pool):
    """Runs one step at a time for one rendering; a cancelled one runs no further step."""

    def __init__(self, options: PoolOptions) -> None:
        super().__init__(options)
        self._lock = threading.Lock()
        self._execution: Execution | None = None
        self._is_cancelled = False

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Begin a rendering that was not cancelled yet."""
        with self._lock:
            self._is_cancelled = False
        yield

    def cancel(self) -> None:
        """Kill the worker of the current run."""
        with self._lock:
            self._is_cancelled = True
            if self._execution is not None:
                self._execution.worker.kill()

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request, as `Pool.run`; a cancelled rendering fails."""
        reply = None if self._is_cancelled else super().run(data, timeout_seconds)
        if reply is None or self._is_cancelled:
            return Failed(error=SandboxError.of("the rendering was cancelled"), cause=Cause.KILLED)
        return reply

    def _run(self, execution: Execution) -> Reply | WorkerLost:
        with self._lock:
            self._execution = execution
        try:
            return super()._run(execution)
        finally:
            with self._lock:
                self._execution = None

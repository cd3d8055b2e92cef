"""The process of a plain worker: a fresh interpreter that serves one connection.

Programs run in a thread, since only a thread's stack can be made as large as they need.
"""

import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from function_script.request.limits import Limits
from function_script.sandbox import rlimits
from function_script.sandbox.ipc import READY
from function_script.sandbox.shared_memory import SharedMemoryChannel
from function_script.sandbox.worker import Handle, Worker, run_until_exit
from function_script.sandbox.zygote_config import ZygoteConfig, load_handler
from function_script.step.telemetry import Answered

_STATM = Path("/proc/self/statm")
# The unit of getrusage(2): bytes on macOS, KiB on Linux and BSD.
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


def main(connection_fd: int, memory_fd: int, log_fd: int, config_text: str) -> None:
    """Answer requests until the pool closes the connection."""
    # Ctrl-C in a terminal reaches the whole group; only the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    config = ZygoteConfig.from_literal(config_text)
    threading.stack_size(rlimits.STACK_BYTES)
    thread = threading.Thread(target=_run_worker, args=(connection_fd, memory_fd, log_fd, config))
    thread.start()
    thread.join()


def _run_worker(connection_fd: int, memory_fd: int, log_fd: int, config: ZygoteConfig) -> None:
    handle = load_handler(config)

    def serve() -> None:
        connection = socket.socket(fileno=connection_fd)
        os.dup2(log_fd, 2)
        os.close(log_fd)
        rlimits.limit_worker()
        channel = SharedMemoryChannel(connection, memory_fd)
        os.close(memory_fd)
        memory: rlimits.MemoryLimit | PeakMemory
        guarded = handle
        if _STATM.exists():
            memory = rlimits.MemoryLimit(config.limits.memory_bytes)
        else:
            # The size of the address space is unknown: the pool watches the resident size.
            memory = peak_memory = PeakMemory(config.limits.memory_bytes)
            guarded = peak_memory.guard(handle)
        worker = Worker(
            channel=channel,
            handle=guarded,
            limits=config.limits,
            memory=memory,
            watchdog=rlimits.Watchdog(on_the_clock=True),
        )
        connection.send(READY)
        worker.serve(config.max_runs)

    run_until_exit(serve)


class PeakMemory:
    """The peak resident size of this process, the only size that every POSIX system counts."""

    def __init__(self, max_bytes: int) -> None:
        self._idle_bytes = _peak_bytes()
        self._max_bytes = max_bytes

    def limit(self, max_bytes: int) -> None:
        """Let a run add at most ``max_bytes`` to the idle worker from now on."""
        self._max_bytes = max_bytes

    def grown_bytes(self) -> int:
        """Return the peak less what the worker had when it was idle."""
        return _peak_bytes() - self._idle_bytes

    def guard(self, handle: Handle) -> Handle:
        """Wrap ``handle`` to fail a run that exceeded the limit between two polls of the pool."""

        def guarded(
            data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes
        ) -> Answered:
            before = self.grown_bytes()
            result = handle(data, limits, on_limits, seed)
            # Otherwise an earlier run reached that peak, under another limit.
            if before < self.grown_bytes() > self._max_bytes:
                raise MemoryError
            return result

        return guarded


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES

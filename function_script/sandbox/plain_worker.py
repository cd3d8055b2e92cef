"""The life of a plain worker process: a fresh interpreter that serves one connection.

Started by ``plain``. Programs run in a thread, for a thread's stack can be made as large as theirs
must be; the main thread only waits.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.sandbox import rlimits, warming
from function_script.sandbox.stream import StreamChannel
from function_script.sandbox.worker import Worker
from function_script.sandbox.zygote_config import ZygoteConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.limits import Limits
    from function_script.sandbox.worker import Handle, HandlerResult, Memory

_SIZES = Path("/proc/self/statm")
# How getrusage(2) counts memory: Linux and BSD in KiB.
_RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024


def main(connection_fd: int, log_fd: int, settings_json: str) -> None:
    """Answer requests until the pool hangs up."""
    # Ctrl-C in a terminal reaches the whole group; only the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    settings = ZygoteConfig.from_json(settings_json)
    threading.stack_size(rlimits.STACK_BYTES)
    thread = threading.Thread(target=_live, args=(connection_fd, log_fd, settings))
    thread.start()
    thread.join()


def _live(connection_fd: int, log_fd: int, settings: ZygoteConfig) -> None:
    handle = warming.load(settings)
    code = 1
    try:
        connection = socket.socket(fileno=connection_fd)
        os.dup2(log_fd, 2)
        os.close(log_fd)
        rlimits.bound_worker()
        channel = StreamChannel(connection, settings.capacity_bytes)
        memory = _memory(settings.limits)
        worker = Worker(
            channel=channel,
            handle=memory.guard(handle) if isinstance(memory, PeakMemory) else handle,
            limits=settings.limits,
            memory=memory,
            alarm=rlimits.Watchdog(on_the_clock=True),
        )
        channel.announce()
        worker.serve(settings.max_runs)
        code = 0
    except MemoryError:
        # Not even the report could be written; the signal tells the pool why.
        os.abort()
    finally:
        os._exit(code)


def _memory(limits: Limits) -> Memory:
    """Bound the address space where its size can be known; else the pool watches."""
    if _SIZES.exists():
        return rlimits.MemoryLimit(limits.memory_bytes)
    return PeakMemory(limits.memory_bytes)


class PeakMemory:
    """The most that this process has held at a time, which is all that POSIX systems count."""

    def __init__(self, max_bytes: int) -> None:
        self._idle_bytes = _peak_bytes()
        self._max_bytes = max_bytes

    def limit(self, max_bytes: int) -> None:
        """Let a run hold at most ``max_bytes`` more than the idle worker from now on."""
        self._max_bytes = max_bytes

    def grown_bytes(self) -> int:
        """Count what the worker has held at most beyond what it had when it was idle."""
        return _peak_bytes() - self._idle_bytes

    def guard(self, handle: Handle) -> Handle:
        """Wrap ``handle`` so that a run fails which held too much, and was quicker than a look."""

        def guarded(
            data: bytes, limits: Limits, on_limits: Callable[[Limits], None]
        ) -> HandlerResult:
            before = self.grown_bytes()
            answer = handle(data, limits, on_limits)
            # Else an earlier run was the one that held so much, under another limit.
            if before < self.grown_bytes() > self._max_bytes:
                raise MemoryError
            return answer

        return guarded


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RESIDENT_UNIT

"""The pool's side of plain workers, for systems with POSIX only, such as macOS.

Each worker is an interpreter of its own. The pool watches its resident size while it runs.
"""

from __future__ import annotations

import math
import os
import shutil
import socket
import subprocess
import threading
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.sandbox import spawn_errors
from function_script.sandbox.ipc import READY
from function_script.sandbox.outcome import Cause, ExitStatus
from function_script.sandbox.shared_memory import open_link
from function_script.sandbox.spawn import spawn
from function_script.sandbox.worker_process import EXIT_SECONDS, WorkerProcess

if TYPE_CHECKING:
    from function_script.sandbox.zygote_config import ZygoteConfig

_MODULE = "function_script.sandbox.plain_worker"
# A worker can allocate some 100 MiB between two polls of its size.
_POLL_SECONDS = 0.02
# Imports on a cold disk can take seconds; a worker that is silent for longer hangs.
_READY_SECONDS = 30.0
_PS_SECONDS = 5.0


class PlainWorker(WorkerProcess):
    """A worker with an interpreter of its own."""

    counts_cpu = False

    def __init__(self, config: ZygoteConfig) -> None:
        """Start the process; raise CallRefusedError."""
        # A stream: macOS has no SOCK_SEQPACKET. No two frames are ever on their way at a time.
        with (
            open_link(socket.SOCK_STREAM, config.capacity_bytes) as (link, descriptors),
            spawn_errors.system_call(spawn_errors.Call.EXECVE),
        ):
            self._process = spawn(_MODULE, descriptors, config.to_literal())
        super().__init__(link, self._process.pid)
        self._max_bytes = config.limits.memory_bytes
        self._idle_bytes = self._peak_bytes = 0
        self._started = 0.0
        # Until the first request there is nothing to watch.
        self._next_poll = math.inf
        self._cause: Cause | None = None

    def wait_until_ready(self) -> None:
        """Return when the worker accepts requests; raise SandboxError when it does not."""
        if self.read_reply(_READY_SECONDS) != READY:
            reason = "the new process is late or ends at once"
            raise spawn_errors.cannot_start(reason, "what it printed above may say why")
        try:
            self._idle_bytes = resident_bytes(self.pid)
        except OSError as error:
            raise spawn_errors.cannot_start(f"its memory cannot be watched: {error}") from error

    def is_alive(self) -> bool:
        """Report whether the process has not exited and has sent no frame without a request."""
        # Any frame, like the end, shows a worker not to use.
        return self._process.poll() is None and self.read_reply_nowait() is None

    def send_requests(self, requests: list[tuple[bytes, bytes]]) -> None:
        """Send a request, from which on its time and memory count."""
        self._started = time.monotonic()
        self._next_poll = self._started + _POLL_SECONDS
        super().send_requests(requests)

    def read_reply(self, timeout_seconds: float) -> bytes | None:
        """Return the next frame as others do, and watch the memory meanwhile."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            frame = super().read_reply(min(deadline, self._next_poll) - time.monotonic())
            now = time.monotonic()
            if frame is not None or deadline <= now < self._next_poll:
                return frame
            if now >= self._next_poll:
                self._poll_memory()

    def used_seconds(self) -> float:
        """Return the time since the last request: only Linux has a clock of its CPU time."""
        return time.monotonic() - self._started

    def kill(self) -> None:
        """Kill the process, without waiting for its end."""
        self._process.kill()

    def exit_fileno(self) -> int:
        """Return the connection, which ends with the process; frames may be left on it."""
        return self._connection.fileno()

    def wait_for_exit(self) -> bool:
        """Wait for a killed process; return False when it has not exited after a long while."""
        try:
            self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def exit_status(self) -> ExitStatus:
        """Return the status of a process that has exited."""
        code: int | None = self._process.poll()
        # Encoded like wait(2).
        status = code if code is None else -code if code < 0 else code << 8
        return ExitStatus(status=status, peak_bytes=self._peak_bytes, cause=self._cause)

    def _poll_memory(self) -> None:
        """Kill the worker when it exceeds its memory limit, or when its size is unknown."""
        begun = self.begun()
        limit_bytes = self._max_bytes if begun is None else begun.memory_bytes or self._max_bytes
        try:
            grown_bytes = resident_bytes(self.pid) - self._idle_bytes
        except OSError:
            self._process.kill()
        else:
            self._peak_bytes = max(self._peak_bytes, grown_bytes)
            # One that has exited meanwhile has a status of its own, which says why.
            if grown_bytes > limit_bytes and self._process.poll() is None:
                self._cause = Cause.MEMORY
                self._process.kill()
        self._next_poll = time.monotonic() + _POLL_SECONDS


class PlainFactory:
    """Spawns plain workers, the first one at once. Thread-safe."""

    def __init__(self, config: ZygoteConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._is_closed = False
        # It imports its modules while the caller prepares the first request.
        self._first: PlainWorker | None = self._start()

    def spawn_worker(self) -> WorkerProcess:
        """Return a new worker; raise SandboxError when none can be spawned."""
        with self._lock:
            if self._is_closed:
                raise spawn_errors.cannot_start(
                    "the function is shutting down", "it is tried again"
                )
            worker, self._first = self._first or self._start(), None
        # Without the lock: imports take long, and several workers may start at once.
        try:
            worker.wait_until_ready()
        except BaseException:
            worker.discard()
            raise
        return worker

    def close(self) -> None:
        """Spawn no more workers."""
        with self._lock:
            self._is_closed = True
            first, self._first = self._first, None
        if first is not None:
            first.discard()

    def _start(self) -> PlainWorker:
        try:
            return PlainWorker(self._config)
        except spawn_errors.CallRefusedError as refusal:
            raise spawn_errors.explain(refusal) from refusal


def resident_bytes(pid: int) -> int:
    """Return the resident size of a process; raise OSError when it is unknown."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return _resident_kib(pid) * 1024


def _resident_kib(pid: int) -> int:
    command = [_ps(), "-o", "rss=", "-p", str(pid)]
    try:
        # Descriptors are not inherited, and macOS starts it faster without closing them.
        process = subprocess.run(  # noqa: S603 - the system's own program
            command, close_fds=False, capture_output=True, check=True, timeout=_PS_SECONDS
        )
        return int(process.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise OSError(f"ps says nothing of process {pid}") from error


@cache
def _ps() -> str:
    path = shutil.which("ps", path=os.defpath)
    if path is None:
        raise FileNotFoundError("there is no ps")
    return path

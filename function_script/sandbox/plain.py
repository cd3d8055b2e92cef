"""The pool's side of plain workers: for systems that have no more than POSIX promises.

Each worker is an interpreter of its own. Its memory is watched from outside while it runs.
"""

from __future__ import annotations

import os
import queue
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from function_script.sandbox import interpreter, stream
from function_script.sandbox.ipc import Receipt, Request
from function_script.sandbox.measures import UNKNOWN
from function_script.sandbox.outcome import MAX_LOG_BYTES, Cause, ExitStatus
from function_script.sandbox.refusals import Call, CallRefusedError, cannot_start, explain, named
from function_script.sandbox.worker_process import LAST_BREATH_SECONDS, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox.measures import Confinement
    from function_script.sandbox.zygote_config import ZygoteConfig

# A worker can fill some 100 MiB between two looks.
_LOOK_SECONDS = 0.02
# Imports on a cold disk can take seconds; a worker that is silent for longer is stuck.
_READY_SECONDS = 30.0
_PS_SECONDS = 5.0


class PlainChild(WorkerProcess):
    """Owns a process, a connection and a file, until ``close``."""

    counts_cpu = False

    def __init__(self, settings: ZygoteConfig) -> None:
        """Start the process; raises CallRefusedError."""
        with ExitStack() as ours:
            with named(Call.OPEN):
                self._log: IO[bytes] = ours.enter_context(tempfile.TemporaryFile())
            with named(Call.SOCKETPAIR):
                self._connection, theirs = socket.socketpair()
            ours.enter_context(self._connection)
            with theirs, named(Call.EXECVE):
                descriptors = [theirs.fileno(), self._log.fileno()]
                self._process = interpreter.start("plain_worker", descriptors, settings)
            ours.pop_all()
        super().__init__(self._process.pid)
        self._incoming = stream.Incoming(self._connection, settings.capacity_bytes)
        self._ceiling_bytes = settings.limits.memory_bytes
        self._ceiling_seconds = settings.limits.timeout_seconds
        self._idle_bytes = self._peak_bytes = 0
        self._began = self._look_at = 0.0
        self._cause: Cause | None = None

    def wait_until_ready(self) -> None:
        """Return when the worker takes requests; raises SandboxError when it does not."""
        if self._incoming.next(time.monotonic() + _READY_SECONDS) != stream.READY:
            reason = "the new process is late or ends at once"
            raise cannot_start(reason, "what it printed above may say why")
        try:
            self._idle_bytes = resident_bytes(self.pid)
        except OSError as error:
            raise cannot_start(f"its memory cannot be watched: {error}") from error

    def is_alive(self) -> bool:
        """Tell whether the process has not ended; one that speaks unasked counts as ended."""
        return self._process.poll() is None and self._incoming.is_silent()

    def begin(self, data: bytes) -> None:
        """Hand over a request; a dead worker shows when its receipt is awaited."""
        self._began = time.monotonic()
        self._look_at = self._began + _LOOK_SECONDS
        self._incoming.limits = (0.0, 0)
        self._connection.settimeout(self._ceiling_seconds)
        try:
            self._connection.sendall(Request(len(data)).pack())
            self._connection.sendall(data)
        except OSError:
            return

    def receipt(self, timeout_seconds: float) -> bytes | None:
        """Wait for the next frame; no bytes: the worker is gone; None: nothing came in time."""
        end = time.monotonic() + timeout_seconds
        while True:
            kind = self._incoming.next(min(end, self._look_at))
            if kind is None:
                now = time.monotonic()
                if now >= self._look_at:
                    self._look()
                elif now >= end:
                    return None
            elif kind != stream.LIMITS:
                return self._incoming.receipt if kind == stream.RECEIPT else kind

    def receipt_now(self) -> bytes | None:
        """Do the same without waiting."""
        return self.receipt(0.0)

    def fileno(self) -> int:
        """Return the descriptor that turns readable when there is a receipt."""
        return self._connection.fileno()

    def payload(self, receipt: Receipt) -> tuple[bytes, bytes]:
        """Return response and report; they came with the receipt."""
        del receipt
        payload, self._incoming.payload = self._incoming.payload, (b"", b"")
        return payload

    def has_begun(self) -> bool:
        """Tell whether the worker has looked at the request it was handed last."""
        return self._incoming.limits[0] != 0

    def limits_in_force(self) -> tuple[float, int]:
        """Return timeout in seconds and memory in bytes, as the last input narrowed them."""
        return self._incoming.limits

    def finish(self, used_bytes: int) -> None:
        """Keep nothing: the payload was handed out."""

    def used_seconds(self) -> float:
        """Count the time since the last request began: no system but Linux has a cheaper clock."""
        return time.monotonic() - self._began

    def pause(self) -> None:
        """Let it run: the time on the clock would pass all the same."""

    def resume(self) -> None:
        """It was not stopped."""

    def set_aside(self) -> None:
        """Let others have most of the CPU: POSIX knows no lower class."""
        self.slow_down()

    def kill(self) -> None:
        """Have the process end; it takes a while."""
        self._process.kill()

    def has_ended(self) -> bool:
        """Wait for a process that was killed; False: it is not gone after a long while."""
        try:
            self._process.wait(LAST_BREATH_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def last_words(self) -> bytes:
        """Return what the worker had printed when it ended."""
        return os.pread(self._log.fileno(), MAX_LOG_BYTES, 0)

    def death(self) -> ExitStatus:
        """Tell how the process ended, which it has."""
        code: int | None = self._process.poll()
        # As wait(2) encodes it.
        status = code if code is None else -code if code < 0 else code << 8
        return ExitStatus(status=status, peak_bytes=self._peak_bytes, cause=self._cause)

    def close(self) -> None:
        """Release everything; the process has ended."""
        self._connection.close()
        self._log.close()

    def _look(self) -> None:
        """End the worker when it holds more than it may, or when that cannot be seen."""
        limit_bytes = self._incoming.limits[1] or self._ceiling_bytes
        try:
            grown_bytes = resident_bytes(self.pid) - self._idle_bytes
        except OSError:
            self._process.kill()
        else:
            self._peak_bytes = max(self._peak_bytes, grown_bytes)
            if grown_bytes > limit_bytes and self._process.poll() is None:
                self._cause = Cause.MEMORY
                self._process.kill()
        self._look_at = time.monotonic() + _LOOK_SECONDS


class PlainReaper:
    """Buries each worker when it has ended, one after the other, in a thread of its own."""

    def __init__(self, bury: Callable[[WorkerProcess], object]) -> None:
        self._bury = bury
        self._dying: queue.SimpleQueue[tuple[WorkerProcess, Callable[[], object]] | None]
        self._dying = queue.SimpleQueue()
        self._runner = threading.Thread(target=self._work, name="reaper", daemon=True)
        self._runner.start()

    def add(self, child: WorkerProcess, on_end: Callable[[], object]) -> None:
        """Bury ``child``, which was killed, when it has ended, and call ``on_end`` then."""
        self._dying.put((child, on_end))

    def close(self) -> None:
        """Return when all who were added are buried, or will not end."""
        self._dying.put(None)
        self._runner.join(LAST_BREATH_SECONDS)

    def _work(self) -> None:
        while (dying := self._dying.get()) is not None:
            child, on_end = dying
            if child.has_ended():
                self._bury(child)
                on_end()


class PlainNursery:
    """Starts plain workers, the first one at once. Thread-safe."""

    def __init__(self, settings: ZygoteConfig) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._is_closed = False
        self._children: dict[int, PlainChild] = {}
        self._first: PlainChild | None = self._start()

    def fork(self) -> WorkerProcess:
        """Return a new worker; raises SandboxError when there is no way to get one."""
        with self._lock:
            if self._is_closed:
                raise cannot_start("the function is shutting down", "it is tried again")
            child, self._first = self._first or self._start(), None
        try:
            child.wait_until_ready()
        except BaseException:
            self._end(child)
            raise
        return child

    def reap(self, pid: int) -> ExitStatus:
        """Tell how a worker ended that has ended."""
        with self._lock:
            child = self._children.pop(pid)
        return child.death()

    def build_reaper(self, bury: Callable[[WorkerProcess], object]) -> PlainReaper:
        """Build who waits for the end of workers, and starts at once."""
        return PlainReaper(bury)

    def confinement(self) -> Confinement:
        """Return that nothing is known to hold: no server asks here."""
        return UNKNOWN

    def is_able(self) -> bool:
        """Tell whether workers can be had."""
        return not self._is_closed

    def close(self) -> None:
        """End every worker that is left; a run that waits for one notices."""
        with self._lock:
            self._is_closed = True
            first, self._first = self._first, None
            children = list(self._children.values())
        for child in children:
            child.kill()
            child.has_ended()
        if first is not None:
            self._end(first)

    def _start(self) -> PlainChild:
        try:
            child = PlainChild(self._settings)
        except CallRefusedError as refusal:
            raise explain(refusal.call, refusal.errno) from refusal
        self._children[child.pid] = child
        return child

    def _end(self, child: PlainChild) -> None:
        child.kill()
        child.has_ended()
        self.reap(child.pid)
        child.close()


def resident_bytes(pid: int) -> int:
    """Return how much memory a process holds; raises OSError when no way shows it."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return _resident_kib(pid) * 1024


def _resident_kib(pid: int) -> int:
    command = [_ps(), "-o", "rss=", "-p", str(pid)]
    try:
        # Descriptors are not inherited anyway, and macOS starts it faster without closing them.
        done = subprocess.run(  # noqa: S603 - the system's own program
            command, close_fds=False, capture_output=True, check=True, timeout=_PS_SECONDS
        )
        return int(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise OSError(f"ps says nothing of process {pid}") from error


@cache
def _ps() -> str:
    path = shutil.which("ps", path=os.defpath)
    if path is None:
        raise FileNotFoundError("there is no ps")
    return path

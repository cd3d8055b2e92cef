"""One worker, seen from the pool: hand it a request, wait for its receipt, end it."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from function_script.sandbox.ipc import Request, receive
from function_script.sandbox.outcome import MAX_LOG_BYTES

if TYPE_CHECKING:
    from function_script.sandbox.ipc import Receipt
    from function_script.sandbox.shared_memory import SharedMemory

# How the kernel numbers the CPU clock of another process, see clock_getcpuclockid(3).
_CPU_CLOCK = 2
# A process that is killed must get the CPU once more, and may be the last to get it.
LAST_BREATH_SECONDS = 10.0
# Niceness: a tenth of a normal process' share when both want the CPU.
_LATER = 10


class WorkerProcess(ABC):
    """A worker process, until ``close``.

    ``counts_cpu``: what ``used_seconds`` counts is CPU time, and a limit of time is one of that.
    """

    counts_cpu = True

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.is_reusable = True

    @abstractmethod
    def is_alive(self) -> bool:
        """Tell whether the process has not ended."""

    @abstractmethod
    def begin(self, data: bytes) -> None:
        """Hand over a request; a dead worker shows when its receipt is awaited."""

    @abstractmethod
    def receipt(self, timeout_seconds: float) -> bytes | None:
        """Wait for the next frame; no bytes: the worker is gone; None: nothing came in time."""

    @abstractmethod
    def receipt_now(self) -> bytes | None:
        """Do the same without waiting."""

    @abstractmethod
    def fileno(self) -> int:
        """Return the descriptor that turns readable when there is a receipt."""

    @abstractmethod
    def payload(self, receipt: Receipt) -> tuple[bytes, bytes]:
        """Return response and report, as announced; raise ValueError when they cannot be there."""

    @abstractmethod
    def has_begun(self) -> bool:
        """Tell whether the worker has looked at the request it was handed last."""

    @abstractmethod
    def limits_in_force(self) -> tuple[float, int]:
        """Return timeout in seconds and memory in bytes, as the last input narrowed them."""

    @abstractmethod
    def finish(self, used_bytes: int) -> None:
        """Give the memory of a large request back."""

    @abstractmethod
    def used_seconds(self) -> float:
        """Count the CPU time of the last request so far; 0 when the process is gone."""

    @abstractmethod
    def pause(self) -> None:
        """Keep it from running until ``resume``, if that can be done."""

    @abstractmethod
    def resume(self) -> None:
        """Let it go on."""

    def slow_down(self) -> None:
        """Let others have most of the CPU. Not to be undone without privileges: use it no more."""
        self.is_reusable = False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _LATER)

    @abstractmethod
    def set_aside(self) -> None:
        """Let it run only while nobody else would, and give way at once. As little to be undone."""

    @abstractmethod
    def kill(self) -> None:
        """Have the process end; it takes a while."""

    @abstractmethod
    def has_ended(self) -> bool:
        """Wait for a process that was killed; False: it is not gone after a long while."""

    @abstractmethod
    def last_words(self) -> bytes:
        """Return what the worker had printed when it ended."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; the process has ended."""


class ForkedChild(WorkerProcess):
    """Owns four descriptors and a mapping, until ``close``."""

    def __init__(
        self, *, connection: socket.socket, box: SharedMemory, log: int, pid: int, pidfd: int
    ) -> None:
        super().__init__(pid)
        self._connection = connection
        self._box = box
        self._log = log
        self._pidfd = pidfd
        self._cpu_seconds_before = 0.0

    def is_alive(self) -> bool:
        """Whether the process has not ended; costs two microseconds."""
        return not self._has_ended_within(0.0)

    def begin(self, data: bytes) -> None:
        """Hand over a request; a dead worker shows when its receipt is awaited."""
        self._cpu_seconds_before = self._cpu_seconds()
        self._box.put_limits(0.0, 0)
        self._box.put(data)
        frame = Request(length=len(data)).pack()
        try:
            self._connection.send(frame)
        except (BrokenPipeError, ConnectionResetError):
            return

    def receipt(self, timeout_seconds: float) -> bytes | None:
        """The next frame; no bytes: the worker is gone; None: nothing came in time."""
        self._connection.settimeout(max(timeout_seconds, 1e-6))
        try:
            return receive(self._connection)
        except TimeoutError:
            return None

    def receipt_now(self) -> bytes | None:
        """The same, without waiting."""
        try:
            return receive(self._connection, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None

    def fileno(self) -> int:
        """The descriptor that turns readable when there is a receipt."""
        return self._connection.fileno()

    def payload(self, receipt: Receipt) -> tuple[bytes, bytes]:
        """Response and report, as announced; raises ValueError when they cannot be there."""
        response = self._box.get(receipt.payload_length)
        return response, self._box.get(receipt.report_length, after=receipt.payload_length)

    def has_begun(self) -> bool:
        """Whether the worker has looked at the request it was handed last."""
        timeout_seconds, _ = self._box.get_limits()
        return timeout_seconds != 0

    def limits_in_force(self) -> tuple[float, int]:
        """Timeout in seconds and memory in bytes, as the last request's input narrowed them."""
        return self._box.get_limits()

    def finish(self, used_bytes: int) -> None:
        """Give the memory of a large request back."""
        self._box.trim(used_bytes)

    def used_seconds(self) -> float:
        """CPU time used for the last request so far; 0 when the process is gone."""
        return max(self._cpu_seconds() - self._cpu_seconds_before, 0.0)

    def set_aside(self) -> None:
        """Let it run only while nobody else would, and give way at once. As little to be undone."""
        self.slow_down()
        with suppress(OSError):
            os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))

    def pause(self) -> None:
        """Stop the process until ``resume``."""
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process go on."""
        self._send(signal.SIGCONT)

    def kill(self) -> None:
        """Have the process end; it takes a while."""
        self._send(signal.SIGKILL)

    def exit_fileno(self) -> int:
        """Return the descriptor that turns readable when the process has ended."""
        return self._pidfd

    def has_ended(self) -> bool:
        """Wait for a process that was killed; False: it is not gone after a long while."""
        return self._has_ended_within(LAST_BREATH_SECONDS)

    def last_words(self) -> bytes:
        """What the worker had printed when it ended."""
        return os.pread(self._log, MAX_LOG_BYTES, 0)

    def close(self) -> None:
        """Release everything; the process has ended."""
        with suppress(ChildProcessError):
            # Process 1 of a container inherits the workers of a zygote that was killed.
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG)
        self._connection.close()
        self._box.close()
        os.close(self._log)
        os.close(self._pidfd)

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def _cpu_seconds(self) -> float:
        try:
            return time.clock_gettime(~self.pid << 3 | _CPU_CLOCK)
        except OSError:
            return 0.0

    def _has_ended_within(self, seconds: float) -> bool:
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return bool(poller.poll(int(seconds * 1000)))

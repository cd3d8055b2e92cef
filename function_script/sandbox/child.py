"""One worker, seen from the pool: hand it a request, wait for its receipt, end it."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress

from function_script.sandbox.frames import Box, Receipt, Request, receive
from function_script.sandbox.outcome import MAX_LOG_BYTES

# How the kernel numbers the CPU clock of another process, see clock_getcpuclockid(3).
_CPU_CLOCK = 2
# A process that is killed must get the CPU once more, and may be the last to get it.
_LAST_BREATH_SECONDS = 10.0
# Niceness: a tenth of a normal process' share when both want the CPU.
_LATER = 10


class Child:
    """Owns four descriptors and a mapping, until ``close``."""

    def __init__(
        self, *, connection: socket.socket, box: Box, log: int, pid: int, pidfd: int
    ) -> None:
        self._connection = connection
        self._box = box
        self._log = log
        self.pidfd = pidfd
        self.pid = pid
        self.is_reusable = True
        self._cpu_seconds_before = 0.0

    def is_alive(self) -> bool:
        """Whether the process has not ended; costs two microseconds."""
        return not self._has_ended_within(0.0)

    def begin(self, data: bytes, budget_seconds: float) -> None:
        """Hand over a request; a dead worker shows when its receipt is awaited."""
        self._cpu_seconds_before = self._cpu_seconds()
        self._box.put_limits(0.0, 0)
        self._box.put(data)
        frame = Request(length=len(data), budget_seconds=budget_seconds).pack()
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

    def slow_down(self) -> None:
        """Let others have most of the CPU. Not to be undone without privileges: use it no more."""
        self.is_reusable = False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _LATER)

    def set_aside(self) -> None:
        """Let it run only while nobody else would, and give way at once. As little to be undone."""
        self.slow_down()
        with suppress(OSError):
            os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))

    def kill(self) -> None:
        """Have the process end; it takes a while."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def has_ended(self) -> bool:
        """Wait for a process that was killed; False: it is not gone after a long while."""
        return self._has_ended_within(_LAST_BREATH_SECONDS)

    def last_words(self) -> bytes:
        """What the worker had printed when it ended."""
        return os.pread(self._log, MAX_LOG_BYTES, 0)

    def close(self) -> None:
        """Release everything; the process has ended."""
        with suppress(ChildProcessError):
            # Process 1 of a container inherits the workers of a zygote that was killed.
            os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG)
        self._connection.close()
        self._box.close()
        os.close(self._log)
        os.close(self.pidfd)

    def _cpu_seconds(self) -> float:
        try:
            return time.clock_gettime(~self.pid << 3 | _CPU_CLOCK)
        except OSError:
            return 0.0

    def _has_ended_within(self, seconds: float) -> bool:
        poller = select.poll()
        poller.register(self.pidfd, select.POLLIN)
        return bool(poller.poll(int(seconds * 1000)))

"""A worker process as its pool sees it: send requests, wait for the replies, kill."""

from __future__ import annotations

import os
import select
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from function_script.sandbox.confinement import UNKNOWN
from function_script.sandbox.ipc import MAX_BATCH, Begun, ReplyHeader, RequestHeader, receive
from function_script.sandbox.outcome import MAX_LOG_BYTES, ExitStatus

if TYPE_CHECKING:
    from function_script.sandbox.shared_memory import Link

# The number of another process' CPU clock, see clock_getcpuclockid(3).
_CPU_CLOCK = 2
# A killed process must get the CPU once more, and may be the last one to get it.
EXIT_SECONDS = 10.0
# Niceness: a tenth of a normal process' share when both want the CPU.
_NICENESS = 10


class WorkerProcess(ABC):
    """A worker process with its link to the pool, until ``reap``.

    ``counts_cpu``: ``used_seconds`` returns CPU time, and a limit of time is one of CPU time.
    A batch of requests has ``max_batch`` at most.
    """

    counts_cpu = True
    max_batch = 1

    def __init__(self, link: Link, pid: int) -> None:
        self.pid = pid
        self.is_reusable = True
        self.confinement = UNKNOWN
        """The confinement that it has reported."""
        self._link = link
        self._connection, self._memory = link.connection, link.memory

    @abstractmethod
    def is_alive(self) -> bool:
        """Report whether the process has not exited."""

    def send_requests(self, requests: list[tuple[bytes, bytes]]) -> None:
        """Send a batch of requests with their seeds.

        That the worker is gone shows when its replies are read.
        """
        # The marks of the last batch would be taken for those of this one.
        self._memory.start_batch()
        headers = []
        for index, (data, seed) in enumerate(requests):
            self._memory.write(data, index=index)
            headers.append(RequestHeader(len(data), seed).pack())
        try:
            self._connection.send(b"".join(headers))
        except (BrokenPipeError, ConnectionResetError):
            return

    def read_reply(self, timeout_seconds: float) -> bytes | None:
        """Return the next frame, b"" when the worker is gone, None when nothing came in time."""
        self._connection.settimeout(max(timeout_seconds, 1e-6))
        try:
            return receive(self._connection)
        except TimeoutError:
            return None

    def read_reply_nowait(self) -> bytes | None:
        """Return the next frame, b"" when the worker is gone, None when nothing has come."""
        # MSG_DONTWAIT would not do: Python waits for a socket that has a timeout. Setting one is a
        # system call.
        if self._connection.gettimeout() != 0.0:
            self._connection.settimeout(0)
        try:
            return receive(self._connection)
        except BlockingIOError:
            return None

    def fileno(self) -> int:
        """Return the descriptor that is readable when a reply has come."""
        return self._connection.fileno()

    def read_payload(self, header: ReplyHeader, index: int) -> tuple[bytes, bytes]:
        """Return response and report of the request at ``index`` of the batch.

        Raise ValueError for lengths that cannot be right.
        """
        length = header.payload_length
        response = self._memory.read(length, index=index)
        return response, self._memory.read(header.report_length, index=index, offset=length)

    def take_back(self) -> None:
        """Have the worker begin no more requests of its batch."""
        self._memory.take_back()

    def begun(self) -> Begun | None:
        """Return the request of its batch that the worker has begun last, with its limits."""
        return self._memory.begun()

    def trim(self, used_bytes: int) -> None:  # noqa: B027 - not every system takes memory back
        """Return the memory of a large request to the system."""

    @abstractmethod
    def used_seconds(self) -> float:
        """Return the CPU time of the last batch so far; 0 when the process is gone."""

    def pause(self) -> None:  # noqa: B027 - time on the clock would pass all the same
        """Stop the process until ``resume``, where its CPU time counts."""

    def resume(self) -> None:  # noqa: B027 - see `pause`
        """Continue the process."""

    def set_sched_idle(self) -> None:
        """Leave most of the CPU to others. Irreversible without privileges: retire it after."""
        self.is_reusable = False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _NICENESS)

    @abstractmethod
    def kill(self) -> None:
        """Kill the process, without waiting for its end."""

    @abstractmethod
    def exit_fileno(self) -> int:
        """Return the descriptor that is readable when the killed process has exited."""

    @abstractmethod
    def wait_for_exit(self) -> bool:
        """Wait for a killed process; return False when it has not exited after a long while."""

    def read_stderr(self) -> bytes:
        """Return the beginning of what the worker has printed during the last request."""
        return os.pread(self._link.log, MAX_LOG_BYTES, 0)

    @abstractmethod
    def exit_status(self) -> ExitStatus:
        """Return the status of a process that has exited."""

    def reap(self) -> ExitStatus:
        """Release all resources of a process that has exited, and return its status."""
        exit_status = self.exit_status()
        self._close()
        return exit_status

    def discard(self) -> None:
        """Kill and reap a worker that was never used."""
        self.kill()
        self.wait_for_exit()
        self.reap()

    def _close(self) -> None:
        self._link.close()


class ForkedWorker(WorkerProcess):
    """A worker that a zygote has forked. It owns its pidfd, too.

    ``read_status`` returns the exit status of a process by its id.
    """

    max_batch = MAX_BATCH

    def __init__(
        self, link: Link, pid: int, pidfd: int, read_status: Callable[[int], ExitStatus]
    ) -> None:
        super().__init__(link, pid)
        self._pidfd = pidfd
        self._read_status = read_status
        self._cpu_seconds_before = 0.0

    def is_alive(self) -> bool:
        """Report whether the process has not exited; takes two microseconds."""
        return not self._exits_within(0.0)

    def send_requests(self, requests: list[tuple[bytes, bytes]]) -> None:
        """Send a batch, from which on its CPU time counts."""
        # Before the frame is sent, at which the worker begins.
        self._cpu_seconds_before = self._cpu_seconds()
        super().send_requests(requests)

    def trim(self, used_bytes: int) -> None:
        """Return the memory of a large request to the system."""
        self._memory.trim(used_bytes)

    def used_seconds(self) -> float:
        """Return the CPU time of the last batch so far; 0 when the process is gone."""
        return max(self._cpu_seconds() - self._cpu_seconds_before, 0.0)

    def set_sched_idle(self) -> None:
        """Run only while the CPU is idle. Irreversible without privileges: retire it after."""
        super().set_sched_idle()
        with suppress(OSError):
            os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))

    def pause(self) -> None:
        """Stop the process until ``resume``."""
        self._send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue the process."""
        self._send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the process, without waiting for its end."""
        self._send_signal(signal.SIGKILL)

    def exit_fileno(self) -> int:
        """Return the descriptor that is readable when the killed process has exited."""
        return self._pidfd

    def wait_for_exit(self) -> bool:
        """Wait for a killed process; return False when it has not exited after a long while."""
        return self._exits_within(EXIT_SECONDS)

    def exit_status(self) -> ExitStatus:
        """Return the status of a process that has exited, which its zygote has."""
        return self._read_status(self.pid)

    def _close(self) -> None:
        with suppress(ChildProcessError):
            # Process 1 of a container inherits the workers of a killed zygote.
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG)
        super()._close()
        os.close(self._pidfd)

    def _send_signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def _cpu_seconds(self) -> float:
        try:
            return time.clock_gettime(~self.pid << 3 | _CPU_CLOCK)
        except OSError:
            return 0.0

    def _exits_within(self, seconds: float) -> bool:
        # Not `select`, which refuses descriptors above 1,023.
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return bool(poller.poll(int(seconds * 1000)))

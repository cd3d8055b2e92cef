"""The pool's side of the zygote: spawn it, have it fork workers, replace it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack

from function_script.sandbox import confinement, ipc, spawn_errors
from function_script.sandbox.confinement import Confinement, Measure
from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.shared_memory import open_link
from function_script.sandbox.spawn import end, spawn
from function_script.sandbox.worker_process import ForkedWorker, WorkerProcess
from function_script.sandbox.zygote_config import ZygoteConfig
from function_script.texts.errors import SandboxError

_MODULE = "function_script.sandbox.zygote"
# A new process that is killed exits in a moment.
_MAX_POLLS = 100
_POLL_SECONDS = 0.01
# Imports on a cold disk, or with a tenth of a CPU, take long.
_BOOT_SECONDS = 180.0
# A zygote that was ready and does not answer for longer hangs.
ANSWER_SECONDS = 15.0
# From the fork of a worker to its first frame.
_READY_SECONDS = 15.0
# A worker or a zygote that exits meanwhile was most likely killed from outside.
_MAX_ATTEMPTS = 4
_SHORTAGE_HINT = "is the node or the pod short of CPU or memory?"
_CLOSE_SECONDS = 2.0


class ForkServer:
    """Forks workers from a zygote, and spawns another zygote when that one exits or is late.

    Thread-safe. ``is_strict``: a worker that is not fully confined is killed instead of used.
    """

    def __init__(self, config: ZygoteConfig, *, is_strict: bool = False) -> None:
        self._config = config
        self._is_strict = is_strict
        self._lock = threading.Lock()
        self._is_closed = False
        self._zygote = self._spawn_zygote()

    def spawn_worker(self) -> WorkerProcess:
        """Return a new worker; raise SandboxError when none can be spawned."""
        for _ in range(_MAX_ATTEMPTS):
            worker = self._try_spawn()
            if worker is not None:
                return worker
        raise spawn_errors.cannot_start("the new process ended before it was ready", _SHORTAGE_HINT)

    def close(self) -> None:
        """End the zygote, and its workers with it."""
        with self._lock:
            self._is_closed = True
            self._zygote.close()

    def _spawn_zygote(self) -> _ZygoteClient:
        try:
            return _ZygoteClient(self._config)
        except OSError as error:
            # Popen names the program where it was not executed, and nothing where its process
            # could not get a group of its own.
            is_forbidden = error.errno in {errno.EPERM, errno.ENOSYS}
            is_of_group = is_forbidden and error.filename is None
            call = spawn_errors.Call.SETPGID if is_of_group else spawn_errors.Call.EXECVE
            refusal = spawn_errors.CallRefusedError(call, error.errno or 0)
            raise spawn_errors.explain(refusal) from error

    def _try_spawn(self) -> WorkerProcess | None:
        """Fork a worker and check its confinement; return None when it, or its zygote, exits.

        Raise SandboxError when it cannot be forked or must not be used.
        """
        try:
            with open_link(socket.SOCK_SEQPACKET, self._config.capacity_bytes) as (link, files):
                pid, pidfd = self._fork(files)
        except spawn_errors.CallRefusedError as refusal:
            raise spawn_errors.explain(refusal) from refusal
        except _ZygoteLostError:
            # It may have forked a worker that still sends on its connection before it dies: the
            # next attempt needs descriptors of its own.
            return None
        worker = ForkedWorker(link, pid, pidfd, self._read_status)
        try:
            measures = self._read_confinement(worker)
        except SandboxError:
            worker.discard()
            raise
        if measures is None:
            # It was killed, perhaps together with its zygote.
            worker.discard()
            return None
        worker.confinement = measures
        return worker

    def _read_confinement(self, worker: WorkerProcess) -> Confinement | None:
        """Return the report of a new worker, or None when it has exited.

        Raise SandboxError when the worker must not be used.
        """
        frame = worker.read_reply(_READY_SECONDS)
        if frame is None:
            raise spawn_errors.cannot_start("the new process is not ready in time", _SHORTAGE_HINT)
        if not frame:
            return None
        try:
            measures = confinement.unpack(frame)
        except spawn_errors.CallRefusedError as refusal:
            raise spawn_errors.explain(refusal) from refusal
        if self._is_strict and not measures.is_full:
            hint = None
            if Measure.SYSTEM_CALLS in measures.missing:
                hint = (
                    "the container runtime must allow the system call seccomp: look at its profile"
                )
            raise spawn_errors.cannot_start(
                f"full confinement is required by --require-sandbox, and is not to be had: "
                f"without {measures.describe_missing()}",
                hint,
            )
        return measures

    def _read_status(self, pid: int) -> ExitStatus:
        """Return the exit status of a worker that has exited."""
        with self._lock:
            try:
                answer, _ = self._order(pid)
            except (OSError, EOFError):
                answer = []
        if not answer:
            return ExitStatus(status=None)
        status, peak_bytes = answer
        return ExitStatus(status=status, peak_bytes=peak_bytes)

    def _fork(self, descriptors: list[int]) -> tuple[int, int]:
        """Order a fork; return the process id and the pidfd of the child."""
        # One order at a time, because answers have no other way to their callers.
        with self._lock:
            if self._is_closed:
                raise spawn_errors.cannot_start(
                    "the function is shutting down", "it is tried again"
                )
            is_new = self._zygote.is_closed
            if is_new:
                self._zygote = self._spawn_zygote()
            try:
                (pid, *refusal), pidfds = self._order(descriptors=descriptors)
            except (OSError, EOFError) as error:
                # The loss of one that was spawned just now is no accident, and another one would
                # fare alike.
                if not is_new:
                    raise _ZygoteLostError from error
                reason = "the process that forks them is late or ends at once"
                raise spawn_errors.cannot_start(
                    reason, "the function's log may have more"
                ) from error
            if refusal:
                call, number = refusal
                raise spawn_errors.CallRefusedError(spawn_errors.Call(call), number)
            # The kernel drops a descriptor that the receiver has no room for, and delivers the
            # rest.
            if not pidfds:
                self._kill_without_pidfd(pid)
                raise spawn_errors.CallRefusedError(spawn_errors.Call.PIDFD_OPEN, errno.EMFILE)
        return pid, pidfds[0]

    def _kill_without_pidfd(self, pid: int) -> None:
        """Kill and reap a worker without its pidfd, for which no descriptor was free here."""
        os.kill(pid, signal.SIGKILL)
        for _ in range(_MAX_POLLS):
            answer, _ = self._order(pid)
            if answer:
                return
            time.sleep(_POLL_SECONDS)

    def _order(self, pid: int = 0, descriptors: Sequence[int] = ()) -> tuple[list[int], list[int]]:
        """Send an order to the zygote. One that fails or is late is ended with its workers."""
        try:
            return self._zygote.request(pid, descriptors)
        except (OSError, EOFError) as error:
            self._zygote.close(hangs=isinstance(error, TimeoutError))
            raise


class _ZygoteLostError(Exception):
    """The zygote exited or was late, and the next order gets a new one."""


class _ZygoteClient:
    """A zygote process. The constructor spawns it; the first request waits until it is ready."""

    def __init__(self, config: ZygoteConfig) -> None:
        self._control, peer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_BOOT_SECONDS)
        self._is_ready = False
        self._number = 0
        self.is_closed = False
        with peer, ExitStack() as on_failure:
            on_failure.callback(self._control.close)
            self._process = spawn(_MODULE, [peer.fileno()], config.to_literal())
            on_failure.pop_all()

    def request(self, pid: int, descriptors: Sequence[int] = ()) -> tuple[list[int], list[int]]:
        """Send an order, return the answer; raise OSError or EOFError when the zygote is gone."""
        if not self._is_ready:
            self._receive()
            self._is_ready = True
            self._control.settimeout(ANSWER_SECONDS)
        self._number += 1
        socket.send_fds(self._control, [ipc.pack_numbers(self._number, pid)], descriptors)
        while True:
            packet, pidfds = self._receive()
            number, *answer = ipc.unpack_numbers(packet)
            if number == self._number:
                return answer, pidfds
            # The answer to an earlier order that was given up.
            for descriptor in pidfds:
                os.close(descriptor)

    def _receive(self) -> tuple[bytes, list[int]]:
        packet, descriptors, _, _ = socket.recv_fds(self._control, ipc.MAX_PACKET_BYTES, 1)
        if not packet:
            raise EOFError
        return packet, descriptors

    def close(self, *, hangs: bool = False) -> None:
        """End the process and its workers; one that ``hangs`` would not exit by itself."""
        self.is_closed = True
        # One that is not ready would first import everything, and has no workers to end.
        seconds = _CLOSE_SECONDS if self._is_ready and not hangs else 0.0
        end(self._process, self._control, seconds)

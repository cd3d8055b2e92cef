"""The pool's side of the zygote: start it, have it fork, ask how a worker ended, replace it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from function_script.errors import SandboxError
from function_script.sandbox import interpreter, measures, orders
from function_script.sandbox.measures import Measure
from function_script.sandbox.outcome import ExitStatus
from function_script.sandbox.reaper import Reaper
from function_script.sandbox.refusals import Call, CallRefusedError, cannot_start, explain, named
from function_script.sandbox.registry import Registry
from function_script.sandbox.shared_memory import SharedMemory
from function_script.sandbox.worker_process import ForkedChild
from function_script.sandbox.zygote_config import ANSWER_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from function_script.sandbox.measures import Confinement
    from function_script.sandbox.worker_process import WorkerProcess
    from function_script.sandbox.zygote_config import ZygoteConfig

# A newborn process that is killed is gone in a moment.
_MAX_LOOKS = 100
_LOOK_SECONDS = 0.01
# Imports on a cold disk, or with a tenth of a CPU, take their time.
_BOOT_SECONDS = 180.0
# From the fork of a worker to its first word.
_BIRTH_SECONDS = 15.0
# A worker that ends before it is ready was most likely killed from outside.
_MAX_BIRTHS = 3
_SHORTAGE_HINT = "is the node or the pod short of CPU or memory?"
_END_SECONDS = 2.0


class ForkServer:
    """Forks workers from a zygote and starts another zygote when that one dies or is late.

    Thread-safe. ``answer_seconds`` is the time a zygote that is ready may take to answer.
    ``is_strict``: a worker that is not fully confined is ended instead of used.
    """

    def __init__(
        self,
        settings: ZygoteConfig,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        is_strict: bool = False,
    ) -> None:
        self._settings = settings
        self._answer_seconds = answer_seconds
        self._is_strict = is_strict
        self._lock = threading.Lock()
        self._registry = Registry()
        self._is_closed = False
        self._zygote = self._start()

    def fork(self) -> WorkerProcess:
        """A new worker; raises SandboxError when there is no way to get one."""
        with self._registry.birth():
            for _ in range(_MAX_BIRTHS):
                try:
                    child = self._fork_child()
                except CallRefusedError as refusal:
                    raise explain(refusal.call, refusal.errno) from refusal
                try:
                    confinement = self._confinement_of(child)
                except SandboxError:
                    self._discard(child)
                    raise
                if confinement is not None:
                    self._registry.add(child, confinement)
                    return child
                # It was killed, perhaps together with its zygote.
                self._discard(child)
            raise cannot_start("the new process ended before it was ready", _SHORTAGE_HINT)

    def reap(self, pid: int) -> ExitStatus:
        """How the worker ended; it has ended."""
        self._registry.remove(pid)
        with self._lock:
            try:
                packet, _ = self._order(pid)
            except (OSError, EOFError):
                return ExitStatus(status=None)
        return orders.unpack_death(packet)

    def build_reaper(self, bury: Callable[[WorkerProcess], object]) -> Reaper:
        """Build who waits for the end of workers, and starts at once."""
        return Reaper(bury)

    def confinement(self) -> Confinement:
        """What holds for all workers there are."""
        return self._registry.confinement()

    def is_able(self) -> bool:
        """Whether a worker lives, or one could be had when the last was asked for."""
        return self._registry.is_able()

    def close(self) -> None:
        """End the zygote."""
        with self._lock:
            self._is_closed = True
            self._zygote.close()

    def _start(self) -> _ZygoteClient:
        try:
            with named(Call.EXECVE):
                return _ZygoteClient(self._settings, self._answer_seconds)
        except CallRefusedError as refusal:
            raise explain(refusal.call, refusal.errno) from refusal

    def _fork_child(self) -> ForkedChild:
        """A process that is about to be a worker; raises CallRefusedError and SandboxError."""
        with ExitStack() as ours, ExitStack() as theirs:
            with named(Call.SOCKETPAIR):
                here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.enter_context(here)
            theirs.enter_context(there)
            with named(Call.MEMFD_CREATE):
                log = os.memfd_create("function-script-log")
                ours.callback(os.close, log)
                shared = SharedMemory.build(self._settings.capacity_bytes)
                theirs.callback(os.close, shared)
            with named(Call.MMAP):
                box = SharedMemory(shared)
            ours.callback(box.close)
            pid, pidfd = self._fork([there.fileno(), shared, log])
            ours.pop_all()
        return ForkedChild(connection=here, box=box, log=log, pid=pid, pidfd=pidfd)

    def _confinement_of(self, child: WorkerProcess) -> Confinement | None:
        """What a newborn worker reports; None: it has ended.

        Raises SandboxError when it is not to be used.
        """
        frame = child.receipt(_BIRTH_SECONDS)
        if frame is None:
            raise cannot_start("the new process is not ready in time", _SHORTAGE_HINT)
        if not frame:
            return None
        try:
            confinement = measures.unpack(frame)
        except CallRefusedError as refusal:
            raise explain(refusal.call, refusal.errno) from refusal
        if self._is_strict and not confinement.is_full:
            raise _unconfined(confinement)
        return confinement

    def _discard(self, child: WorkerProcess) -> None:
        """End a worker that nobody has used."""
        child.kill()
        child.has_ended()
        self.reap(child.pid)
        child.close()

    def _fork(self, descriptors: list[int]) -> tuple[int, int]:
        with self._lock:
            if self._is_closed:
                raise cannot_start("the function is shutting down", "it is tried again")
            try:
                packet, received = self._order(descriptors=descriptors)
            except (OSError, EOFError):
                packet, received = self._order_of_new(descriptors)
            pid = orders.unpack_fork(packet)
            if not received:
                self._end_without_pidfd(pid)
                raise CallRefusedError(Call.PIDFD_OPEN, errno.EMFILE)
        return pid, received[0]

    def _end_without_pidfd(self, pid: int) -> None:
        """End a worker whose pidfd found no free descriptor in this process."""
        os.kill(pid, signal.SIGKILL)
        for _ in range(_MAX_LOOKS):
            packet, _ = self._order(pid)
            if orders.unpack_death(packet).status is not None:
                return
            time.sleep(_LOOK_SECONDS)

    def _order_of_new(self, descriptors: list[int]) -> tuple[bytes, list[int]]:
        self._zygote = self._start()
        try:
            return self._order(descriptors=descriptors)
        except (OSError, EOFError) as error:
            reason = "the process that forks them is late or ends at once"
            raise cannot_start(reason, "the function's log may have more") from error

    def _order(self, pid: int = 0, descriptors: Sequence[int] = ()) -> tuple[bytes, list[int]]:
        """Have the zygote obey. One that does not, or not in time, is ended, and its workers."""
        try:
            return self._zygote.order(pid, descriptors)
        except TimeoutError:
            self._zygote.kill()
            raise
        except (OSError, EOFError):
            self._zygote.close()
            raise


def _unconfined(confinement: Confinement) -> SandboxError:
    hint = None
    if Measure.SYSTEM_CALLS in confinement.missing:
        hint = "the container runtime must allow the system call seccomp: look at its profile"
    return cannot_start(
        f"full confinement is required by --require-sandbox, and is not to be had: "
        f"without {confinement.gaps()}",
        hint,
    )


class _ZygoteClient:
    """One zygote process. It starts at once; the first order waits until it is ready."""

    def __init__(self, settings: ZygoteConfig, answer_seconds: float) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_BOOT_SECONDS)
        self._answer_seconds = answer_seconds
        self._is_ready = False
        self._number = 0
        with theirs, ExitStack() as failing:
            failing.callback(self._control.close)
            self._process = interpreter.start("zygote", [theirs.fileno()], settings)
            failing.pop_all()

    def order(self, pid: int, descriptors: Sequence[int] = ()) -> tuple[bytes, list[int]]:
        """Send an order, return the answer; raises OSError or EOFError when it is no more."""
        if not self._is_ready:
            self._receive()
            self._is_ready = True
            self._control.settimeout(self._answer_seconds)
        self._number += 1
        packet = orders.pack_order(self._number, pid)
        socket.send_fds(self._control, [packet], descriptors)
        answer, received = self._receive()
        while orders.read_number(answer) != self._number:
            # Of an order whose answer was not waited for.
            for descriptor in received:
                os.close(descriptor)
            answer, received = self._receive()
        return answer, received

    def _receive(self) -> tuple[bytes, list[int]]:
        packet, descriptors, _, _ = socket.recv_fds(self._control, orders.MAX_BYTES, 1)
        if not packet:
            raise EOFError
        return packet, descriptors

    def close(self) -> None:
        """Hang up, which ends the process; it has no time to think about it."""
        self._control.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process and its workers at once."""
        self._control.close()
        self._process.kill()
        self._process.wait()

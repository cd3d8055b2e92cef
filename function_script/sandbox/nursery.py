"""The pool's side of the zygote: start it, have it fork, ask how a worker ended, replace it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import SandboxError
from function_script.sandbox import orders
from function_script.sandbox.child import Child
from function_script.sandbox.frames import Box
from function_script.sandbox.outcome import Death

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.sandbox.settings import Settings

# Imports on a cold disk can take seconds; a zygote that is silent for longer is stuck.
_ANSWER_SECONDS = 30.0
_END_SECONDS = 2.0
# Isolated from the environment and the current directory; modules come from where ours came from.
_BOOT = """\
import sys
sys.path[:] = sys.argv[3:]
from function_script.sandbox import zygote
zygote.main(int(sys.argv[1]), sys.argv[2])
"""
# Without these some builds of Python do not start; nothing else of the environment is handed on.
_KEPT_VARIABLES = ("LD_LIBRARY_PATH",)
# A backtrace for each Rust panic would cost 70 ms and 55 MB.
_VARIABLES = {"RUST_BACKTRACE": "0"}


class Nursery:
    """Forks workers from a zygote and starts another zygote when that one dies. Thread-safe."""

    def __init__(self, settings: Settings, capacity_bytes: int) -> None:
        self._settings = settings
        self._capacity_bytes = capacity_bytes
        self._lock = threading.Lock()
        self._zygote = _Zygote(settings)
        self._is_closed = False

    def fork(self) -> Child:
        """A new worker; raises SandboxError when there is no way to get one."""
        with ExitStack() as ours, ExitStack() as theirs:
            try:
                here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ours.enter_context(here)
                theirs.enter_context(there)
                log = os.memfd_create("function-script-log")
                ours.callback(os.close, log)
                shared = Box.build(self._capacity_bytes)
                theirs.callback(os.close, shared)
                box = Box(shared)
                ours.callback(box.close)
            except OSError as error:
                raise _no_worker(str(error)) from error
            pid, pidfd = self._fork([there.fileno(), shared, log])
            ours.pop_all()
        return Child(connection=here, box=box, log=log, pid=pid, pidfd=pidfd)

    def reap(self, pid: int) -> Death:
        """How the worker ended; it has ended."""
        with self._lock:
            try:
                packet, _ = self._zygote.order(orders.pack_pid(pid))
            except (OSError, EOFError):
                return Death(status=None)
        return orders.unpack_death(packet)

    def close(self) -> None:
        """End the zygote."""
        with self._lock:
            self._is_closed = True
            self._zygote.close()

    def _fork(self, descriptors: list[int]) -> tuple[int, int]:
        with self._lock:
            if self._is_closed:
                raise _no_worker("the function is shutting down")
            try:
                packet, received = self._zygote.order(orders.FORK, descriptors)
            except (OSError, EOFError):
                self._zygote.close()
                packet, received = self._order_of_new(descriptors)
        if not received:
            raise _no_worker("there are no more processes or descriptors to be had")
        return orders.unpack_pid(packet), received[0]

    def _order_of_new(self, descriptors: list[int]) -> tuple[bytes, list[int]]:
        try:
            self._zygote = _Zygote(self._settings)
            return self._zygote.order(orders.FORK, descriptors)
        except (OSError, EOFError) as error:
            raise _no_worker("the process that forks them ends at once") from error


def _no_worker(cause: str) -> SandboxError:
    hint = "it is tried again with the next request; the function's log may have more"
    return SandboxError.of(f"cannot start a worker: {cause}", hint=hint)


class _Zygote:
    """One zygote process. It starts at once; the first order waits until it is ready."""

    def __init__(self, settings: Settings) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_ANSWER_SECONDS)
        self._is_ready = False
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 # our own interpreter, our own words
                _command(theirs.fileno(), settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=kept | _VARIABLES,
                start_new_session=True,
            )

    def order(self, packet: bytes, descriptors: Sequence[int] = ()) -> tuple[bytes, list[int]]:
        """Send an order, return the answer; raises OSError or EOFError when it is no more."""
        if not self._is_ready:
            self._receive()
            self._is_ready = True
        socket.send_fds(self._control, [packet], descriptors)
        return self._receive()

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
            self._process.kill()
            self._process.wait()


def _command(control_fd: int, settings: Settings) -> list[str]:
    ours = str(Path(__file__).resolve().parents[2])
    paths = [ours, *(path for path in sys.path if path not in {"", ours})]
    flags = ["-I", "-S", "-X", "utf8"]
    return [sys.executable, *flags, "-c", _BOOT, str(control_fd), settings.to_json(), *paths]

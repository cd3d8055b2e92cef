"""The zygote process: imports everything once, then forks workers on request.

Started by ``nursery`` as a fresh interpreter; has one thread and never imports grpc, so forking
it is safe. Ends when its pool hangs up.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NoReturn

from function_script.sandbox import measures, orders, rlimits, warming
from function_script.sandbox.channel import SharedMemoryChannel
from function_script.sandbox.refusals import Call, CallRefusedError, named
from function_script.sandbox.shared_memory import SharedMemory
from function_script.sandbox.worker import Worker
from function_script.sandbox.zygote_config import ZygoteConfig

if TYPE_CHECKING:
    from function_script.sandbox.measures import Confinement
    from function_script.sandbox.worker import Handle


def main(control_fd: int, settings_json: str) -> None:
    """Warm up, tell the pool, and obey its orders until it hangs up."""
    control = socket.socket(fileno=control_fd)
    settings = ZygoteConfig.from_json(settings_json)
    rlimits.harden_zygote()
    handle = warming.load(settings)
    # A pool that was never used hangs up with READY unread, which resets the connection.
    with suppress(BrokenPipeError, ConnectionResetError):
        control.send(orders.READY)
        _obey(control, handle, settings)


def _obey(control: socket.socket, handle: Handle, settings: ZygoteConfig) -> None:
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, orders.MAX_BYTES, orders.FORK_FDS)
        if not order:
            # The pool waits for the end, and there is nothing to tidy up.
            os._exit(0)
        number, pid = orders.unpack_order(order)
        if descriptors:
            _fork(control, number, descriptors, handle, settings)
        else:
            control.send(_reap(number, pid))


def _fork(
    control: socket.socket,
    number: int,
    descriptors: list[int],
    handle: Handle,
    settings: ZygoteConfig,
) -> None:
    zygote = os.getpid()
    with ExitStack() as closing:
        for descriptor in descriptors:
            closing.callback(os.close, descriptor)
        try:
            with named(Call.FORK):
                pid = os.fork()
            if pid == 0:
                _live(zygote, descriptors, handle, settings)
            pidfd = _open_pidfd(pid)
        except CallRefusedError as refusal:
            # The workers there are must not suffer for it.
            control.send(orders.pack_refusal(number, refusal))
            return
        closing.callback(os.close, pidfd)
        socket.send_fds(control, [orders.pack_fork(number, pid)], [pidfd])


def _open_pidfd(pid: int) -> int:
    """Return a pidfd of a child, which is ended when there is none."""
    try:
        with named(Call.PIDFD_OPEN):
            return os.pidfd_open(pid)
    except CallRefusedError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _live(zygote: int, descriptors: list[int], handle: Handle, settings: ZygoteConfig) -> NoReturn:
    """Be a worker; never returns to the zygote's loop."""
    code = 1
    try:
        connection_fd, *others = descriptors
        connection = socket.socket(fileno=connection_fd)
        try:
            worker, measured = _be_born(zygote, connection, others, handle, settings)
        except CallRefusedError as refusal:
            connection.send(measures.pack_refusal(refusal))
        else:
            connection.send(measures.pack(measured))
            worker.serve(settings.max_runs)
            code = 0
    except MemoryError:
        # Not even the report could be written; the signal tells the pool why.
        os.abort()
    finally:
        os._exit(code)


def _be_born(
    zygote: int,
    connection: socket.socket,
    descriptors: list[int],
    handle: Handle,
    settings: ZygoteConfig,
) -> tuple[Worker, Confinement]:
    """Confine this process and build its worker; raises CallRefusedError."""
    box_fd, log_fd = descriptors
    with named(Call.MMAP):
        box = SharedMemory(box_fd)
    _keep_only(connection.fileno(), log_fd)
    filter_errno = rlimits.harden_worker(zygote)
    worker = Worker(
        channel=SharedMemoryChannel(connection, box),
        handle=handle,
        limits=settings.limits,
        memory=rlimits.MemoryLimit(settings.limits.memory_bytes),
        alarm=rlimits.Watchdog(),
    )
    return worker, rlimits.measure(filter_errno)


def _keep_only(connection_fd: int, log_fd: int) -> None:
    with named(Call.OPEN):
        null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(log_fd, 2)
    os.closerange(3, connection_fd)
    os.closerange(connection_fd + 1, os.sysconf("SC_OPEN_MAX"))


def _reap(number: int, pid: int) -> bytes:
    try:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
    except ChildProcessError:
        ended, status, usage = 0, 0, None
    if not ended or usage is None:
        return orders.pack_exit_status(number, None, 0)
    return orders.pack_exit_status(number, status, usage.ru_maxrss * 1024)

"""The zygote process: imports everything once, then forks workers on request.

The pool spawns it as a fresh interpreter. It has one thread and never imports gRPC, so forking it
is safe. It exits when its pool closes the control socket.
"""

import os
import signal
import socket
from contextlib import ExitStack, suppress
from typing import NoReturn

from function_script.sandbox import confinement, ipc, rlimits
from function_script.sandbox.confinement import Confinement
from function_script.sandbox.shared_memory import SharedMemoryChannel
from function_script.sandbox.spawn_errors import Call, CallRefusedError, system_call
from function_script.sandbox.worker import Handle, Worker, run_until_exit
from function_script.sandbox.zygote_config import ZygoteConfig, load_handler


def main(control_fd: int, config_text: str) -> None:
    """Warm up, report readiness, and execute orders until the pool closes the socket."""
    control = socket.socket(fileno=control_fd)
    config = ZygoteConfig.from_literal(config_text)
    rlimits.harden_zygote()
    handle = load_handler(config)
    # A pool that was never used closes the socket with READY unread, which resets it.
    with suppress(BrokenPipeError, ConnectionResetError):
        control.send(ipc.READY)
        _serve_orders(control, handle, config)


def _serve_orders(control: socket.socket, handle: Handle, config: ZygoteConfig) -> None:
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, ipc.MAX_PACKET_BYTES, ipc.FORK_FDS)
        if not order:
            # The pool waits for the exit, and there is nothing to clean up.
            os._exit(0)
        number, pid = ipc.unpack_numbers(order)
        if descriptors:
            _fork(control, number, descriptors, handle, config)
        else:
            control.send(ipc.pack_numbers(number, *_reap(pid)))


def _fork(
    control: socket.socket,
    number: int,
    descriptors: list[int],
    handle: Handle,
    config: ZygoteConfig,
) -> None:
    zygote = os.getpid()
    with ExitStack() as closing:
        # These are the copies of the zygote: left open, they would hide the end of the worker.
        for descriptor in descriptors:
            closing.callback(os.close, descriptor)
        try:
            with system_call(Call.FORK):
                pid = os.fork()
            # This call never returns, so that nothing below runs in both processes.
            if pid == 0:
                _run_worker(zygote, descriptors, handle, config)
            pidfd = _open_pidfd(pid)
        except CallRefusedError as refusal:
            # The living workers must not suffer for it.
            control.send(ipc.pack_numbers(number, 0, refusal.call, refusal.errno))
            return
        closing.callback(os.close, pidfd)
        socket.send_fds(control, [ipc.pack_numbers(number, pid)], [pidfd])


def _open_pidfd(pid: int) -> int:
    """Return a pidfd of a child; kill the child when there is none."""
    try:
        with system_call(Call.PIDFD_OPEN):
            return os.pidfd_open(pid)
    except CallRefusedError:
        # Nobody could signal it safely by its process id, which the system may give to another
        # process.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _run_worker(
    zygote: int, descriptors: list[int], handle: Handle, config: ZygoteConfig
) -> NoReturn:
    """Run a worker in this forked process until it exits."""

    def serve() -> None:
        connection_fd, *others = descriptors
        connection = socket.socket(fileno=connection_fd)
        try:
            worker, measures = _build_worker(zygote, connection, others, handle, config)
        except CallRefusedError as refusal:
            connection.send(confinement.pack_refusal(refusal))
            return
        connection.send(confinement.pack(measures))
        worker.serve(config.max_runs)

    run_until_exit(serve)


def _build_worker(
    zygote: int,
    connection: socket.socket,
    descriptors: list[int],
    handle: Handle,
    config: ZygoteConfig,
) -> tuple[Worker, Confinement]:
    """Confine this process and build its worker; raise CallRefusedError."""
    memory_fd, log_fd = descriptors
    with system_call(Call.MMAP):
        channel = SharedMemoryChannel(connection, memory_fd)
    # Before the filter of system calls, which denies opening /dev/null for writing.
    _replace_descriptors(connection.fileno(), log_fd)
    filter_errno = rlimits.harden_worker(zygote)
    worker = Worker(
        channel=channel,
        handle=handle,
        limits=config.limits,
        memory=rlimits.MemoryLimit(config.limits.memory_bytes),
        watchdog=rlimits.Watchdog(),
    )
    return worker, rlimits.read_confinement(filter_errno)


def _replace_descriptors(connection_fd: int, log_fd: int) -> None:
    """Redirect the standard streams, and close every descriptor but the connection."""
    with system_call(Call.OPEN):
        null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(log_fd, 2)
    os.closerange(3, connection_fd)
    os.closerange(connection_fd + 1, os.sysconf("SC_OPEN_MAX"))


def _reap(pid: int) -> tuple[int, ...]:
    try:
        exited_pid, status, usage = os.wait4(pid, os.WNOHANG)
    except ChildProcessError:
        return ()
    # Linux counts it in KiB.
    return (status, usage.ru_maxrss * 1024) if exited_pid else ()

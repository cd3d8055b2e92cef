"""The zygote process: imports everything once, then forks workers on request.

Started by ``nursery`` as a fresh interpreter; has one thread and never imports grpc, so forking
it is safe. Ends when its pool hangs up.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NoReturn, cast

from function_script.sandbox import confinement, orders
from function_script.sandbox.frames import Box
from function_script.sandbox.settings import Settings
from function_script.sandbox.worker import Worker

if TYPE_CHECKING:
    from function_script.sandbox.worker import Handle


def main(control_fd: int, settings_json: str) -> None:
    """Warm up, tell the pool, and obey its orders until it hangs up."""
    control = socket.socket(fileno=control_fd)
    settings = Settings.from_json(settings_json)
    confinement.harden_zygote()
    handle = _warm_up(settings)
    # A pool that was never used hangs up with READY unread, which resets the connection.
    with suppress(BrokenPipeError, ConnectionResetError):
        control.send(orders.READY)
        _obey(control, handle, settings)


def _obey(control: socket.socket, handle: Handle, settings: Settings) -> None:
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, orders.MAX_BYTES, orders.FORK_FDS)
        if not order:
            # The pool waits for the end, and there is nothing to tidy up.
            os._exit(0)
        if descriptors:
            _fork(control, descriptors, handle, settings)
        else:
            control.send(_reap(orders.unpack_pid(order)))


def _warm_up(settings: Settings) -> Handle:
    gc.disable()
    handle = cast("Handle", importlib.import_module(settings.module).handle)
    for name in settings.preload:
        importlib.import_module(name)
    for request in settings.rehearsals:
        handle(request, settings.limits, lambda _: None)
    if settings.rehearsals:
        # Imports alone leave next to nothing to collect, and looking for it takes 10 ms.
        gc.collect()
    # What is frozen is not visited by collections in workers, so its pages stay shared.
    gc.freeze()
    return handle


def _fork(
    control: socket.socket, descriptors: list[int], handle: Handle, settings: Settings
) -> None:
    zygote = os.getpid()
    with ExitStack() as closing:
        for descriptor in descriptors:
            closing.callback(os.close, descriptor)
        try:
            pid = os.fork()
            if pid == 0:
                _live(zygote, descriptors, handle, settings)
            pidfd = os.pidfd_open(pid)
        except OSError:
            # Out of processes or descriptors. The workers there are must not suffer for it.
            control.send(orders.pack_pid(0))
            return
        closing.callback(os.close, pidfd)
        socket.send_fds(control, [orders.pack_pid(pid)], [pidfd])


def _live(zygote: int, descriptors: list[int], handle: Handle, settings: Settings) -> NoReturn:
    """Be a worker; never returns to the zygote's loop."""
    code = 1
    try:
        connection_fd, box_fd, log_fd = descriptors
        box = Box(box_fd)
        _keep_only(connection_fd, log_fd)
        confinement.harden_worker(zygote)
        gc.enable()
        worker = Worker(
            connection=socket.socket(fileno=connection_fd),
            box=box,
            handle=handle,
            limits=settings.limits,
            memory=confinement.Memory(settings.limits.memory_bytes),
            alarm=confinement.Alarm(),
        )
        worker.serve(settings.max_runs)
        code = 0
    except MemoryError:
        # Not even the report could be written; the signal tells the pool why.
        os.abort()
    finally:
        os._exit(code)


def _keep_only(connection_fd: int, log_fd: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(log_fd, 2)
    os.closerange(3, connection_fd)
    os.closerange(connection_fd + 1, os.sysconf("SC_OPEN_MAX"))


def _reap(pid: int) -> bytes:
    try:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
    except ChildProcessError:
        ended, status, usage = 0, 0, None
    if not ended or usage is None:
        return orders.pack_death(None, 0)
    return orders.pack_death(status, usage.ru_maxrss * 1024)

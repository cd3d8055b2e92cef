"""A server's life: check, start, serve until a signal comes, drain, end."""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self

from function_script import __version__, build
from function_script.engines.registry import ENGINE_MODULES
from function_script.errors import InputError, SandboxError
from function_script.limits import MIB
from function_script.sandbox import Pool, PoolOptions, capacity, rlimits
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.measures import Measure
from function_script.server import channel_args, handler, log, threads, tracing, warmup
from function_script.server.handler import RequestHandler
from function_script.server.ops import OpsEndpoints
from function_script.server.printing import Printer

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from function_script.server.capture_writer import CaptureWriter
    from function_script.server.certificates import CertificateFiles
    from function_script.server.grpc_server import GrpcServer
    from function_script.server.options import ServeOptions

_LOG = logging.getLogger(__name__)
_ENDING = (signal.SIGTERM, signal.SIGINT)
# Objects of a call are gone with it, without the collector's help.
_GC_THRESHOLDS = (20_000, 50, 100)
# An idle server has 20, a long run as many as a worker, a connection one.
_DESCRIPTORS = 64
_DESCRIPTORS_OF_A_WORKER = 4
# For lines of requests to be written together.
_LOG_SECONDS = 0.01
# gRPC's library writes a line to standard error for each failed handshake, and waits for its
# reader; and it must not prepare for forks, because new zygotes are started by exec.
_GRPC_ENVIRONMENT = {"GRPC_VERBOSITY": "NONE", "GRPC_ENABLE_FORK_SUPPORT": "0"}


def serve(options: ServeOptions) -> int:
    """Serve until SIGTERM or SIGINT, then finish what was begun; 0 when all went well.

    Raises InputError for certificates or addresses that cannot be used, SandboxError when no
    worker starts. Must be called in the main thread.
    """
    started = time.monotonic()
    workers = options.workers or capacity.cpu_count()
    _check_processes(workers)
    _check_descriptors(workers)
    threads.check(capacity.server_threads())
    log.start(debug=options.debug)
    # Keys, and requests of others, are in this process's memory.
    rlimits.forbid_inspection()
    certificates = _certificates(options)
    with ExitStack() as stack:
        signals = stack.enter_context(_Signals())
        pool = stack.enter_context(Pool(_pool_options(options)))
        ops = OpsEndpoints(pool, options, certificates)
        desk = RequestHandler(ops.observe, *tracing.observers(os.environ, stack))
        desk.recorder = _recorder(options, stack)
        if options.debug:
            desk.printer = Printer()
            stack.callback(desk.printer.close)
        server = _build_server(options, desk, certificates, stack)
        desk.switchboard = _build_switchboard(pool, server, stack)
        health_address = options.health_address
        ports = (
            server.listen(options.address),
            server.listen_for_health(health_address) if health_address else 0,
            ops.open(stack),
        )
        pool.fill()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        signals.lead_to(server.stop)
        server.serve(
            on_serving=lambda: _announce(options, ops, ports, time.monotonic() - started),
            on_stopping=lambda: _stop(ops),
        )
    _LOG.info("stopped")
    return 0


def _certificates(options: ServeOptions) -> CertificateFiles | None:
    """None: in plain text, because somebody said so; never by omission."""
    if options.insecure:
        return None
    if options.tls_certs_dir is None:
        raise InputError.of(
            "cannot serve: no certificates are given",
            hint="give a directory with tls.crt, tls.key and ca.crt by --tls-certs-dir or "
            "TLS_SERVER_CERTS_DIR, or --insecure to serve in plain text",
        )
    from function_script.server.certificates import CertificateFiles  # noqa: PLC0415 - slow to import

    return CertificateFiles(options.tls_certs_dir)


def _check_processes(workers: int) -> None:
    """Raise SandboxError where there is no room for all threads and processes of a server."""
    allowed, needed = capacity.processes_left(), capacity.needed_processes(workers)
    if allowed is not None and allowed < needed:
        raise SandboxError.of(
            f"cannot serve: {allowed} processes and threads are allowed here, and a server with "
            f"--workers {workers} needs {needed}",
            hint=f"raise the container's pids limit to {needed} or more",
        )


def _check_descriptors(workers: int) -> None:
    """Raise SandboxError where a server's files, pipes and first connections find no room."""
    allowed = channel_args.allowed_descriptors()
    needed = _DESCRIPTORS + _DESCRIPTORS_OF_A_WORKER * workers
    if allowed < needed:
        raise SandboxError.of(
            f"cannot serve: {allowed:.0f} open files are allowed here, and a server with "
            f"--workers {workers} needs {needed}",
            hint=f"raise the limit of open files (nofile) to {needed} or more",
        )


def _pool_options(options: ServeOptions) -> PoolOptions:
    root = None if options.program_root is None else str(options.program_root.resolve())
    return PoolOptions(
        limits=replace(options.limits, program_root=root),
        workers=options.workers or capacity.cpu_count(),
        max_request_bytes=options.max_recv_message_size_mib * MIB,
        key_of=handler.fairness_key,
        suspect_of=handler.penalty_key,
        program_of=handler.program,
        gathers=True,
        preload=ENGINE_MODULES,
        rehearsals=warmup.build(),
        requires_confinement=options.require_sandbox,
    )


def _recorder(options: ServeOptions, stack: ExitStack) -> CaptureWriter | None:
    """Who captures requests, to be closed with ``stack``. Raises InputError."""
    directory = options.capture_dir
    if directory is None:
        return None
    # In this order: whether there is a directory cannot be asked where nothing may be looked into.
    if not os.access(directory, os.W_OK | os.X_OK) or not directory.is_dir():
        raise InputError.of(
            f'cannot capture requests in "{directory}": it is no directory to write to',
            hint="mount a volume there, such as an emptyDir",
        )
    from function_script.server.capture_writer import CaptureWriter  # noqa: PLC0415 - protobuf takes memory

    recorder = CaptureWriter(directory, options.capture_limit)
    stack.callback(recorder.close)
    return recorder


def _build_server(
    options: ServeOptions,
    desk: RequestHandler,
    certificates: CertificateFiles | None,
    stack: ExitStack,
) -> GrpcServer:
    """Return the gRPC server, to be closed with ``stack``. The zygote must have started."""
    for name, value in _GRPC_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from function_script.server.grpc_server import GrpcServer  # noqa: PLC0415 - after the zygote

    server = GrpcServer(desk, options.max_recv_message_size_mib * MIB, certificates)
    stack.callback(server.close)
    return server


def _build_switchboard(pool: Pool, server: GrpcServer, stack: ExitStack) -> Dispatcher:
    switchboard = Dispatcher(pool, server.loop)
    stack.callback(switchboard.close)
    log.batch_lines(partial(server.loop.call_later, _LOG_SECONDS))
    stack.callback(log.batch_lines, None)
    return switchboard


def _announce(
    options: ServeOptions, ops: OpsEndpoints, ports: tuple[int, ...], seconds: float
) -> None:
    wanted = (options.address, options.health_address, options.metrics_address)
    hosts = [address.rpartition(":")[0] for address in wanted]
    address, health_address, metrics_address = (
        f"{host}:{port}" if port else "none" for host, port in zip(hosts, ports, strict=True)
    )
    measures = ops.confinement()
    unfiltered = measures.reason(Measure.SYSTEM_CALLS)
    values = log.fields(
        address=address,
        health_address=health_address,
        metrics_address=metrics_address,
        security="none" if options.insecure else "mutual TLS",
        tls_library="none" if options.insecure else _tls_library(),
        system_calls=f"not filtered: {unfiltered}" if unfiltered else "filtered",
        confinement=measures.summary(),
        version=__version__,
        code=build.describe(),
        seconds=round(seconds, 3),
    )
    ops.is_serving = True
    _LOG.info("serving", extra=values)
    if not measures.is_full:
        _LOG.warning("workers are not fully confined: without %s", measures.gaps())


def _tls_library() -> str:
    from function_script.server import grpc_server  # noqa: PLC0415 - after the zygote

    return grpc_server.tls_library(grpc_server.grpc_library())


def _stop(ops: OpsEndpoints) -> None:
    ops.is_serving = False
    _LOG.info("stopping")


class _Signals:
    """Catches SIGTERM and SIGINT from beginning to end; gives them back afterwards.

    Before there is a server to stop, a signal ends the process: nothing was begun.
    """

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._has_arrived = False
        self._former = {number: signal.signal(number, self._arrive) for number in _ENDING}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    def lead_to(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` when a signal comes."""
        self._stop = stop

    def _arrive(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 # the protocol
        if self._stop is None:
            _LOG.info("stopped")
            os._exit(0)
        if not self._has_arrived:
            self._stop()
        self._has_arrived = True

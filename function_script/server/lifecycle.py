"""A server's life: check, start, serve until a signal comes, drain, end."""

from __future__ import annotations

import logging
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from function_script import __version__
from function_script.engines import ENGINES
from function_script.errors import InputError
from function_script.limits import MIB
from function_script.sandbox import Pool, PoolOptions, machine, seccomp
from function_script.server import log, rehearsal, tls, transport
from function_script.server.answering import Desk
from function_script.server.watch import Watch

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from function_script.server.options import ServeOptions

_LOG = logging.getLogger(__name__)
# Below the 30 seconds that Kubernetes grants; a call takes seconds at most.
_GRACE_SECONDS = 20.0
_PROBE_THREADS = 2
_ENDING = (signal.SIGTERM, signal.SIGINT)


def serve(options: ServeOptions) -> int:
    """Serve until SIGTERM or SIGINT, then finish what was begun; 0 when all went well.

    Raises InputError for certificates or addresses that cannot be used, SandboxError when no
    worker starts. Must be called in the main thread.
    """
    started = time.monotonic()
    log.start(debug=options.debug)
    credentials = _credentials(options)
    with ExitStack() as stack:
        stopping = stack.enter_context(_Signals())
        pool = stack.enter_context(Pool(_pool_options(options)))
        watch = Watch(pool, options)
        servicer = health.HealthServicer()
        max_request_bytes = options.max_recv_message_size_mib * MIB
        server = transport.build(Desk(pool, watch.observe).answer, max_request_bytes, servicer)
        port = transport.listen(server, options.address, credentials)
        probes, probes_port = _listen_for_probes(options.health_address, servicer)
        ports = (port, probes_port, watch.open(stack))
        pool.fill()
        server.start()
        for service in ("", *transport.SERVICES):
            servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
        watch.is_serving = True
        _announce(options, ports, time.monotonic() - started)
        stopping.wait()
        watch.is_serving = False
        _drain(server, probes, servicer)
    _LOG.info("stopped")
    return 0


def _credentials(options: ServeOptions) -> grpc.ServerCredentials | None:
    """None: in plain text, because somebody said so; never by omission."""
    if options.insecure:
        return None
    if options.tls_certs_dir is None:
        raise InputError.of(
            "cannot serve: no certificates are given",
            hint="give a directory with tls.crt, tls.key and ca.crt by --tls-certs-dir or "
            "TLS_SERVER_CERTS_DIR, or --insecure to serve in plain text",
        )
    return tls.credentials(options.tls_certs_dir)


def _pool_options(options: ServeOptions) -> PoolOptions:
    root = None if options.program_root is None else str(options.program_root.resolve())
    return PoolOptions(
        limits=replace(options.limits, program_root=root),
        workers=options.workers or machine.quick_workers(),
        max_request_bytes=options.max_recv_message_size_mib * MIB,
        preload=tuple(ENGINES.values()),
        rehearsals=rehearsal.build(),
    )


def _listen_for_probes(
    address: str, servicer: health.HealthServicer
) -> tuple[grpc.Server | None, int]:
    """The health service in plain text, since kubelet has no certificate to show; its port."""
    if not address:
        return None, 0
    server = grpc.server(
        ThreadPoolExecutor(_PROBE_THREADS, thread_name_prefix="probe"),
        options=[("grpc.so_reuseport", 0)],
    )
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = transport.listen(server, address, None)
    server.start()
    return server, port


def _announce(options: ServeOptions, ports: tuple[int, ...], seconds: float) -> None:
    wanted = (options.address, options.health_address, options.metrics_address)
    hosts = [address.rpartition(":")[0] for address in wanted]
    address, health_address, metrics_address = (
        f"{host}:{port}" if port else "none" for host, port in zip(hosts, ports, strict=True)
    )
    values = log.fields(
        address=address,
        health_address=health_address,
        metrics_address=metrics_address,
        security="none" if options.insecure else "mutual TLS",
        system_calls="filtered" if seccomp.is_available() else "not filtered",
        version=__version__,
        seconds=round(seconds, 3),
    )
    _LOG.info("serving", extra=values)


def _drain(
    server: grpc.Server, probes: grpc.Server | None, servicer: health.HealthServicer
) -> None:
    """Take no more calls, finish those that are there, and say so to whoever probes."""
    _LOG.info("stopping")
    servicer.enter_graceful_shutdown()
    server.stop(_GRACE_SECONDS).wait()
    if probes is not None:
        probes.stop(None).wait()


class _Signals:
    """Turns SIGTERM and SIGINT into the end of ``wait``; gives them back afterwards."""

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._former = {number: signal.getsignal(number) for number in _ENDING}

    def __enter__(self) -> Self:
        for number in _ENDING:
            signal.signal(number, self._arrive)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    def wait(self) -> None:
        """Return when a signal has come."""
        self._arrived.wait()

    def _arrive(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 # the protocol
        self._arrived.set()

"""The life of a server: check, start, serve until a signal, drain, stop."""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, TypedDict

import uvloop
from google.protobuf import json_format

from function_script import __version__, wire
from function_script.engines.registry import ENGINE_MODULES, LANGUAGES
from function_script.inputs.kinds import API_VERSION
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.request.remote.reference import Allowlist
from function_script.request.salt import SaltFile
from function_script.sandbox import capacity, rlimits
from function_script.sandbox.confinement import Measure
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.fetcher import Fetcher, FetcherOptions
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.sandbox.threads import start_threads
from function_script.server import channel_args, handler, log, memory, tracing
from function_script.server.handler import RequestHandler
from function_script.server.ops import OpsEndpoints
from function_script.server.remote_programs import RemotePrograms
from function_script.texts.errors import InputError, SandboxError, cause_of


class ServeFlags(TypedDict):
    """The flags of ``serve``, by their names, without those of limits.

    ``insecure`` overrides ``tls_certs_dir``; one of them is required. An empty
    ``health_address`` or ``metrics_address`` means no such port. ``workers`` None means one for
    each CPU. ``program_root`` is the directory below which FileSystem sources are read.
    ``capture_dir`` receives up to ``capture_limit`` cases of requests whose XRs ask for it.
    ``seed_file`` holds the salt of random values.
    ``remote_allow`` are the hosts, with prefixes, from which programs are fetched as the other
    flags of ``remote`` say; without any, nothing is fetched.
    With ``require_sandbox`` the server does not start if workers are not fully confined.
    """

    address: str
    health_address: str
    metrics_address: str
    insecure: bool
    tls_certs_dir: Path | None
    tls_server_certs_dir: Path | None
    debug: bool
    max_recv_message_size: int  # in MiB
    workers: int | None
    default_source: Path | None
    default_options: str
    program_root: Path | None
    capture_dir: Path | None
    capture_limit: int
    require_sandbox: bool
    seed_file: Path | None
    remote_allow: tuple[str, ...]
    remote_cache: Path | None
    remote_credentials: Path | None
    remote_ca_file: Path | None
    remote_plain_http: bool


if TYPE_CHECKING:
    from function_script.server.capture_writer import CaptureWriter
    from function_script.server.certificates import CertificateFiles

_LOG = logging.getLogger(__name__)
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# Reference counting frees the objects of a call, so the collector runs seldom.
_GC_THRESHOLDS = (20_000, 50, 100)
# gRPC's library writes a line to standard error for each failed handshake, and blocks if the line
# is not read. Its support for forks is not needed, because a new zygote is started by exec.
_GRPC_ENVIRONMENT = {"GRPC_VERBOSITY": "NONE", "GRPC_ENABLE_FORK_SUPPORT": "0"}
# An idle server has 20 descriptors, a long run as many as a worker, a connection one.
_DESCRIPTORS = 64
_DESCRIPTORS_OF_A_WORKER = 4
_WARMUP_XR = {"apiVersion": "example.org/v1", "kind": "XWarmup", "metadata": {"name": "warmup"}}
# Consequence and cure of plain Python where requests are served.
BUILD_ADVICE: Final = (
    "reading and writing requests takes seven times the CPU time of a compiled installation, and "
    "most other work two to three times: install with FUNCTION_SCRIPT_COMPILE=1, or use the image"
)


def serve(flags: ServeFlags, limits: Limits) -> int:
    """Serve until SIGTERM or SIGINT, then finish the open calls; return the exit code 0.

    Raises InputError for certificates or addresses that cannot be used, and SandboxError if no
    worker starts. Must be called in the main thread.
    """
    start_time = time.monotonic()
    _check_system(flags["workers"] or capacity.cpu_count())
    log.start(debug=flags["debug"])
    is_traced = tracing.is_on(os.environ)
    # This process's memory holds private keys and the requests of all XRs.
    rlimits.forbid_inspection()
    certificates = _read_certificates(flags)
    with ExitStack() as stack:
        # First, so that a signal ends a server that is still starting.
        signals = _Signals()
        stack.callback(signals.restore)
        capture_writer = _open_capture_writer(flags, stack)
        max_bytes = flags["max_recv_message_size"] * MIB
        pool = stack.enter_context(Pool(_pool_options(flags, limits, max_bytes)))
        fetcher = _start_fetcher(flags, stack)
        remote_programs = None
        if fetcher is not None:
            allowlist = Allowlist(flags["remote_allow"])
            remote_programs = RemotePrograms(fetcher.store, allowlist, max_bytes)
        memory.limit_heap()
        ops = OpsEndpoints(pool, certificates, fetcher)
        tracers = [stack.enter_context(tracing.build_tracing()).observe] if is_traced else []
        printed_text_logger = log.PrintedTextLogger() if flags["debug"] else None
        if printed_text_logger is not None:
            stack.callback(printed_text_logger.close)
        loop = uvloop.new_event_loop()
        stack.callback(loop.close)
        dispatcher = Dispatcher(pool, loop)
        request_handler = RequestHandler(
            dispatcher,
            [ops.observe, *tracers],
            capture_writer=capture_writer,
            printed_text_logger=printed_text_logger,
            remote_programs=remote_programs,
            is_traced=is_traced,
        )
        for name, value in _GRPC_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        from function_script.server import grpc_server  # noqa: PLC0415 - after the zygote

        server = grpc_server.GrpcServer(loop, request_handler, max_bytes, certificates)
        # The dispatcher stops before the server cancels the remaining calls.
        stack.callback(server.close)
        stack.callback(dispatcher.close)
        health_address = flags["health_address"]
        ports = (
            server.listen(flags["address"]),
            server.listen_for_health(health_address) if health_address else 0,
            ops.open(flags["metrics_address"], stack),
        )
        pool.prefork()
        gc.collect()
        # Collections need not look at what lives as long as the process.
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)

        def stop() -> None:
            ops.is_serving = False
            _LOG.info("stopping")

        signals.on_stop(server.stop)
        server.serve(
            on_serving=lambda: _announce(flags, ops, ports, time.monotonic() - start_time),
            on_stopping=stop,
        )
    _LOG.info("stopped")
    return 0


def _check_system(workers: int) -> None:
    """Raise SandboxError if the system does not allow what a server with ``workers`` needs.

    gRPC's library hangs or ends the process when one of its threads does not start, so a shortage
    of processes, threads or descriptors is an error with a number before the library is loaded.
    """
    processes, minimum = capacity.processes_left(), capacity.needed_processes(workers)
    if processes is not None and processes < minimum:
        raise SandboxError.of(
            f"cannot serve: {processes} processes and threads are allowed here, and a server with "
            f"--workers {workers} needs {minimum}",
            hint=f"raise the container's pids limit to {minimum} or more",
        )
    descriptors = channel_args.allowed_descriptors()
    minimum = _DESCRIPTORS + _DESCRIPTORS_OF_A_WORKER * workers
    if descriptors < minimum:
        raise SandboxError.of(
            f"cannot serve: {descriptors:.0f} open files are allowed here, and a server with "
            f"--workers {workers} needs {minimum}",
            hint=f"raise the limit of open files (nofile) to {minimum} or more",
        )
    # This finds limits that cannot be read, such as that of a user.
    start_threads(capacity.server_threads(), "check").shutdown()


def _read_certificates(flags: ServeFlags) -> CertificateFiles | None:
    """Return the certificate files; None for plain text, which needs --insecure."""
    if flags["insecure"]:
        return None
    if flags["tls_certs_dir"] is None:
        raise InputError.of(
            "cannot serve: no certificates are given",
            hint="give a directory with tls.crt, tls.key and ca.crt by --tls-certs-dir or "
            "TLS_SERVER_CERTS_DIR, or --insecure to serve in plain text",
        )
    from function_script.server.certificates import CertificateFiles  # noqa: PLC0415 - slow to import

    return CertificateFiles(flags["tls_certs_dir"])


def _pool_options(flags: ServeFlags, limits: Limits, max_bytes: int) -> PoolOptions:
    root = None if flags["program_root"] is None else str(flags["program_root"].absolute())
    salt = _open_salt(flags, limits)
    options = PoolOptions(
        limits=replace(limits, program_root=root),
        identify=handler.identify,
        workers=flags["workers"] or capacity.cpu_count(),
        max_request_bytes=max_bytes,
        batches=True,
        preload=ENGINE_MODULES,
        warmup_requests=build_warmup_requests(),
        requires_confinement=flags["require_sandbox"],
    )
    return options if salt is None else replace(options, derive_seed=salt.derive_seed)


def build_warmup_requests() -> tuple[bytes, ...]:
    """Return the requests that a zygote evaluates before it forks, one for each language."""
    documents = [
        {
            "observed": {"composite": {"resource": _WARMUP_XR}},
            "input": {
                "apiVersion": API_VERSION,
                "kind": language.kind,
                language.text_field: language.warmup,
            },
        }
        for language in LANGUAGES.values()
    ]
    return tuple(
        json_format.ParseDict(document, pb.RunFunctionRequest()).SerializeToString()
        for document in documents
    )


def _open_salt(flags: ServeFlags, limits: Limits) -> SaltFile | None:
    """Return the salt of random values, if there is one. Raises InputError."""
    path = flags["seed_file"]
    if path is None:
        return None
    sources = (flags["program_root"], Path(limits.default_source or os.devnull))
    for directory in sources:
        if directory is not None and path.resolve().is_relative_to(directory.resolve()):
            raise InputError.of(
                f'cannot use the salt "{path}": a program could read it in "{directory}"',
                hint="mount it elsewhere",
            )
    return SaltFile(path)


def _start_fetcher(flags: ServeFlags, stack: ExitStack) -> Fetcher | None:
    """Return the process that fetches, which ends with ``stack``; None if no host is allowed."""
    if not flags["remote_allow"]:
        return None
    options = FetcherOptions(
        cache=_absolute(flags["remote_cache"]),
        credentials=_absolute(flags["remote_credentials"]),
        ca_file=_absolute(flags["remote_ca_file"]),
        plain_http=flags["remote_plain_http"],
    )
    try:
        fetcher = Fetcher(options)
    except OSError as error:
        raise InputError.of(f"cannot start the process that fetches: {cause_of(error)}") from error
    stack.callback(fetcher.close)
    return fetcher


def _absolute(path: Path | None) -> str:
    """Return a path for a process with another current directory."""
    return "" if path is None else str(path.absolute())


def _open_capture_writer(flags: ServeFlags, stack: ExitStack) -> CaptureWriter | None:
    """Return the writer of captured requests, to be closed with ``stack``. Raises InputError."""
    directory = flags["capture_dir"]
    if directory is None:
        return None
    # access() comes first, because is_dir() raises if a parent directory may not be searched.
    if not os.access(directory, os.W_OK | os.X_OK) or not directory.is_dir():
        raise InputError.of(
            f'cannot capture requests in "{directory}": it is no directory to write to',
            hint="mount a volume there, such as an emptyDir",
        )
    from function_script.server.capture_writer import CaptureWriter  # noqa: PLC0415 - protobuf takes memory

    writer = CaptureWriter(directory, flags["capture_limit"])
    stack.callback(writer.close)
    return writer


def _announce(flags: ServeFlags, ops: OpsEndpoints, ports: tuple[int, ...], seconds: float) -> None:
    """Log that the server serves, with its addresses and confinement, and report ready."""
    configured = (flags["address"], flags["health_address"], flags["metrics_address"])
    hosts = [address.rpartition(":")[0] for address in configured]
    address, health_address, metrics_address = (
        f"{host}:{port}" if port else "none" for host, port in zip(hosts, ports, strict=True)
    )
    tls_library = "none"
    if not flags["insecure"]:
        from function_script.server import grpc_server  # noqa: PLC0415 - after the zygote

        tls_library = grpc_server.tls_library(grpc_server.grpc_library())
    confinement = ops.confinement()
    unfiltered = confinement.reason(Measure.SYSTEM_CALLS)
    values = log.fields(
        address=address,
        health_address=health_address,
        metrics_address=metrics_address,
        security="none" if flags["insecure"] else "mutual TLS",
        tls_library=tls_library,
        system_calls=f"not filtered: {unfiltered}" if unfiltered else "filtered",
        confinement=confinement.summary(),
        version=__version__,
        code=wire.describe_build(),
        seconds=round(seconds, 3),
    )
    ops.is_serving = True
    _LOG.info("serving", extra=values)
    if not wire.is_compiled():
        _LOG.warning("this installation is plain Python: %s", BUILD_ADVICE)
    if not confinement.is_full:
        _LOG.warning("workers are not fully confined: without %s", confinement.describe_missing())


class _Signals:
    """The handlers of SIGTERM and SIGINT until ``restore``.

    A signal that arrives before ``on_stop`` ends the process, because nothing was begun.
    """

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._has_arrived = False
        self._former = {number: signal.signal(number, self._handle) for number in _STOP_SIGNALS}

    def restore(self) -> None:
        """Let the former handlers return."""
        for number, former in self._former.items():
            signal.signal(number, former)

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` for the first signal."""
        self._stop = stop

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._stop is None:
            _LOG.info("stopped")
            os._exit(0)
        # Another signal, such as a second Ctrl-C, does not cut the grace period short.
        if not self._has_arrived:
            self._stop()
        self._has_arrived = True

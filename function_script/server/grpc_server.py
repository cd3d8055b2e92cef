"""The gRPC server: grpc.aio on one event loop, with its ports, and a graceful stop.

The lifecycle imports this module after the zygote has started, because a process that has loaded
gRPC's library must not fork. Requests and responses stay bytes.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc

from function_script.server import channel_args, rpc, sockets
from function_script.server.admission import Admission
from function_script.server.health_reflection import HealthAndReflection, reject
from function_script.server.rpc import RpcError, RpcRequest, Status
from function_script.wire.request import IGNORED_FIELD, REMOTE_TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from function_script.server.admission import Context
    from function_script.server.certificates import CertificateFiles
    from function_script.server.handler import RequestHandler
    from function_script.server.health_reflection import Services
    from function_script.server.rpc import Outcome

_LOG = logging.getLogger(__name__)
_GRPC_LOG = logging.getLogger("grpc._cython.cygrpc")
# Below the 30 seconds of Kubernetes' terminationGracePeriodSeconds; a call takes seconds at most.
GRACE_SECONDS: Final = 20.0
# gRPC cancels a call within this time if it has refused the message itself.
_CANCEL_SECONDS: Final = 1.0
_TRACEPARENT: Final = "traceparent"


class GrpcServer:
    """Serves ``handler`` in ``loop``; in plain text without ``certificates``.

    ``arguments`` replace channel arguments of all ports, for tests of times that are hours.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        handler: RequestHandler,
        max_request_bytes: int,
        certificates: CertificateFiles | None,
        arguments: channel_args.Arguments | None = None,
    ) -> None:
        _GRPC_LOG.addFilter(_is_worth_logging)
        channel_args.raise_descriptor_limit()
        self._loop = loop
        self._handler = handler
        self._max_request_bytes = max_request_bytes
        self._certificates = certificates
        self._arguments = arguments or {}
        self._stopping = asyncio.Event()
        self._admission = Admission(loop, max_request_bytes)
        self._health_and_reflection = HealthAndReflection(self._admission)
        self._servers: list[grpc.aio.Server] = []

    def listen(self, address: str) -> int:
        """Bind the port of the service and return its number. Raises InputError."""
        # As a stream of requests: gRPC would read a single one before the handler could count it.
        run = grpc.stream_unary_rpc_method_handler(self._run_function)
        services = {
            **{service: {rpc.METHOD: run} for service in rpc.SERVICES},
            **self._health_and_reflection.health_service(),
            **self._health_and_reflection.reflection_services(),
        }
        arguments = channel_args.for_service(self._max_request_bytes)
        credentials = None if self._certificates is None else _credentials(self._certificates)
        return self._bind(address, "--address", services, arguments, credentials)

    def listen_for_health(self, address: str) -> int:
        """Bind a port for the health service alone, in plain text. Raises InputError."""
        service = self._health_and_reflection.health_service()
        return self._bind(address, "--health-address", service, channel_args.for_health(), None)

    def serve(self, *, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        """Serve until ``stop``, then finish the open calls."""
        self._loop.run_until_complete(self._serve(on_serving, on_stopping))

    def stop(self) -> None:
        """End ``serve``; callable from any thread and from a signal handler."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    def close(self) -> None:
        """Cancel the remaining calls."""

        async def cancel() -> None:
            for server in self._servers:
                await server.stop(None)

        self._admission.stop()
        self._loop.run_until_complete(cancel())

    async def _serve(self, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        with _batch_scheduling():
            for server in self._servers:
                await server.start()
        on_serving()
        await self._wait()
        on_stopping()
        await self._health_and_reflection.stop()
        # The first port has the calls to finish; `close` cancels what is left on the other one.
        await self._servers[0].stop(GRACE_SECONDS)

    async def _wait(self) -> None:
        """Wait for ``stop``. Raises the error of a server that ends before."""
        ends = [self._loop.create_task(server.wait_for_termination()) for server in self._servers]
        stopping = self._loop.create_task(self._stopping.wait())
        # The tasks in `ends` are not cancelled: that would cancel the future that stop() awaits.
        completed, _ = await asyncio.wait({stopping, *ends}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        for task in completed:
            task.result()

    def _bind(
        self,
        address: str,
        flag: str,
        services: Services,
        arguments: channel_args.Arguments,
        credentials: grpc.ServerCredentials | None,
    ) -> int:
        async def bind() -> int:
            server = grpc.aio.server(options=[*(arguments | self._arguments).items()])
            server.add_generic_rpc_handlers(
                [grpc.method_handlers_generic_handler(*service) for service in services.items()]
            )
            self._servers.append(server)
            if credentials is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, credentials)
            self._admission.connections.ports.add(port)
            return port

        try:
            with _batch_scheduling():
                return self._loop.run_until_complete(bind())
        except RuntimeError as error:
            raise sockets.listen_error(address, flag) from error

    async def _run_function(self, _: object, context: Context) -> bytes:
        """Answer one call of RunFunction."""
        call = self._admission.open(context)
        data = await self._admission.read(call)
        if data is None:
            await asyncio.sleep(_CANCEL_SECONDS)
            text = "the call has no request message"
            data = RpcError(status=Status.INTERNAL, text=text)
        outcome = await self._answer(data, context) if isinstance(data, bytes) else data
        if isinstance(outcome, bytes):
            outcome = rpc.check_response_size(outcome)
        if isinstance(outcome, bytes):
            self._admission.send(call, len(outcome))
            return outcome
        await reject(context, outcome)
        return b""

    async def _answer(self, data: bytes, context: Context) -> Outcome:
        seconds = rpc.usable_seconds(context.time_remaining())
        # gRPC makes a list of the metadata for each reader, which takes as long as the log line.
        traceparent = _traceparent(context) if self._handler.is_traced else ""
        future: asyncio.Future[Outcome] = self._loop.create_future()

        def respond(outcome: Outcome) -> None:
            # The client may have cancelled the call, and with it this future.
            if not future.done():
                future.set_result(outcome)

        if data.startswith(REMOTE_TAG):
            # Behind any other field a client's texts are not read.
            data = IGNORED_FIELD + data
        request = RpcRequest(data=data, seconds=seconds, traceparent=traceparent)
        cancel = self._handler.start(request, respond)
        try:
            return await future
        except asyncio.CancelledError:
            cancel()
            raise


@contextmanager
def _batch_scheduling() -> Iterator[None]:
    """Schedule the threads that start meanwhile as SCHED_BATCH, which a thread inherits.

    gRPC's threads wake up for each event of a call. They preempt neither the event loop nor a
    worker then, so that the event loop takes several events at once.
    """
    if os.sched_getscheduler(0) != os.SCHED_OTHER:
        yield
        return
    # A filter of system calls may refuse it.
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _credentials(certificates: CertificateFiles) -> grpc.ServerCredentials:
    """Return credentials that require a client certificate and follow renewed files."""
    content = certificates.read_newest()

    def configuration() -> grpc.ServerCertificateConfiguration:
        pairs = [(content.key, content.certificate)]
        return grpc.ssl_server_certificate_configuration(pairs, content.authority)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        nonlocal content
        former, content = content, certificates.read_newest()
        if content is former:
            return None
        _LOG.info("using renewed certificates")
        return configuration()

    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        fetch,  # type: ignore[arg-type] # the stubs lack None, which means no change
        require_client_authentication=True,
    )


def grpc_library() -> Path:
    """Return the file of grpcio's compiled code."""
    spec = find_spec("grpc._cython.cygrpc")
    return Path(str(spec and spec.origin))


def tls_library(library: Path) -> str:
    """Return the name of grpcio's TLS library: wheels have BoringSSL, other builds load OpenSSL."""
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return "BoringSSL" if content.find(b"libssl.so") < 0 else "OpenSSL"


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Exclude records of clients that disconnect, or send metadata that is not text."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, grpc.aio.InternalError | UnicodeDecodeError)


def _traceparent(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == _TRACEPARENT and isinstance(value, str):
            return value
    return ""

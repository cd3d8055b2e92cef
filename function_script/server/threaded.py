"""The transport that gRPC's own library makes: a thread for each call. See ``--transport``.

It is what ours is compared with in tests, and a way out should ours ever fail somebody.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from function_script.server import transport
from function_script.server.transport import Incoming

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from function_script.server.tls import Certificates
    from function_script.server.transport import Refusal, Service

# Each waits for a worker most of its time. Crossplane runs up to 100 reconciles per kind of XR.
_THREADS = 256
_PROBE_THREADS = 2
# Below the 30 seconds that Kubernetes grants; a call takes seconds at most.
_GRACE_SECONDS = 20.0
# Else a second server on the same port would silently get half of the calls.
_ALONE = ("grpc.so_reuseport", 0)


class Threaded:
    """A server of grpcio. In plain text without ``certificates``."""

    def __init__(
        self, service: Service, max_request_bytes: int, certificates: Certificates | None
    ) -> None:
        self._certificates = certificates
        self._health = health.HealthServicer()
        self._server = _build(service, max_request_bytes, self._health)
        self._probes: list[grpc.Server] = []
        self._stopping = threading.Event()

    def listen(self, address: str) -> int:
        """Bind the service's port; the port. Raises InputError."""
        certificates = self._certificates
        return _listen(
            self._server, address, None if certificates is None else _credentials(certificates)
        )

    def listen_for_probes(self, address: str) -> int:
        """Bind a port for the health service alone, in plain text."""
        threads = ThreadPoolExecutor(_PROBE_THREADS, thread_name_prefix="probe")
        server = grpc.server(threads, options=[_ALONE])
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        self._probes.append(server)
        return _listen(server, address, None)

    def serve(self, *, on_serving: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        """Serve until ``stop``; then finish what was begun."""
        for server in (self._server, *self._probes):
            server.start()
        for service in ("", *transport.SERVICES):
            self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        on_serving()
        self._stopping.wait()
        on_stopping()
        self._health.enter_graceful_shutdown()
        self._server.stop(_GRACE_SECONDS).wait()

    def stop(self) -> None:
        """Have ``serve`` end; from any thread, or a signal's handler."""
        self._stopping.set()

    def close(self) -> None:
        """End what is left."""
        for server in (self._server, *self._probes):
            server.stop(None).wait()


def _build(
    service: Service, max_request_bytes: int, servicer: health.HealthServicer
) -> grpc.Server:
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="call"),
        maximum_concurrent_rpcs=transport.MAX_CALLS,
        options=[
            ("grpc.max_receive_message_length", max_request_bytes),
            ("grpc.max_send_message_length", -1),
            _ALONE,
        ],
    )
    handler = grpc.unary_unary_rpc_method_handler(_behavior(service))
    for name in transport.SERVICES:
        handlers = grpc.method_handlers_generic_handler(name, {transport.METHOD: handler})
        server.add_generic_rpc_handlers((handlers,))
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    names = (*transport.SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    return server


def _credentials(certificates: Certificates) -> grpc.ServerCredentials:
    def configuration() -> grpc.ServerCertificateConfiguration:
        content = certificates.content
        pairs = [(content.key, content.certificate)]
        return grpc.ssl_server_certificate_configuration(pairs, content.authority)

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        return configuration() if certificates.renew() else None

    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        renewed,  # type: ignore[arg-type] # may return None, whatever the stubs say
        require_client_authentication=True,
    )


def _listen(server: grpc.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        if credentials is None:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise transport.cannot_listen(address) from error
    if port == 0:
        raise transport.cannot_listen(address)
    return port


def _behavior(service: Service) -> Callable[[bytes, grpc.ServicerContext], bytes]:
    def run_function(data: bytes, call: grpc.ServicerContext) -> bytes:
        seconds = transport.time_to_answer(call.time_remaining())
        if seconds <= 0:
            _refuse(call, transport.too_late())
        metadata = {key: value for key, value in call.invocation_metadata() if str(value) == value}
        outcome = service.answer(Incoming(data=data, seconds=seconds, metadata=metadata))
        if isinstance(outcome, bytes):
            outcome = transport.sized(outcome)
        return outcome if isinstance(outcome, bytes) else _refuse(call, outcome)

    return run_function


def _refuse(call: grpc.ServicerContext, refusal: Refusal) -> NoReturn:
    codes = {code.value[0]: code for code in grpc.StatusCode}
    call.abort(codes[int(refusal.status)], refusal.text)

"""gRPC: the FunctionRunnerService in both versions, as raw bytes, with reflection and health.

Nothing else in the package knows the transport, but for certificates and health.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from function_script.errors import InputError
from function_script.limits import MIB
from function_script.proto.v1 import run_function_pb2 as v1
from function_script.proto.v1beta1 import run_function_pb2 as v1beta1

if TYPE_CHECKING:
    from grpc_health.v1 import health

# The request, what is left of the caller's time in seconds, the response.
Answer: TypeAlias = Callable[[bytes, float], bytes]

SERVICES = tuple(
    module.DESCRIPTOR.services_by_name["FunctionRunnerService"].full_name
    for module in (v1, v1beta1)
)
# Each waits for a worker most of its time. Crossplane runs up to 100 reconciles per kind of XR.
_THREADS = 256
# More are refused at once with RESOURCE_EXHAUSTED, which Crossplane tries again.
_MAX_CALLS = 1_024
# What callers in Go accept, unless they ask for more; Crossplane does not.
_CALLERS_LIMIT_BYTES = 4 * MIB
# Kept of the caller's time to build the answer and send it.
_MARGIN_SECONDS = 0.1
_MARGIN_SHARE = 0.2


def build(answer: Answer, max_request_bytes: int, servicer: health.HealthServicer) -> grpc.Server:
    """A server without a port yet."""
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="call"),
        maximum_concurrent_rpcs=_MAX_CALLS,
        options=[
            ("grpc.max_receive_message_length", max_request_bytes),
            ("grpc.max_send_message_length", -1),
            # Else a second server on the same port would silently get half of the calls.
            ("grpc.so_reuseport", 0),
        ],
    )
    handler = grpc.unary_unary_rpc_method_handler(_behavior(answer))
    for service in SERVICES:
        handlers = grpc.method_handlers_generic_handler(service, {"RunFunction": handler})
        server.add_generic_rpc_handlers((handlers,))
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    health_name = "grpc.health.v1.Health"
    reflection.enable_server_reflection((*SERVICES, health_name, reflection.SERVICE_NAME), server)
    return server


def listen(server: grpc.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    """Bind ``address``, in plain text without ``credentials``; the port. Raises InputError."""
    try:
        if credentials is None:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise _cannot_listen(address) from error
    if port == 0:
        raise _cannot_listen(address)
    return port


def _cannot_listen(address: str) -> InputError:
    return InputError.of(
        f'cannot listen on "{address}": it is in use, not allowed or not an address of this host',
        hint="choose another with --address or --health-address",
    )


def _behavior(answer: Answer) -> Callable[[bytes, grpc.ServicerContext], bytes]:
    def run_function(data: bytes, call: grpc.ServicerContext) -> bytes:
        response = answer(data, _time_left(call))
        if len(response) > _CALLERS_LIMIT_BYTES:
            _refuse(call, len(response))
        return response

    return run_function


def _time_left(call: grpc.ServicerContext) -> float:
    """Seconds; without a deadline more than anybody waits."""
    remaining = call.time_remaining()
    left = remaining - min(_MARGIN_SECONDS, remaining * _MARGIN_SHARE)
    if left <= 0:
        call.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline had passed on arrival")
    return left


def _refuse(call: grpc.ServicerContext, size: int) -> NoReturn:
    """Say in words what the caller would otherwise meet as a broken call."""
    call.abort(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        f"the response would have {size / MIB:.1f} MiB, of which most is desired state of earlier "
        f"steps; callers accept {_CALLERS_LIMIT_BYTES // MIB} MiB",
    )

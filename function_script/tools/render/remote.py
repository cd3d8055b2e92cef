"""Call a function at its address: plain gRPC, v1 and for old functions v1beta1.

Called for steps whose function is not ours; the only module of the tools that knows gRPC.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import grpc

from function_script.errors import ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1

if TYPE_CHECKING:
    from function_script.tools.render.steps import Step

_METHOD: Final = "/apiextensions.fn.proto.{}.FunctionRunnerService/RunFunction"
# A function in a container that has just been started is given this long to listen.
_CONNECT_SECONDS: Final = 10.0


def call(
    step: Step, address: str, request: fnv1.RunFunctionRequest, timeout_seconds: float
) -> fnv1.RunFunctionResponse:
    """The response of the function at ``address``. Raises ProgramError when there is none."""
    deadline = time.monotonic() + timeout_seconds
    with grpc.insecure_channel(address) as channel:
        try:
            ready = grpc.channel_ready_future(channel)
            ready.result(timeout=min(_CONNECT_SECONDS, timeout_seconds))
        except grpc.FutureTimeoutError as error:
            raise ProgramError.of(
                f'cannot run step "{step.name}": no function answers at {address}',
                hint=f"serve {step.function} there with --insecure, "
                f"or pass --function {step.function}=HOST:PORT",
            ) from error
        try:
            return _call(channel, request, deadline - time.monotonic())
        except grpc.RpcError as error:
            code, details = error.code(), error.details()
            raise ProgramError.of(
                f'cannot run step "{step.name}": {step.function} at {address} '
                f"answered {code.name}: {details}"
            ) from error


def _call(
    channel: grpc.Channel, request: fnv1.RunFunctionRequest, timeout_seconds: float
) -> fnv1.RunFunctionResponse:
    try:
        return _method(channel, "v1")(request, timeout=timeout_seconds)
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise
        return _method(channel, "v1beta1")(request, timeout=timeout_seconds)


def _method(
    channel: grpc.Channel, version: str
) -> grpc.UnaryUnaryMultiCallable[fnv1.RunFunctionRequest, fnv1.RunFunctionResponse]:
    return channel.unary_unary(
        _METHOD.format(version),
        request_serializer=fnv1.RunFunctionRequest.SerializeToString,
        response_deserializer=fnv1.RunFunctionResponse.FromString,
    )

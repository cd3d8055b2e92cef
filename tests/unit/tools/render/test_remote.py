"""Calls of functions at addresses."""

import time
from concurrent import futures

import grpc
import pytest
from support.timing import PATIENCE_SECONDS

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.texts.errors import ProgramError
from function_script.tools.render import remote
from function_script.tools.render.requirements import StepCall
from function_script.tools.render.steps import Step

STEP = Step(index=0, name="a", function="f", input=None, credentials={}, resources={}, schemas={})
SERVICE = "apiextensions.fn.proto.{}.FunctionRunnerService"


def serve(version: str, code: grpc.StatusCode = grpc.StatusCode.OK) -> tuple[grpc.Server, str]:
    """Return a server of a function that answers the tag of its request, and its address."""

    def answer(
        request: pb.RunFunctionRequest, context: grpc.ServicerContext
    ) -> pb.RunFunctionResponse:
        if code is not grpc.StatusCode.OK:
            context.abort(code, "no room")
        return pb.RunFunctionResponse(meta=pb.ResponseMeta(tag=request.meta.tag))

    handler = grpc.unary_unary_rpc_method_handler(
        answer,
        request_deserializer=pb.RunFunctionRequest.FromString,
        response_serializer=pb.RunFunctionResponse.SerializeToString,
    )
    server = grpc.server(futures.ThreadPoolExecutor(1))
    generic = grpc.method_handlers_generic_handler(
        SERVICE.format(version), {"RunFunction": handler}
    )
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_function_of_each_version_is_called(version: str) -> None:
    server, address = serve(version)
    request = pb.RunFunctionRequest(meta=pb.RequestMeta(tag="t"))
    try:
        assert (
            remote.call(StepCall(STEP, request, PATIENCE_SECONDS), address, print).meta.tag == "t"
        )
    finally:
        server.stop(None)


def test_status_of_a_function_is_an_error_with_its_text() -> None:
    server, address = serve("v1", grpc.StatusCode.RESOURCE_EXHAUSTED)
    try:
        with pytest.raises(ProgramError) as caught:
            remote.call(StepCall(STEP, pb.RunFunctionRequest(), PATIENCE_SECONDS), address, print)
    finally:
        server.stop(None)
    assert "answered RESOURCE_EXHAUSTED: no room" in caught.value.diagnostics[0].message


def test_call_does_not_wait_until_its_channel_is_closed() -> None:
    """Closing takes up to 0.2 s, in which a thread of gRPC still watches the channel."""
    server, address = serve("v1")
    seconds = []
    try:
        # A busy machine may delay some of them.
        for _ in range(20):
            started = time.monotonic()
            remote.call(StepCall(STEP, pb.RunFunctionRequest(), PATIENCE_SECONDS), address, print)
            assert remote.is_answering(address)
            seconds.append(time.monotonic() - started)
    finally:
        server.stop(None)
    assert min(seconds) < 0.15

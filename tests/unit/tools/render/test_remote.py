"""Calls of functions at addresses."""

import time

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct, Value
from support.function_servers import serving
from support.timing import PATIENCE_SECONDS

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.texts.errors import InputError, ProgramError
from function_script.tools.render import messages, remote
from function_script.tools.render.renderer import Options
from function_script.tools.render.requirements import StepCall
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.model import FunctionCaller, FunctionReference
from function_script.tools.render.steps import Step

STEP = Step(index=0, name="a", function="f", input=None, credentials={}, resources={}, schemas={})
REQUEST = pb.RunFunctionRequest(meta=pb.RequestMeta(tag="t"))


def echo(request: pb.RunFunctionRequest, _: grpc.ServicerContext) -> pb.RunFunctionResponse:
    """Answer the tag of the request."""
    return pb.RunFunctionResponse(meta=pb.ResponseMeta(tag=request.meta.tag))


def call(address: str) -> pb.RunFunctionResponse:
    return remote.call(StepCall(STEP, REQUEST, PATIENCE_SECONDS), address, print)


def test_status_of_a_function_is_an_error_with_its_text() -> None:
    def refuse(_: pb.RunFunctionRequest, context: grpc.ServicerContext) -> pb.RunFunctionResponse:
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no room")

    with serving(refuse) as address, pytest.raises(ProgramError) as caught:
        call(address)
    assert "answered RESOURCE_EXHAUSTED: no room" in caught.value.diagnostics[0].message


def test_objects_that_are_too_deep_are_an_error() -> None:
    """Parsed, a deeper one ends the process."""
    depth = 400
    struct = Struct()
    for _ in range(depth):
        struct = Struct(fields={"a": Value(struct_value=struct)})
    deep = pb.RunFunctionResponse(context=struct)
    with serving(lambda *_: deep) as address, pytest.raises(ProgramError) as caught:
        call(address)
    assert "answered a message that is nested too deeply" in caught.value.diagnostics[0].message
    with pytest.raises(InputError, match="more than 200 objects"):
        messages.read_struct(deep.context)


def test_call_does_not_wait_until_its_channel_is_closed() -> None:
    """Closing takes up to 0.2 s, in which a thread of gRPC still watches the channel."""
    seconds = []
    with serving(echo) as address:
        # A busy machine may delay some of them.
        for _ in range(20):
            started = time.monotonic()
            call(address)
            assert remote.is_answering(address)
            seconds.append(time.monotonic() - started)
    assert min(seconds) < 0.15


def test_function_that_does_not_answer_is_waited_for_once() -> None:
    """A command calls it for each XR; one that answers in the meantime is called again."""
    options = Options()
    caller = FunctionCaller(None, options)
    dead = Remote(address="127.0.0.1:1")
    for timeout_seconds in (0.3, PATIENCE_SECONDS):
        started = time.monotonic()
        with pytest.raises(ProgramError, match="no function answers"):
            dead.call(StepCall(STEP, REQUEST, timeout_seconds), caller)
        assert time.monotonic() - started < 5
    with serving(echo) as address:
        options.servers.silent.add(address)
        reply = Remote(address=address).call(StepCall(STEP, REQUEST, PATIENCE_SECONDS), caller)
    assert reply.response.meta.tag == "t"


@pytest.mark.parametrize(
    ("package", "way"),
    [
        pytest.param("example.org/function-go-templating:v1", "f=local", id="runs-here"),
        pytest.param("example.org/function-kcl:v1", "f=…", id="another"),
    ],
)
def test_hint_for_a_function_that_could_run_here_says_so(package: str, way: str) -> None:
    """The examples of function-go-templating are for one that is served beside."""
    function = FunctionReference(step=STEP, options=Options(), package=package)
    assert Remote.at("127.0.0.1:1", function).hint.endswith(f" --function {way}")

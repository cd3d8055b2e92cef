"""Both transports alone: deadlines, sizes and ports, in front of a plain service."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Protocol

import grpc
import pytest
from patience import PATIENCE_SECONDS
from raw_http2 import MAX_REQUEST_BYTES, InLoop, Recorder

from function_script.errors import InputError
from function_script.limits import MIB
from function_script.proto.v1 import run_function_pb2 as v1
from function_script.proto.v1beta1 import run_function_pb2 as v1beta1
from function_script.server import transport
from function_script.server.http2.health import Health
from function_script.server.http2.listener import Port
from function_script.server.http2.router import Router
from function_script.server.threaded import Threaded

if TYPE_CHECKING:
    from collections.abc import Iterator

METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
ANY_SIZE = [("grpc.max_receive_message_length", -1)]


class Served(Protocol):
    """A transport that serves in a thread."""

    port: int

    def stop(self) -> None:
        """End it."""


class InThreads:
    """gRPC's own."""

    def __init__(self, recorder: Recorder) -> None:
        self._threaded = Threaded(recorder, MAX_REQUEST_BYTES, None)
        self.port = self._threaded.listen("127.0.0.1:0")
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._threaded.serve,
            kwargs={"on_serving": self._stop.set, "on_stopping": lambda: None},
            daemon=True,
        )
        self._thread.start()
        assert self._stop.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        """End it."""
        self._threaded.stop()
        self._thread.join()
        self._threaded.close()


@pytest.fixture
def recorder() -> Recorder:
    """What stands behind the server."""
    return Recorder()


@contextmanager
def in_loop(recorder: Recorder) -> Iterator[grpc.Channel]:
    """A channel to a server of our own transport."""
    served = InLoop(recorder)
    try:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            yield channel
    finally:
        served.stop()


@pytest.fixture(params=[InLoop, InThreads], ids=["http2", "grpcio"])
def send(
    request: pytest.FixtureRequest, recorder: Recorder
) -> Iterator[grpc.UnaryUnaryMultiCallable]:
    """A call to a server in this process."""
    served: Served = request.param(recorder)
    with grpc.insecure_channel(f"127.0.0.1:{served.port}", options=ANY_SIZE) as channel:
        yield channel.unary_unary(METHOD)
    served.stop()


def refused(send: grpc.UnaryUnaryMultiCallable, data: bytes, **options: object) -> grpc.RpcError:
    """The error that a call must end with."""
    with pytest.raises(grpc.RpcError) as error:
        send(data, **options)
    return error.value


def test_the_time_left_is_passed_on_less_a_margin(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    """Something is kept to send the answer in time; without a deadline there is no limit."""
    # Clients round it up: to a hundredth of a second below ten, to a whole one above a hundred.
    send(b"1", timeout=9)
    send(b"1")
    assert 0 < recorder.calls[0].seconds < 8.95
    assert recorder.calls[1].seconds > 1e9


def test_metadata_is_passed_on(send: grpc.UnaryUnaryMultiCallable, recorder: Recorder) -> None:
    """A caller's trace context arrives; what is not there is None."""
    send(b"1", metadata=[("traceparent", "00-a-b-01")])
    assert recorder.calls[0].metadata.get("traceparent") == "00-a-b-01"
    assert recorder.calls[0].metadata.get("tracestate") is None


def test_a_refusal_is_read_in_words(send: grpc.UnaryUnaryMultiCallable) -> None:
    """Code and text arrive, whatever letters are in it."""
    error = refused(send, b"x")
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.details() == "10 % is too much: \N{SNOWMAN}"


def test_a_response_no_caller_accepts_is_refused(send: grpc.UnaryUnaryMultiCallable) -> None:
    """Over 4 MiB the caller reads why, instead of meeting a broken call."""
    assert len(send(b"%d" % (4 * MIB))) == 4 * MIB
    error = refused(send, b"%d" % (5 * MIB))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the response would have 5.0 MiB" in error.details()


def test_requests_over_the_limit_are_refused(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    """The largest is served, a byte more is not."""
    send(b"1" + b" " * (MAX_REQUEST_BYTES - 1))
    error = refused(send, b"1" + b" " * MAX_REQUEST_BYTES)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(recorder.calls) == 1


def test_compressed_requests_are_served(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    """What is in gzip format is decoded; a bomb is refused at the limit of any request."""
    assert send(b"00000000000000000007", compression=grpc.Compression.Gzip) == bytes(7)
    bomb = b"0" * (20 * MIB)
    error = refused(send, bomb, compression=grpc.Compression.Gzip)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(recorder.calls) == 1


def test_other_compressions_are_not_implemented(recorder: Recorder) -> None:
    """deflate, which gRPC's library would decode, is refused cleanly."""
    with in_loop(recorder) as channel:
        error = refused(
            channel.unary_unary(METHOD), b"0" * 1_000, compression=grpc.Compression.Deflate
        )
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def test_unknown_methods_are_not_implemented(recorder: Recorder) -> None:
    """Crossplane falls back to another version on UNIMPLEMENTED, and on nothing else."""
    with in_loop(recorder) as channel:
        error = refused(channel.unary_unary(METHOD.replace("v1", "v9")), b"1")
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def test_both_versions_are_offered() -> None:
    """UNIMPLEMENTED would make Crossplane call a second time."""
    assert (
        tuple(
            module.DESCRIPTOR.services_by_name["FunctionRunnerService"].full_name
            for module in (v1, v1beta1)
        )
        == transport.SERVICES
    )


def test_a_port_is_taken_once() -> None:
    """A second server on the same port is refused."""
    with ExitStack() as stack:
        loop = stack.enter_context(closing(asyncio.new_event_loop()))
        ports = [Port(loop, Router(Health(())), None) for _ in range(2)]
        number = ports[0].bind("127.0.0.1:0")
        stack.callback(ports[0].close)
        with pytest.raises(InputError, match="cannot listen on"):
            ports[1].bind(f"127.0.0.1:{number}")
        threaded = stack.enter_context(closing(Threaded(Recorder(), MIB, None)))
        with pytest.raises(InputError, match="cannot listen on"):
            threaded.listen(f"127.0.0.1:{number}")

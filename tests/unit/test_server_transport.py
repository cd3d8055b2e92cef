"""The transport alone: deadlines, sizes and ports, in front of a plain function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1 import health

from function_script.errors import InputError
from function_script.limits import MIB
from function_script.server import transport

if TYPE_CHECKING:
    from collections.abc import Iterator

METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
ANY_SIZE = [("grpc.max_receive_message_length", -1)]


class Recorder:
    """Answers as many bytes as asked for, and remembers the times it was given."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def answer(self, data: bytes, timeout_seconds: float) -> bytes:
        """``data`` is a decimal number."""
        self.times.append(timeout_seconds)
        return bytes(int(data))


@pytest.fixture
def recorder() -> Recorder:
    """What stands behind the server."""
    return Recorder()


@pytest.fixture
def send(recorder: Recorder) -> Iterator[grpc.UnaryUnaryMultiCallable]:
    """A call to a server in this process."""
    server = transport.build(recorder.answer, 1 * MIB, health.HealthServicer())
    port = transport.listen(server, "127.0.0.1:0", None)
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=ANY_SIZE) as channel:
        yield channel.unary_unary(METHOD)
    server.stop(None).wait()


def test_the_time_left_is_passed_on_less_a_margin(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    """Something is kept to send the answer in time; without a deadline there is no limit."""
    send(b"1", timeout=5)
    send(b"1", timeout=0.3)
    send(b"1")
    assert 4.5 < recorder.times[0] < 4.95
    assert 0.1 < recorder.times[1] < 0.25
    assert recorder.times[2] > 1e9


def test_a_response_no_caller_accepts_is_refused(send: grpc.UnaryUnaryMultiCallable) -> None:
    """Over 4 MiB the caller reads why, instead of meeting a broken call."""
    assert len(send(b"%d" % (4 * MIB))) == 4 * MIB
    with pytest.raises(grpc.RpcError) as refused:
        send(b"%d" % (5 * MIB))
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the response would have 5.0 MiB" in refused.value.details()


def test_both_versions_are_offered() -> None:
    """UNIMPLEMENTED would make Crossplane call a second time."""
    assert transport.SERVICES == (
        "apiextensions.fn.proto.v1.FunctionRunnerService",
        "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
    )


def test_a_port_is_taken_once() -> None:
    """A second server on the same port is refused."""
    servers = [transport.build(lambda d, _: d, MIB, health.HealthServicer()) for _ in range(2)]
    port = transport.listen(servers[0], "127.0.0.1:0", None)
    with pytest.raises(InputError, match="cannot listen on"):
        transport.listen(servers[1], f"127.0.0.1:{port}", None)
    for server in servers:
        server.stop(None).wait()

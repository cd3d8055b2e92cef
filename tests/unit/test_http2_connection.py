"""A connection over time: clients that are silent, slow or gone; health that is watched."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from hpack import Encoder
from living import living, no_collection
from patience import PATIENCE_SECONDS, wait_until
from raw_http2 import HEAD, PREFACE, InLoop, RawClient, Recorder, frame, message

from function_script.server.http2 import listener
from function_script.server.http2.calls import Unary
from function_script.server.http2.connection import Connection
from function_script.server.http2.credit import Credit
from function_script.server.http2.frames import Code, GoAwayError
from function_script.server.http2.health import Health, Serving
from function_script.server.http2.router import Router

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.server.http2.heads import Head
    from function_script.server.http2.stream import Call, Stream

SERVICE = "apiextensions.fn.proto.v1.FunctionRunnerService"
PING, RST = 6, 3


class Clock(asyncio.SelectorEventLoop):
    """A loop that does not run, and whose time is set."""

    now = 0.0

    def time(self) -> float:
        """The time that was set."""
        return self.now


class Sink:
    """A transport that remembers."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.is_over = False

    def set_write_buffer_limits(self, high: int) -> None:
        """There is no buffer."""

    def write(self, data: bytes) -> None:
        """Remember which frames were sent."""
        while data:
            self.kinds.append(data[3])
            data = data[9 + int.from_bytes(data[:3], "big") :]

    def close(self) -> None:
        """Remember."""
        self.is_over = True

    abort = close


class House:
    """What a connection belongs to; answers are held."""

    def __init__(self) -> None:
        self._router = Router(Health(()))
        self.recorder = Recorder()
        self.recorder.holds = True
        self._router.add_service(self.recorder, 1 << 20)

    def open_call(self, head: Head, stream: Stream) -> Call:
        """A call to the recorder."""
        return self._router.open(head, stream)

    def join(self, connection: Connection) -> None:
        """Nobody counts."""

    leave = join


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Time."""
    clock = Clock()
    yield clock
    clock.close()


@pytest.fixture
def sink() -> Sink:
    """What is sent."""
    return Sink()


@pytest.fixture
def house() -> House:
    """What the connection belongs to."""
    return House()


@pytest.fixture
def connection(clock: Clock, sink: Sink, house: House) -> Connection:
    """A connection at its beginning."""
    connection = Connection(house, clock)
    connection.connection_made(sink)  # type: ignore[arg-type] # as much of a transport as it needs
    return connection


def greet(connection: Connection) -> None:
    """What every client begins with."""
    connection.data_received(PREFACE + frame(4, 0, 0))


def test_who_says_nothing_is_hung_up_on(connection: Connection, sink: Sink) -> None:
    """A connection without a handshake holds nothing for long."""
    connection.data_received(PREFACE[:10])
    connection._look_after()
    assert sink.is_over


def test_a_silent_client_is_asked_and_then_left(connection: Connection, sink: Sink) -> None:
    """A machine that vanished sends no FIN: only a PING finds out."""
    greet(connection)
    connection._look_after()
    assert PING not in sink.kinds
    connection._look_after()
    assert sink.kinds[-1] == PING
    assert not sink.is_over
    connection.data_received(frame(6, 1, 0, b"are you?"))
    connection._look_after()
    assert not sink.is_over
    connection._look_after()
    connection._look_after()
    assert sink.is_over


@pytest.mark.parametrize("gives_back", [False, True])
@pytest.mark.parametrize("size", [1, 10, 100])
def test_what_was_read_may_change_afterwards(
    connection: Connection, house: House, size: int, *, gives_back: bool
) -> None:
    """All connections are read into the same memory; what is left may come back in front."""
    block = Encoder().encode(HEAD)
    body = frame(0, 0, 1, message(b"a request")[:7]) + frame(0, 1, 1, message(b"a request")[7:])
    sent = PREFACE + frame(4, 0, 0) + frame(1, 0, 1, block[:5]) + frame(9, 4, 1, block[5:]) + body
    for at in range(0, len(sent), size):
        rest = connection.take_rest() if gives_back else b""
        piece = bytearray(rest + sent[at : at + size])
        connection.data_received(memoryview(piece))
        piece[:] = bytes(len(piece))
    assert [call.data for call in house.recorder.calls] == [b"a request"]


def test_a_request_that_never_ends_is_given_up(
    connection: Connection, sink: Sink, clock: Clock
) -> None:
    """After a minute, while one that waits for its answer may wait on."""
    greet(connection)
    block = Encoder().encode(HEAD)
    connection.data_received(frame(1, 4, 1, block) + frame(0, 0, 1, b"\0\0"))
    connection.data_received(frame(1, 4, 3, Encoder().encode(HEAD)) + frame(0, 1, 3, message(b"3")))
    clock.now += 59
    connection._look_after()
    assert RST not in sink.kinds
    clock.now += 2
    connection._look_after()
    assert sink.kinds.count(RST) == 1
    assert list(connection._streams) == [3]


@pytest.mark.parametrize("end", ["answered", "reset", "lost"])
def test_nothing_of_a_call_outlives_it(connection: Connection, house: House, end: str) -> None:
    """Requests are large: none may have to wait for the collector of cycles."""
    greet(connection)
    with no_collection():
        before = living(Unary)
        data = frame(1, 4, 1, Encoder().encode(HEAD)) + frame(0, 1, 1, message(b"3"))
        connection.data_received(data)
        assert living(Unary) == before + 1
        if end == "answered":
            house.recorder.held.pop()()
        elif end == "reset":
            connection.data_received(frame(3, 0, 1, bytes(4)))
        else:
            connection.connection_lost(None)
        house.recorder.held.clear()
        assert living(Unary) == before


def test_credit_comes_back_with_time_and_with_answers(clock: Clock) -> None:
    """A flood ends; who is slow or gets answers never does."""
    credit = Credit(clock.time)
    for _ in range(100):
        clock.now += 1
        for _ in range(100):
            credit.spend()
    for _ in range(1_000):
        credit.earn(0)
        for _ in range(10):
            credit.spend()
    with pytest.raises(GoAwayError) as error:
        credit.spend(1_001)
    assert error.value.code is Code.ENHANCE_YOUR_CALM


@pytest.fixture
def served() -> Iterator[InLoop]:
    """A real server."""
    served = InLoop(Recorder())
    yield served
    served.stop()


def test_small_frames_are_sent_at_once(served: InLoop) -> None:
    """Else the last frame of an answer waits 40 ms for the client to acknowledge the one before."""
    with RawClient(served.port):
        (connection,) = served.listener._connections
        wire = connection._transport.get_extra_info("socket")
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_connections_are_bounded(served: InLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many is hung up on, and let in when another has gone."""
    monkeypatch.setattr(listener, "_MAX_CONNECTIONS", 2)
    with RawClient(served.port):
        with RawClient(served.port), RawClient(served.port, greets=False) as third:
            assert third.next() is None
        wait_until(lambda: is_let_in(served.port))


def is_let_in(port: int) -> bool:
    """Whether one more client hears anything."""
    with RawClient(port, greets=False) as client:
        return client.next() is not None


def test_health_is_watched(served: InLoop) -> None:
    """What it is now, what it becomes, and that it ends; unknown services are unknown."""
    with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        ask = health_pb2.HealthCheckRequest
        watched = stub.Watch(ask(service=SERVICE), timeout=PATIENCE_SECONDS)
        other = stub.Watch(ask(service="other"), timeout=PATIENCE_SECONDS)
        assert next(watched).status == Serving.SERVING
        assert next(other).status == Serving.SERVICE_UNKNOWN
        served.call(lambda: served.health.set(Serving.NOT_SERVING))
        assert next(watched).status == Serving.NOT_SERVING
        served.call(served.health.end_watches)
        with pytest.raises(grpc.RpcError) as error:
            next(watched)
        assert error.value.code() is grpc.StatusCode.UNAVAILABLE
        with pytest.raises(grpc.RpcError) as error:
            stub.Check(ask(service="other"), timeout=PATIENCE_SECONDS)
        assert error.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_answers_every_question(served: InLoop, version: str) -> None:
    """Services, files by name and by symbol with all they import, and what is not there."""
    ask = reflection_pb2.ServerReflectionRequest
    questions = [
        ask(list_services=""),
        ask(file_containing_symbol=SERVICE),
        ask(file_by_filename="google/protobuf/struct.proto"),
        ask(file_containing_symbol="no.such.Thing"),
        ask(all_extension_numbers_of_type="x"),
    ]
    with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        info = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        answers = list(info(iter(questions), timeout=PATIENCE_SECONDS))
    names = {service.name for service in answers[0].list_services_response.service}
    assert {SERVICE, SERVICE.replace(".v1.", ".v1beta1."), "grpc.health.v1.Health"} <= names
    assert len(answers[1].file_descriptor_response.file_descriptor_proto) == 3
    assert len(answers[2].file_descriptor_response.file_descriptor_proto) == 1
    codes = [answer.error_response.error_code for answer in answers[3:]]
    assert codes == [grpc.StatusCode.NOT_FOUND.value[0], grpc.StatusCode.UNIMPLEMENTED.value[0]]

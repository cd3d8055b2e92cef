"""The gRPC server with a test handler: deadlines, sizes, errors, streams and its stop."""

import asyncio
import gzip
import hashlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from support.grpc_server import MAX_REQUEST_BYTES, METHOD, Recorder, Served
from support.raw_http2 import (
    DATA,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW,
    SETTINGS,
    RawClient,
    frame,
    message,
    setting,
)
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from function_script.request.limits import MIB
from function_script.server import admission, grpc_server, rpc
from function_script.server.grpc_server import GrpcServer
from function_script.texts.errors import InputError


@pytest.fixture
def recorder() -> Recorder:
    """The handler of the server."""
    return Recorder()


@pytest.fixture
def served(recorder: Recorder) -> Iterator[Served]:
    """A server in this process."""
    with Served(recorder) as served:
        yield served


@pytest.fixture
def channel(served: Served) -> Iterator[grpc.Channel]:
    """A connection to it."""
    with served.channel() as channel:
        yield channel


@pytest.fixture
def send(channel: grpc.Channel) -> grpc.UnaryUnaryMultiCallable:
    """A call of RunFunction."""
    return channel.unary_unary(METHOD)


def rejected(send: grpc.UnaryUnaryMultiCallable, data: bytes, **options: object) -> grpc.RpcError:
    """Return the error of a call."""
    with pytest.raises(grpc.RpcError) as error:
        send(data, **options)
    return error.value


def test_time_left_is_passed_on_less_a_margin(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    """The margin is for sending the response. Without a deadline there is no limit."""
    send(b"1", timeout=9)
    send(b"1")
    assert 9 - SLACK_SECONDS < recorder.requests[0].seconds < 8.95
    assert recorder.requests[1].seconds > 1e9


def test_trace_context_is_passed_on(send: grpc.UnaryUnaryMultiCallable, recorder: Recorder) -> None:
    """It is empty when the caller sends none, and when nobody reads it."""
    metadata = [("traceparent", "00-a-b-01"), ("data-bin", b"\xff")]
    send(b"1", metadata=metadata)
    send(b"1")
    recorder.is_traced = False
    send(b"1", metadata=metadata)
    assert [request.traceparent for request in recorder.requests] == ["00-a-b-01", "", ""]


def test_error_is_sent_with_code_and_text(send: grpc.UnaryUnaryMultiCallable) -> None:
    """The text may have any characters."""
    error = rejected(send, b"x")
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.details() == "10 % is too much: \N{SNOWMAN}"


def test_response_that_no_client_accepts_is_an_error(send: grpc.UnaryUnaryMultiCallable) -> None:
    """Above 4 MiB the caller reads the reason instead of an error of its own library."""
    assert len(send(b"%d" % (4 * MIB))) == 4 * MIB
    error = rejected(send, b"%d" % (5 * MIB))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the response would have 5.0 MiB" in str(error.details())


def test_requests_over_the_limit_are_refused(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder
) -> None:
    send(b"1" + b" " * (MAX_REQUEST_BYTES - 1))
    error = rejected(send, b"1" + b" " * MAX_REQUEST_BYTES)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(recorder.requests) == 1


@pytest.mark.parametrize("size", [0, 1, 1_000, 300_000, MAX_REQUEST_BYTES])
def test_requests_with_gzip_are_served(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder, size: int
) -> None:
    data = b"7" + b" " * (size - 1) if size else b""
    if size:
        assert send(data, compression=grpc.Compression.Gzip) == bytes(7)
    else:
        rejected(send, data, compression=grpc.Compression.Gzip)
    assert recorder.requests[0].data == data


def test_deflate_is_unimplemented(send: grpc.UnaryUnaryMultiCallable, recorder: Recorder) -> None:
    """Its first byte may also begin a message that is not compressed."""
    error = rejected(send, b"0" * 1_000, compression=grpc.Compression.Deflate)
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "Compression algorithm" in str(error.details())
    assert not recorder.requests


_GZIP = gzip.compress(b"7" * 1_000, mtime=0)
_LARGE_GZIP = gzip.compress(hashlib.shake_128(b"").digest(400_000), mtime=0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_GZIP[:2], "truncated"),
        (_GZIP[:12] + b"\xff" + _GZIP[13:], "Error"),
        (_GZIP[:-8] + bytes(4) + _GZIP[-4:], "incorrect data check"),
        (_GZIP[:-4] + b"\x05\0\0\0", "incorrect length check"),
        (gzip.compress(bytes(10 * MIB), mtime=0)[:-4] + b"\x05\0\0\0", "more than the 5 bytes"),
        (_GZIP[:-4] + b"\xff\xff\0\0", "incorrect length check"),
        (_GZIP + _GZIP, "data follow"),
        (_LARGE_GZIP[:200_000] + _LARGE_GZIP[300_000:], "Error|data check"),
    ],
    ids=range(8),
)
def test_corrupt_gzip_stream_is_an_error(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder, data: bytes, reason: str
) -> None:
    error = rejected(send, data)
    assert error.code() is grpc.StatusCode.INTERNAL, error
    assert re.match(f"cannot decompress the request: .*({reason})", str(error.details()))
    assert not recorder.requests
    assert send(b"7", compression=grpc.Compression.Gzip) == bytes(7)


def test_memory_of_compressed_requests_is_reserved_before_they_are_decompressed(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second request finds no memory; memory is free again when the first call has ended."""
    monkeypatch.setattr(admission, "_SMALL_RESERVE_BYTES", -admission._MIN_HELD_BYTES + 1_500_000)
    recorder.holds = True
    first = send.future(b"7" + b" " * 900_000, compression=grpc.Compression.Gzip)
    wait_until(lambda: recorder.requests)
    error = rejected(send, b"7" + b" " * 900_000, compression=grpc.Compression.Gzip)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "all that this server can hold" in str(error.details())
    first.cancel()
    wait_until(lambda: recorder.cancelled)
    recorder.holds = False
    assert send(b"7" + b" " * 900_000, compression=grpc.Compression.Gzip) == bytes(7)


@pytest.mark.parametrize("path", ["/a/b", METHOD.replace("v1", "v9"), METHOD + "s"])
def test_unknown_streaming_method_is_refused_at_once(served: Served, path: str) -> None:
    """The client need not end its part of the stream first."""
    with RawClient(served.address) as client:
        stream = client.open(path)
        trailers = client.receive_until(HEADERS, stream, flags=END_STREAM)
    assert b"grpc-status" in trailers.payload
    assert b"12" in trailers.payload


def test_call_without_a_message_is_an_error(served: Served, recorder: Recorder) -> None:
    with RawClient(served.address) as client:
        trailers = client.receive_until(HEADERS, client.open(flags=END_STREAM), flags=END_STREAM)
    assert b"the call has no request message" in trailers.payload
    assert not recorder.requests


def test_cancelled_call_is_passed_on(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder, served: Served
) -> None:
    """The handler's call is cancelled once, and its later response is dropped."""
    recorder.holds = True
    call = send.future(b"3")
    wait_until(lambda: recorder.requests)
    call.cancel()
    wait_until(lambda: recorder.cancelled)
    served.call(recorder.held[0])
    recorder.holds = False
    assert send(b"5") == bytes(5)
    assert recorder.cancelled == 1


def test_responses_come_in_any_order(
    send: grpc.UnaryUnaryMultiCallable, recorder: Recorder, served: Served
) -> None:
    recorder.holds = True
    slow = send.future(b"3")
    wait_until(lambda: recorder.requests)
    recorder.holds = False
    assert send(b"5") == bytes(5)
    served.call(recorder.held[0])
    assert slow.result() == bytes(3)


def test_stop_finishes_what_has_begun(recorder: Recorder) -> None:
    """New clients are rejected meanwhile, and streams do not delay the stop."""
    with Served(recorder) as served, served.channel() as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        recorder.holds = True
        call = channel.unary_unary(METHOD).future(b"3")
        wait_until(lambda: recorder.requests)
        served.stop()
        assert next(watching).status == health_pb2.HealthCheckResponse.NOT_SERVING
        with pytest.raises(grpc.RpcError, match="shutting down"):
            next(watching)
        threading.Timer(0.2, served.call, [recorder.held[0]]).start()
        assert call.result() == bytes(3)


def test_call_that_was_sent_before_its_client_read_of_the_end_is_not_begun(
    recorder: Recorder,
) -> None:
    """GRPC's library answers it CANCELLED, and finishes the call that had begun."""
    with Served(recorder) as served, RawClient(served.address) as client:
        recorder.holds = True
        stream = client.call(b"3")
        wait_until(lambda: recorder.requests)
        served.stop()
        goaway = client.receive_until(GOAWAY, 0)
        # Streams of any number are still welcome, it says; RFC 9113, 6.8.
        assert goaway.payload[:4] == b"\x7f\xff\xff\xff"
        late = client.receive_until(HEADERS, client.call(b"5"), flags=END_STREAM)
        assert b"grpc-status\x011" in late.payload
        served.call(recorder.held[0])
        client.receive_until(HEADERS, stream, flags=END_STREAM)
    assert [request.data for request in recorder.requests] == [b"3"]


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_is_served_in_both_versions(channel: grpc.Channel, version: str) -> None:
    """Grpcurl tries v1 first, and finds the services without their files."""
    ask = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    requests = [reflection_pb2.ServerReflectionRequest(list_services="")]
    names = (*rpc.SERVICES, "grpc.health.v1.Health")
    requests += [
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in names
    ]
    services, *files = ask(iter(requests), timeout=PATIENCE_SECONDS)
    assert {each.name for each in services.list_services_response.service} >= {*names}
    assert all(each.file_descriptor_response.file_descriptor_proto for each in files)


def test_stream_of_requests_reserves_memory_for_one_of_them(
    served: Served, channel: grpc.Channel
) -> None:
    """The memory of a message is free when the next one is read."""
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
    )
    request = reflection_pb2.ServerReflectionRequest(file_by_filename="x" * 4_000)
    assert len(list(call(iter([request] * 100), timeout=PATIENCE_SECONDS))) == 100
    admission = served._server._admission
    assert served.call(lambda: admission._requests_bytes) < 2 * 4_096


def test_nonsense_for_health_is_an_error(channel: grpc.Channel) -> None:
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    for data in (b"\xff", b"\n\x90\x4e" + b"x" * 10_000):
        assert rejected(check, data).code() is grpc.StatusCode.INVALID_ARGUMENT
    error = rejected(check, bytes(10_000), compression=grpc.Compression.Gzip)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert check(b"", compression=grpc.Compression.Gzip) == b"\x08\x01"
    unknown = health_pb2.HealthCheckRequest(service="a").SerializeToString()
    assert rejected(check, unknown).code() is grpc.StatusCode.NOT_FOUND


def test_request_that_does_not_come_is_ended(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MAX_SECONDS", 0.3)
    with RawClient(served.address) as client:
        trailers = client.receive_until(HEADERS, client.open(), flags=END_STREAM)
        assert b"not complete after 0.3 s" in trailers.payload
        stream = client.call(b"3")
        client.receive_until(HEADERS, stream, flags=END_STREAM)


def test_connection_that_takes_no_response_is_dropped(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MAX_SECONDS", 0.3)
    settings = setting(INITIAL_WINDOW, 0)
    with RawClient(served.address, settings=settings) as stalled, served.channel() as channel:
        stalled.call(b"9")
        while stalled.receive() is not None:
            pass
        assert channel.unary_unary(METHOD)(b"3") == bytes(3)


def test_oldest_of_too_many_calls_make_room(
    served: Served, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that send nothing are ended for others that do."""
    monkeypatch.setattr(admission, "MAX_CALLS", 20)
    with RawClient(served.address) as idle, served.channel() as channel:
        streams = [idle.open() for _ in range(20)]
        wait_until(lambda: len(served._server._admission._calls) == 20)
        threading.Event().wait(0.1)
        assert channel.unary_unary(METHOD)(b"3") == bytes(3)
        trailers = idle.receive_until(HEADERS, streams[0], flags=END_STREAM)
        assert b"too many open calls" in trailers.payload
    assert len(recorder.requests) == 1


def test_frames_that_are_no_http2_end_their_connection(served: Served) -> None:
    with RawClient(served.address) as client:
        client.send(frame(DATA, 0, 99, message(b"3")) + frame(SETTINGS, 0, 7, b"abc"))
        while client.receive() is not None:
            pass
    with served.channel() as channel:
        assert channel.unary_unary(METHOD)(b"3") == bytes(3)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::]"])
def test_port_is_taken_once(served: Served, recorder: Recorder, host: str) -> None:
    with (
        closing(asyncio.new_event_loop()) as loop,
        closing(GrpcServer(loop, recorder, MIB, None)) as other,
        pytest.raises(InputError, match="cannot listen on"),
    ):
        other.listen(f"{host}:{served.port}")


def test_library_for_tls_is_named(tmp_path: Path) -> None:
    """The dynamic dependencies of grpcio's compiled code show it."""
    openssl = tmp_path / "cygrpc.so"
    openssl.write_bytes(bytes(10_000) + b"\0libssl.so.3\0libcrypto.so.3\0" + bytes(10_000))
    assert grpc_server.tls_library(openssl) == "OpenSSL"
    openssl.write_bytes(openssl.read_bytes().replace(b"libssl", b"libxyz"))
    assert grpc_server.tls_library(openssl) == "BoringSSL"
    library = grpc_server.grpc_library()
    load = f"import ctypes; ctypes.CDLL({str(library)!r}); print(open('/proc/self/maps').read())"
    maps = subprocess.check_output([sys.executable, "-I", "-c", load], text=True)
    assert (grpc_server.tls_library(library) == "OpenSSL") == ("libssl" in maps)

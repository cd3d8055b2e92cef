"""Attacks on a real server without a certificate: handshakes, plain HTTP, and its log."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority
from e2e.serving import SERVER_NAME, Server, call, method
from hostile import attacker
from hostile.client_attacks import GOOD, MIB, Peak, is_answered
from support.raw_http2 import DATA, INITIAL_WINDOW, RawClient, frame, message, setting
from support.timing import PATIENCE_SECONDS, cpu_seconds

from function_script.proto.v1 import run_function_pb2 as pb

REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
# The timeoutSeconds of the probes in the manifests.
_PROBE_SECONDS = 5.0


def fetch(address: str, path: str) -> int:
    """Return the status of a page; 0 without an answer in time, as for kubelet."""
    connection = http.client.HTTPConnection(address, timeout=_PROBE_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def connect(address: str) -> socket.socket:
    """Open a connection to HOST:PORT."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server in plain text."""
    flags = ("--insecure", "--health-address", "127.0.0.1:0")
    with Server(*flags, keeps=1_000) as server:
        yield server


@pytest.mark.attack
def test_requests_that_are_never_read_take_no_memory(server: Server) -> None:
    """One connection sends thousands of them, and reads no response."""
    fetch(server.metrics_address, "/metrics")
    before = server.resident_bytes()
    request = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 500
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        with connect(server.metrics_address) as connection, suppress(OSError):
            while True:
                connection.sendall(request)
    assert server.resident_bytes() - before < 16 << 20


@pytest.mark.attack
@pytest.mark.parametrize("flood", sorted(attacker.pages()))
def test_flood_of_pages_starves_nobody(server: Server, flood: str) -> None:
    """Probes and calls are answered; pages have their share of one CPU, on any machine."""
    with server.channel() as channel, attacker.attacking(flood, server.metrics_address):
        time.sleep(0.5)
        # Nobody calls meanwhile: what a call costs beside a flood depends on the machine.
        began, before = time.monotonic(), cpu_seconds(server.pid)
        time.sleep(1.5)
        share = (cpu_seconds(server.pid) - before) / (time.monotonic() - began)
        for _ in range(50):
            assert is_answered(call(channel, GOOD))
        statuses = [fetch(server.metrics_address, "/readyz") for _ in range(10)]
    assert statuses.count(200) >= 9
    assert share < 0.15


@pytest.mark.attack
@pytest.mark.parametrize("port", ["service", "health"])
@pytest.mark.parametrize("flood", sorted(attacker.calls_of_services()))
def test_flood_of_health_and_reflection_starves_nobody(
    server: Server, flood: str, port: str
) -> None:
    """Unread responses are bounded, invalid messages are not logged, calls are answered."""
    address = server.address if port == "service" else server.health_address
    before, lines = server.resident_bytes(), server.lines_read
    with attacker.attacking(flood, address), Peak(server) as peak, server.channel() as channel:
        for _ in range(5):
            assert is_answered(_call_again(channel))
    assert peak.size - before < 256 * MIB
    # Those five calls, and what the server drops or refuses by itself.
    assert server.lines_read - lines < 500


def _call_again(channel: grpc.Channel) -> pb.RunFunctionResponse:
    """Call as Crossplane does: once more if gRPC ends a call that waits for long on a busy CPU."""
    try:
        return call(channel, GOOD)
    except grpc.RpcError as error:
        if not isinstance(error, grpc.Call) or error.code() is not grpc.StatusCode.CANCELLED:
            raise
    return call(channel, GOOD)


@pytest.mark.attack
def test_answers_of_reflection_that_nobody_takes_are_bounded(server: Server) -> None:
    """A request of 13 bytes has a response of some hundred; forty streams send thousands."""
    before = server.resident_bytes()
    question = frame(DATA, 0, 1, message(b"\x3a\x01*"))[9:]
    with ExitStack() as stack, Peak(server) as peak:
        for _ in range(4):
            settings = setting(INITIAL_WINDOW, 0)
            client = stack.enter_context(RawClient(server.address, settings=settings))
            for _ in range(10):
                client.send_body(client.open(REFLECTION), 20_000 * question, seconds=0.1)
        with server.channel() as channel:
            assert is_answered(call(channel, GOOD))
    assert peak.size - before < 64 * MIB


@pytest.mark.attack
def test_reader_of_the_log_that_stalls_stops_no_answer() -> None:
    """Lines beyond the queue are dropped and counted; the server stops as usual."""
    request = pb.RunFunctionRequest()
    request.CopyFrom(GOOD)
    # Long lines fill the queue soon.
    request.observed.composite.resource["metadata"]["name"] = "x" * 250
    with Server("--insecure", stalls=True) as server:
        with server.channel() as channel:
            for _ in range(3_000):
                assert is_answered(call(channel, request, timeout=20.0))
        assert server.metrics()["function_script_log_lines_dropped_total"] > 0
        assert server.stop() == 0


@pytest.mark.attack
def test_bad_handshakes_beside_a_reader_that_stalls_stop_no_answer(tmp_path: Path) -> None:
    """GRPC's library would write a line for each, and the pipe holds some hundred."""
    authority = Authority()
    directory = authority.server(SERVER_NAME).write(tmp_path)
    with Server("--tls-certs-dir", str(directory), stalls=True) as server:
        for number in range(3_000):
            with connect(server.address) as connection, suppress(OSError):
                connection.sendall(b"\x16\x03\x01\x00\x05nonsense" if number % 2 else b"GET / ")
                connection.shutdown(socket.SHUT_WR)
        with server.channel(authority.client()) as channel:
            # A connection may be refused while the last bad ones are still shaking hands.
            response = method(channel)(GOOD, timeout=20.0, wait_for_ready=True)
            assert is_answered(response)

"""Hostile clients of a real server, over mutual TLS as Crossplane is: others are served."""

import gzip
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import grpc
import pytest
from e2e.authority import Authority
from e2e.serving import SERVER_NAME, Server, call
from hostile import client_attacks as attacks
from hostile.attacker import attacking
from hostile.client_attacks import GOOD, MIB, Peak, Target, is_answered
from support.raw_http2 import DATA, END_STREAM, GOAWAY, HEADERS, PATH, RST, frame, message
from support.timing import PATIENCE_SECONDS, wait_until

# The server holds this much of requests and responses; the rest is for a busy machine.
HELD_BYTES = 256 * MIB
SLACK_BYTES = 160 * MIB
LARGES = [attacks.LARGE] * 10


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A server that has answered a few requests, for all attacks one after another."""
    authority = Authority()
    directory = authority.server(SERVER_NAME).write(tmp_path_factory.mktemp("tls"))
    with Server("--tls-certs-dir", str(directory), "--timeout", "1s", keeps=1_000) as server:
        target = Target(server, authority.client())
        for _ in range(20):
            assert target.is_well()
        yield target


@pytest.mark.attack
def test_clients_that_go_away_leave_no_memory(target: Target) -> None:
    """A hundred read a part of a large response each, and disconnect."""
    attacks.clients_that_go_away(target, 10)
    before = target.server.whole_resident_bytes()
    attacks.clients_that_go_away(target, 100)
    wait_until(lambda: target.server.whole_resident_bytes() <= 1.2 * before)
    assert target.is_well()
    assert not target.server.says("ExecuteBatchError")


@pytest.mark.attack
def test_responses_that_are_not_taken_are_bounded(target: Target) -> None:
    """Valid requests have large responses, for windows that never open."""
    before = target.server.resident_bytes()
    with Peak(target.server) as peak, attacks.readers_without_a_window(target, 20, LARGES):
        wait_until(target.is_well)
    assert peak.size - before < HELD_BYTES + SLACK_BYTES
    wait_until(lambda: target.server.resident_bytes() - before < 64 * MIB)


@pytest.mark.attack
def test_memory_of_many_small_responses_is_given_back(target: Target) -> None:
    """They are held while the server trims its heap, and free after that."""
    before = target.server.resident_bytes()
    # Of several XRs, none of which may fill the line alone.
    requests = [attacks.request_of_size(100_000, f"xr-{number}") for number in range(10)]
    with attacks.readers_without_a_window(target, 90, requests):
        wait_until(lambda: target.server.resident_bytes() - before > 96 * MIB)
        time.sleep(6.0)
    wait_until(lambda: target.server.resident_bytes() - before < 32 * MIB)


@pytest.mark.attack
def test_uploads_that_stop_halfway_are_bounded(target: Target) -> None:
    """Thirty clients announce 60 MiB each and send half."""
    before = target.server.resident_bytes()
    with Peak(target.server) as peak, attacks.half_uploads(target, 30):
        wait_until(target.is_well)
    assert peak.size - before < HELD_BYTES + SLACK_BYTES
    wait_until(lambda: target.server.resident_bytes() - before < 64 * MIB)


def test_request_that_is_too_large_after_decompression_is_rejected(target: Target) -> None:
    """It is rejected before it is decompressed."""
    request = gzip.compress(bytes(65 * MIB), mtime=0)
    with target.channel() as channel, pytest.raises(grpc.RpcError) as error:
        channel.unary_unary(PATH)(request, timeout=PATIENCE_SECONDS)
    assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "after decompression" in str(error.value.details())


@pytest.mark.attack
def test_compressed_bombs_are_bounded_and_keep_nobody_waiting(target: Target) -> None:
    """Two hundred requests of 60 KB that are 60 MiB each after decompression."""
    before = target.server.resident_bytes()
    slowest = 0.0
    with (
        target.channel() as channel,
        Peak(target.server) as peak,
        attacks.compressed_bombs(target, 10, 20),
    ):
        for _ in range(200):
            began = time.monotonic()
            assert is_answered(call(channel, GOOD))
            slowest = max(slowest, time.monotonic() - began)
    assert peak.size - before < HELD_BYTES + SLACK_BYTES
    # Decompressed by the library they kept good calls waiting for 8 s.
    assert slowest < 4.0
    wait_until(lambda: target.server.resident_bytes() - before < 64 * MIB)


@pytest.mark.attack
def test_cancelled_calls_do_not_end_good_ones(target: Target) -> None:
    """Four hundred are cancelled on the connection of fifty good ones."""
    assert attacks.cancelled_beside_good(target, 400, 50) == 50
    assert target.is_well()


@pytest.mark.attack
def test_silent_connections_do_not_keep_others_out(target: Target) -> None:
    """Nine hundred never show a certificate, and are reopened when they are closed."""
    assert attacks.silent_connections(target, 900, 20) == 20


@pytest.mark.attack
@pytest.mark.parametrize("flood", attacks.floods())
def test_floods_of_frames_do_not_keep_others_out(
    target: Target, tmp_path: Path, flood: str
) -> None:
    """Good calls are answered, new clients are served, and memory is bounded."""
    certificates = str(target.identity.write(tmp_path))
    before = target.server.resident_bytes()
    with (
        attacking(flood, target.server.address, certificates),
        Peak(target.server) as peak,
        target.channel() as channel,
    ):
        for _ in range(50):
            assert is_answered(call(channel, GOOD))
        assert target.is_well()
    assert peak.size - before < HELD_BYTES + SLACK_BYTES
    assert target.is_well()


METADATA = [
    pytest.param([("content-length", "9" * 5_000)], id="a length of 5,000 digits"),
    pytest.param([("grpc-timeout", "9" * 5_000 + "S")], id="a timeout of 5,000 digits"),
    pytest.param([("grpc-timeout", "1x")], id="a timeout without a unit"),
    pytest.param([("a", "b" * 20_000)], id="20,000 bytes of metadata"),
    pytest.param([(f"key-{number}", "x") for number in range(2_000)], id="2,000 keys"),
    pytest.param([("a-bin", "\xff\xfe")], id="binary metadata that is none"),
    pytest.param([("traceparent", "\xff" * 100)], id="a trace context that is none"),
    pytest.param([("grpc-encoding", "snappy")], id="an encoding that is not served"),
]


@pytest.mark.parametrize("extra", METADATA)
def test_metadata_that_cannot_be_hurts_only_its_call(
    target: Target, extra: list[tuple[str, str]]
) -> None:
    """The server logs no traceback, and serves the next client."""
    with target.connect() as client:
        stream = client.open(extra=extra)
        client.send(frame(DATA, END_STREAM, stream, message(attacks.GOOD.SerializeToString())))
        client.socket.settimeout(2.0)
        while (received := client.receive()) is not None:
            if received.kind in {RST, GOAWAY}:
                break
            if received.kind == HEADERS and received.flags & END_STREAM:
                break
    assert target.is_well()
    assert "Traceback" not in "".join(target.server.text)


_ATTEMPTS = 5
_PAUSE_SECONDS = 0.1


class GoodClients:
    """Two clients that call one after the other within the block, each call up to five times.

    gRPC ends a call now and then that waits for long. Crossplane tries such calls again, later.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(2)]
        self.answered = 0
        self.errors: list[grpc.RpcError] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        with self._target.channel() as channel:
            while not self._end.is_set():
                for _ in range(_ATTEMPTS):
                    try:
                        assert is_answered(call(channel, GOOD, timeout=PATIENCE_SECONDS))
                        self.answered += 1
                        break
                    except grpc.RpcError as error:
                        last = error
                        time.sleep(_PAUSE_SECONDS)
                else:
                    self.errors.append(last)


@pytest.mark.attack
@pytest.mark.parametrize(
    "flood", ["unfinished headers", "reset calls", "reset calls on a connection that lasts"]
)
def test_flood_neither_ends_calls_of_others_nor_keeps_memory(
    target: Target, flood: str, tmp_path: Path
) -> None:
    """Good calls are answered, and the memory is back within a minute."""
    before = target.server.resident_bytes()
    certificates = str(target.identity.write(tmp_path))
    with attacking(flood, target.server.address, certificates), GoodClients(target) as good:
        time.sleep(3.0)
    assert good.answered
    assert good.errors == []
    end = time.monotonic() + 60.0
    while target.server.resident_bytes() - before > 96 * MIB:
        assert time.monotonic() < end
        time.sleep(0.5)
    wait_until(target.is_well)


@pytest.mark.attack
def test_unfinished_headers_are_bounded_without_a_call(target: Target, tmp_path: Path) -> None:
    """They are in the library's memory, and nobody else calls meanwhile."""
    before = target.server.resident_bytes()
    certificates = str(target.identity.write(tmp_path))
    with attacking("unfinished headers", target.server.address, certificates):
        wait_until(lambda: target.server.says("take too much memory"))
        wait_until(lambda: target.server.resident_bytes() - before < HELD_BYTES + SLACK_BYTES)
    wait_until(target.is_well)


@pytest.mark.attack
def test_client_that_never_acknowledges_settings_is_disconnected(target: Target) -> None:
    with target.connect() as client:
        client.socket.settimeout(PATIENCE_SECONDS)
        while client.socket.recv(1 << 16):
            pass

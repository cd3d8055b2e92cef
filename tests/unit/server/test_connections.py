"""The lifetime of a connection: its age, idleness, and a client that has vanished."""

import time

from support.grpc_server import METHOD, Recorder, Served
from support.raw_http2 import END_STREAM, GOAWAY, HEADERS, RawClient
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.server.channel_args import (
    AGE_GRACE_MS,
    AGE_MS,
    IDLE_MS,
    KEEPALIVE_MS,
    PING_TIMEOUT_MS,
)


def wait_for_end(client: RawClient) -> None:
    """Return when the server has closed the connection; raise TimeoutError if it does not."""
    client.socket.settimeout(PATIENCE_SECONDS)
    try:
        while client.socket.recv(65_536):
            pass
    except ConnectionResetError:
        return


def test_idle_connection_is_closed_and_a_busy_one_is_not() -> None:
    """A connection with an open call is not idle, however long the call takes."""
    recorder = Recorder()
    with (
        Served(recorder, {IDLE_MS: 300}) as served,
        RawClient(served.address) as idle,
        RawClient(served.address) as busy,
    ):
        recorder.holds = True
        stream = busy.call(b"3")
        wait_until(lambda: recorder.held)
        idle.receive_until(GOAWAY, 0)
        wait_for_end(idle)
        served.call(recorder.held[0])
        busy.receive_until(HEADERS, stream, flags=END_STREAM)
        busy.receive_until(GOAWAY, 0)


def test_connection_of_some_age_ends_without_losing_a_call() -> None:
    """The open call is finished; later ones use a new connection."""
    recorder = Recorder()
    with Served(recorder, {AGE_MS: 200}) as served, served.channel() as channel:
        send = channel.unary_unary(METHOD)
        with RawClient(served.address) as client:
            recorder.holds = True
            stream = client.call(b"3")
            wait_until(lambda: recorder.held)
            recorder.holds = False
            client.receive_until(GOAWAY, 0)
            served.call(recorder.held[0])
            client.receive_until(HEADERS, stream, flags=END_STREAM)
            wait_for_end(client)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            assert send(b"3", timeout=PATIENCE_SECONDS) == bytes(3)


def test_call_that_outlives_its_connection_is_ended() -> None:
    """This happens after the grace time; the handler's call is cancelled."""
    recorder = Recorder()
    recorder.holds = True
    arguments = {AGE_MS: 200, AGE_GRACE_MS: 200}
    with Served(recorder, arguments) as served, RawClient(served.address) as client:
        client.call(b"3")
        wait_until(lambda: recorder.held)
        client.receive_until(GOAWAY, 0)
        wait_for_end(client)
        wait_until(lambda: recorder.cancelled)


def test_client_that_has_vanished_is_noticed() -> None:
    """It answers no ping, as after a power failure. A client that answers stays connected."""
    arguments = {KEEPALIVE_MS: 1_000, PING_TIMEOUT_MS: 1_500}
    recorder = Recorder()
    recorder.holds = True
    with (
        Served(recorder, arguments) as served,
        served.channel() as channel,
        RawClient(served.address) as vanished,
    ):
        answered = channel.unary_unary(METHOD).future(b"3")
        wait_until(lambda: recorder.held)
        vanished.call(b"3")
        wait_for_end(vanished)
        wait_until(lambda: recorder.cancelled)
        served.call(recorder.held[0])
        assert answered.result(PATIENCE_SECONDS) == bytes(3)

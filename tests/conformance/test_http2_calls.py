"""Calls over frames written by hand: windows, order, limits, cancelling, draining."""

from __future__ import annotations

import struct
import zlib
from itertools import count
from typing import TYPE_CHECKING

import pytest
from patience import SLACK_SECONDS, wait_until
from raw_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEAD,
    HEADERS,
    MAX_REQUEST_BYTES,
    PATH,
    PING,
    RST,
    SETTINGS,
    WINDOW,
    Frame,
    InLoop,
    RawClient,
    Recorder,
    frame,
    message,
)

from function_script.server.http2.frames import Code

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = struct.Struct(">I").pack
SETTING = struct.Struct(">HI").pack
FIRST_WINDOW, MAX_FRAME = 4, 5


@pytest.fixture
def recorder() -> Recorder:
    """What stands behind the server."""
    return Recorder()


@pytest.fixture
def served(recorder: Recorder) -> Iterator[InLoop]:
    """A server."""
    served = InLoop(recorder)
    yield served
    served.stop()


@pytest.fixture
def client(served: InLoop) -> Iterator[RawClient]:
    """A connection to it."""
    with RawClient(served.port) as client:
        yield client


def head(**changed: str) -> list[tuple[str, str]]:
    """The head of a call with fields changed or added; ``_`` stands for a hyphen."""
    new = {name.replace("_", "-"): value for name, value in changed.items()}
    kept = [(name, value) for name, value in HEAD if name.lstrip(":") not in new]
    pseudo = [(f":{name}", value) for name, value in new.items() if name in {"method", "path"}]
    rest = [(name, value) for name, value in new.items() if name not in {"method", "path"}]
    return [*pseudo, *kept, *rest]


def wait_for(recorder: Recorder, calls: int) -> None:
    """Until so many requests are there."""
    wait_until(lambda: len(recorder.calls) >= calls)
    assert len(recorder.calls) == calls


def test_nothing_is_sent_beyond_a_streams_window(served: InLoop) -> None:
    """An answer goes out as its window opens, to the byte; trailers need no window."""
    settings = SETTING(FIRST_WINDOW, 10)
    with RawClient(served.port, settings=settings) as client:
        client.send(client.call(1, b"95"))
        assert len(client.until(DATA).payload) == 10
        client.send(frame(WINDOW, 0, 1, NUMBER(15)))
        assert len(client.until(DATA).payload) == 15
        client.send(frame(SETTINGS, 0, 0, SETTING(FIRST_WINDOW, 4)))
        client.send(frame(WINDOW, 0, 1, NUMBER(7)))
        assert len(client.until(DATA).payload) == 1
        client.send(frame(WINDOW, 0, 1, NUMBER(100)))
        last = client.until(DATA)
        assert (len(last.payload), last.flags) == (74, 0)
        assert client.until(HEADERS).flags == END_STREAM | END_HEADERS


def test_nothing_is_sent_beyond_the_connections_window(client: RawClient) -> None:
    """Streams share it in turn; when it opens, all of them end."""
    client.send(b"".join(client.call(stream, b"60000") for stream in (1, 3, 5)))
    client.send(frame(SETTINGS, 0, 0, SETTING(FIRST_WINDOW, 1 << 20)))
    sent, ended = 0, set()

    def take() -> Frame:
        nonlocal sent
        found = client.next()
        assert found is not None
        if found.kind == DATA:
            sent += len(found.payload)
        elif found.kind == HEADERS and found.flags & END_STREAM:
            ended.add(found.stream)
        return found

    client.send(frame(PING, 0, 0, b"12345678"))
    while take().kind != PING or sent < 65_535:
        assert sent <= 65_535
    client.send(frame(WINDOW, 0, 0, NUMBER(1 << 20)))
    while len(ended) < 3:
        take()
    assert sent == 3 * 60_005


def test_frames_are_as_large_as_the_client_takes(served: InLoop) -> None:
    """The usual size at first; larger ones when the client says so."""
    for settings, size in ((b"", 16_384), (SETTING(MAX_FRAME, 40_000), 40_000)):
        with RawClient(served.port, settings=settings) as client:
            client.send(client.call(1, b"50000"))
            assert len(client.until(DATA).payload) == size


def test_windows_open_as_requests_come_in(client: RawClient, recorder: Recorder) -> None:
    """A large request never has to wait long, and one beyond its window ends its stream."""
    body = message(b"3" + b" " * (MAX_REQUEST_BYTES - 1))
    client.send(frame(HEADERS, END_HEADERS, 1, client.block()))
    for at in range(0, len(body), 16_000):
        piece = body[at : at + 16_000]
        flags = END_STREAM if at + 16_000 >= len(body) else 0
        client.send(frame(DATA, flags, 1, piece))
    assert client.until(WINDOW).stream == 1
    assert client.response(1)[1] == message(bytes(3))
    assert len(recorder.calls[0].data) == MAX_REQUEST_BYTES


def test_a_request_over_the_limit_is_refused_at_once(client: RawClient, recorder: Recorder) -> None:
    """The client reads why and is told to stop; what is on its way is ignored."""
    client.send(frame(HEADERS, END_HEADERS, 1, client.block()))
    for _ in range(MAX_REQUEST_BYTES // 16_000 + 2):
        client.send(frame(DATA, 0, 1, bytes(16_000)))
    fields, _ = client.response(1)
    assert fields["grpc-status"] == "8"
    assert "more than 1 MiB" in fields["grpc-message"]
    assert client.until(RST).code == Code.NO_ERROR
    client.send(frame(DATA, END_STREAM, 1, b"late") + client.call(3))
    assert client.response(3)[1] == message(bytes(3))
    assert len(recorder.calls) == 1


def test_answers_come_in_any_order(client: RawClient, recorder: Recorder, served: InLoop) -> None:
    """A call that takes long does not hold up the next on the same connection."""
    recorder.holds = True
    client.send(client.call(1, b"3"))
    wait_for(recorder, 1)
    recorder.holds = False
    client.send(client.call(3, b"5"))
    assert client.response(3)[1] == message(bytes(5))
    served.call(recorder.held[0])
    assert client.response(1)[1] == message(bytes(3))


def test_a_cancelled_call_is_passed_on(
    client: RawClient, recorder: Recorder, served: InLoop
) -> None:
    """The service hears of it once, and an answer that comes later is dropped."""
    recorder.holds = True
    client.send(client.call(1))
    wait_for(recorder, 1)
    client.send(frame(RST, 0, 1, NUMBER(Code.CANCEL)) + frame(PING, 0, 0, b"12345678"))
    client.until(PING)
    assert recorder.cancelled == 1
    served.call(recorder.held[0])
    client.send(frame(PING, 0, 0, b"12345678"))
    assert client.next().kind == PING  # type: ignore[union-attr] # and no answer before it


def test_a_lost_client_cancels_its_calls(recorder: Recorder, served: InLoop) -> None:
    """Of all its calls that are not answered."""
    recorder.holds = True
    with RawClient(served.port) as client:
        client.send(b"".join(client.call(stream) for stream in (1, 3, 5)))
        wait_for(recorder, 3)
    wait_until(lambda: recorder.cancelled >= 3)
    assert recorder.cancelled == 3


def test_more_streams_than_announced_are_refused(client: RawClient, recorder: Recorder) -> None:
    """REFUSED_STREAM, which clients may try again, and nothing else ends."""
    recorder.holds = True
    client.send(b"".join(client.call(2 * n + 1) for n in range(1_001)))
    refused = client.until(RST)
    assert (refused.stream, refused.code) == (2_001, Code.REFUSED_STREAM)


def test_draining_finishes_what_was_begun(
    client: RawClient, recorder: Recorder, served: InLoop
) -> None:
    """Calls on their way count until the PING is back; then the last id is told, and the end."""
    recorder.holds = True
    client.send(client.call(1, b"3"))
    wait_for(recorder, 1)
    served.call(served.listener.drain)
    first = client.until(GOAWAY)
    assert (int.from_bytes(first.payload[:4], "big"), first.code) == (0x7FFFFFFF, Code.NO_ERROR)
    ping = client.until(PING)
    client.send(client.call(3, b"5") + frame(PING, 1, 0, ping.payload))
    last = client.until(GOAWAY)
    assert int.from_bytes(last.payload[:4], "big") == 3
    client.send(client.call(5))
    client.send(frame(PING, 0, 0, b"12345678"))
    client.until(PING)
    assert len(recorder.calls) == 2
    for answer in recorder.held:
        served.call(answer)
    ended = [found.stream for found in client.all() if found.flags & END_STREAM]
    assert ended == [1, 3]


GRPC = [
    # what is sent, and which status comes back with which words
    pytest.param(head(), b"", "13", "not exactly one message", id="no message"),
    pytest.param(head(), message(b"3")[:-1], "13", "not exactly one message", id="cut off"),
    pytest.param(head(), message(b"3") * 2, "13", "not exactly one message", id="two messages"),
    pytest.param(
        head(), message(b"3", compressed=True), "12", "gzip and identity are", id="no encoding"
    ),
    pytest.param(
        head(grpc_encoding="snappy"), message(b"3", compressed=True), "12", "gzip", id="snappy"
    ),
    pytest.param(
        head(grpc_encoding="gzip"),
        message(b"no gzip at all", compressed=True),
        "13",
        "not in gzip",
        id="no gzip",
    ),
    pytest.param(
        head(grpc_encoding="gzip"),
        message(zlib.compress(b"3", wbits=31)[:-6], compressed=True),
        "13",
        "cut off",
        id="half of gzip",
    ),
    pytest.param(
        head(grpc_encoding="gzip"),
        message(zlib.compress(bytes(MAX_REQUEST_BYTES + 1), wbits=31), compressed=True),
        "8",
        "more than 1 MiB",
        id="a bomb",
    ),
    pytest.param(head(grpc_timeout="1x"), message(b"3"), "13", "grpc-timeout", id="no timeout"),
    pytest.param(
        head(grpc_timeout="123456789S"), message(b"3"), "13", "grpc-timeout", id="nine digits"
    ),
    pytest.param(head(grpc_timeout="0n"), message(b"3"), "4", "had passed", id="no time left"),
    pytest.param(head(path="/a/b"), message(b"3"), "12", "not served here", id="another method"),
    pytest.param(head(), message(b"x"), "8", "10 %25 is too much: %E2%98%83", id="refused"),
]


@pytest.mark.parametrize(("fields", "body", "status", "text"), GRPC)
def test_what_cannot_be_served_is_said_in_words(
    client: RawClient, fields: list[tuple[str, str]], body: bytes, status: str, text: str
) -> None:
    """Trailers alone, with a code and a text in printable ASCII."""
    block = client.block(fields)
    client.send(frame(HEADERS, END_HEADERS, 1, block) + frame(DATA, END_STREAM, 1, body))
    found, data = client.response(1)
    assert (found[":status"], found["grpc-status"], data) == ("200", status, b"")
    assert text in found["grpc-message"]


def test_compressed_requests_are_read(client: RawClient, recorder: Recorder) -> None:
    """Both gzip and what says gzip but is not compressed."""
    fields = client.block(head(grpc_encoding="gzip"))
    body = message(zlib.compress(b"3", wbits=31), compressed=True)
    client.send(frame(HEADERS, END_HEADERS, 1, fields) + frame(DATA, END_STREAM, 1, body))
    assert client.response(1)[1] == message(bytes(3))
    fields = client.block(head(grpc_encoding="gzip"))
    client.send(frame(HEADERS, END_HEADERS, 3, fields) + frame(DATA, END_STREAM, 3, message(b"3")))
    assert client.response(3)[1] == message(bytes(3))
    assert [call.data for call in recorder.calls] == [b"3", b"3"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"method": "GET"}, "405"),
        ({"content_type": "text/html"}, "415"),
        ({"content_type": "application/grpcx"}, "415"),
        ({"content_type": "application/grpc+proto"}, "200"),
        ({"content_type": "application/grpc;charset=x"}, "200"),
    ],
    ids=str,
)
def test_only_grpc_is_answered_with_200(
    client: RawClient, changed: dict[str, str], status: str
) -> None:
    """A browser is told by HTTP's own codes."""
    client.send(client.call(1, head=head(path=PATH, **changed)))
    assert client.response(1)[0][":status"] == status


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2H", 7200), ("3M", 180), ("40S", 40), ("50000m", 50), ("60000000u", 60), ("99999999n", 0.1)],
)
def test_timeouts_are_in_every_unit(
    client: RawClient, recorder: Recorder, text: str, seconds: float
) -> None:
    """Less what is kept to answer in time."""
    streams = count(1, 2)

    def is_served() -> bool:
        stream = next(streams)
        client.send(client.call(stream, head=head(grpc_timeout=text)))
        client.response(stream)
        return bool(recorder.calls)

    # A tenth of a second may be over before a busy machine has looked.
    wait_until(is_served)
    most = seconds - min(0.1, seconds * 0.2)
    assert max(0, most - SLACK_SECONDS) < recorder.calls[0].seconds <= most

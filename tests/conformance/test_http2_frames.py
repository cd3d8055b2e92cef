"""HTTP/2 by hand: what RFC 9113 demands of frames, and the limits that keep floods out."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from raw_http2 import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEAD,
    HEADERS,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PUSH,
    RST,
    SETTINGS,
    WINDOW,
    WITH_PRIORITY,
    InLoop,
    RawClient,
    Recorder,
    frame,
    message,
)

from function_script.server.http2.frames import Code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUMBER = struct.Struct(">I").pack
SETTING = struct.Struct(">HI").pack
MAX_STREAMS, FIRST_WINDOW, MAX_FRAME = 3, 4, 5


@pytest.fixture(scope="module")
def served() -> Iterator[InLoop]:
    """A server for every test that cannot hurt it, which is all of them."""
    served = InLoop(Recorder())
    yield served
    served.stop()


@pytest.fixture
def client(served: InLoop) -> Iterator[RawClient]:
    """A connection; afterwards the server must still answer on another one."""
    with RawClient(served.port) as client:
        yield client
    with RawClient(served.port) as other:
        other.send(other.call(1, b"7"))
        assert other.response(1)[1] == message(bytes(7))


def headers(client: RawClient, *extra: tuple[str, str], stream: int = 1, flags: int = 0) -> bytes:
    """A HEADERS frame of a call with more fields."""
    block = client.block([*HEAD, *extra])
    return frame(HEADERS, END_HEADERS | flags, stream, block)


def without(name: str) -> list[tuple[str, str]]:
    """The head of a call that lacks a field."""
    return [field for field in HEAD if field[0] != name]


BROKEN = [
    # what ends the connection, and the code it ends with
    pytest.param(lambda _: frame(DATA, 0, 0), Code.PROTOCOL_ERROR, id="DATA of the connection"),
    pytest.param(lambda _: frame(DATA, 0, 1), Code.PROTOCOL_ERROR, id="DATA of an idle stream"),
    pytest.param(lambda c: headers(c, stream=2), Code.PROTOCOL_ERROR, id="an even stream"),
    pytest.param(lambda c: headers(c, stream=0), Code.PROTOCOL_ERROR, id="HEADERS of stream 0"),
    pytest.param(
        lambda _: frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        Code.COMPRESSION_ERROR,
        id="an index of no table",
    ),
    pytest.param(
        lambda _: frame(HEADERS, END_HEADERS, 1, b"\x3f\xe1\xff\x03"),
        Code.COMPRESSION_ERROR,
        id="a table larger than allowed",
    ),
    pytest.param(
        lambda _: frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09\x82"),
        Code.PROTOCOL_ERROR,
        id="padding longer than the frame",
    ),
    pytest.param(
        lambda _: frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, b"\0\0"),
        Code.FRAME_SIZE_ERROR,
        id="a priority cut off",
    ),
    pytest.param(
        lambda c: frame(HEADERS, 0, 1, c.block()) + frame(PING, 0, 0, b"12345678"),
        Code.PROTOCOL_ERROR,
        id="a header block interrupted",
    ),
    pytest.param(
        lambda c: frame(HEADERS, 0, 1, c.block()) + frame(CONTINUATION, END_HEADERS, 3),
        Code.PROTOCOL_ERROR,
        id="CONTINUATION of another stream",
    ),
    pytest.param(
        lambda _: frame(CONTINUATION, END_HEADERS, 1), Code.PROTOCOL_ERROR, id="CONTINUATION alone"
    ),
    pytest.param(
        lambda c: frame(HEADERS, 0, 1, c.block()) + frame(CONTINUATION, 0, 1, b"") * 100,
        Code.ENHANCE_YOUR_CALM,
        id="empty CONTINUATIONs without end",
    ),
    pytest.param(
        lambda c: frame(HEADERS, 0, 1, c.block()) + frame(CONTINUATION, 0, 1, b"x" * 16_000) * 9,
        Code.ENHANCE_YOUR_CALM,
        id="large CONTINUATIONs without end",
    ),
    pytest.param(
        lambda c: headers(c, *[(f"x-{n}", "y" * 900) for n in range(19)]),
        Code.ENHANCE_YOUR_CALM,
        id="a header list over the limit",
    ),
    pytest.param(
        lambda c: frame(HEADERS, END_HEADERS, 1, c.block() + b"\x3f\x00"),
        Code.COMPRESSION_ERROR,
        id="a table that changes within a block",
    ),
    pytest.param(
        lambda _: frame(HEADERS, END_HEADERS, 1, b"\x82\x86\x3f\x00"),
        Code.COMPRESSION_ERROR,
        id="the same, behind remembered fields",
    ),
    pytest.param(
        lambda _: (
            frame(HEADERS, END_HEADERS, 1, b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4_000)
            + frame(HEADERS, END_HEADERS, 3, b"\xbe" * 16_000)
        ),
        Code.ENHANCE_YOUR_CALM,
        id="a small block of large fields",
    ),
    pytest.param(lambda _: frame(RST, 0, 0, NUMBER(8)), Code.PROTOCOL_ERROR, id="RST of stream 0"),
    pytest.param(lambda _: frame(RST, 0, 1, NUMBER(8)), Code.PROTOCOL_ERROR, id="RST of idle"),
    pytest.param(lambda _: frame(RST, 0, 1, b"x"), Code.FRAME_SIZE_ERROR, id="RST of wrong size"),
    pytest.param(lambda _: frame(PING, 0, 0, b"123"), Code.FRAME_SIZE_ERROR, id="a short PING"),
    pytest.param(lambda _: frame(PING, 0, 1, b"12345678"), Code.PROTOCOL_ERROR, id="PING of 1"),
    pytest.param(lambda _: frame(PUSH, 0, 1, NUMBER(2)), Code.PROTOCOL_ERROR, id="a push"),
    pytest.param(lambda _: frame(GOAWAY, 0, 1, bytes(8)), Code.PROTOCOL_ERROR, id="GOAWAY of 1"),
    pytest.param(lambda _: frame(PRIORITY, 0, 0, bytes(5)), Code.PROTOCOL_ERROR, id="PRIORITY 0"),
    pytest.param(lambda _: frame(SETTINGS, 0, 1), Code.PROTOCOL_ERROR, id="SETTINGS of 1"),
    pytest.param(lambda _: frame(SETTINGS, 0, 0, b"x"), Code.FRAME_SIZE_ERROR, id="SETTINGS size"),
    pytest.param(
        lambda _: frame(SETTINGS, 1, 0, SETTING(4, 1)), Code.FRAME_SIZE_ERROR, id="a full ACK"
    ),
    pytest.param(
        lambda _: frame(SETTINGS, 0, 0, SETTING(2, 2)), Code.PROTOCOL_ERROR, id="ENABLE_PUSH 2"
    ),
    pytest.param(
        lambda _: frame(SETTINGS, 0, 0, SETTING(FIRST_WINDOW, 1 << 31)),
        Code.FLOW_CONTROL_ERROR,
        id="INITIAL_WINDOW_SIZE too large",
    ),
    pytest.param(
        lambda _: frame(SETTINGS, 0, 0, SETTING(MAX_FRAME, 5)), Code.PROTOCOL_ERROR, id="frame 5"
    ),
    pytest.param(lambda _: frame(WINDOW, 0, 0, NUMBER(0)), Code.PROTOCOL_ERROR, id="WINDOW by 0"),
    pytest.param(lambda _: frame(WINDOW, 0, 1, NUMBER(1)), Code.PROTOCOL_ERROR, id="WINDOW idle"),
    pytest.param(
        lambda _: frame(WINDOW, 0, 0, NUMBER((1 << 31) - 1)) * 2,
        Code.FLOW_CONTROL_ERROR,
        id="a window over the largest",
    ),
    pytest.param(
        lambda _: frame(DATA, 0, 1, bytes(16_385)), Code.FRAME_SIZE_ERROR, id="a large frame"
    ),
    pytest.param(
        lambda c: c.call(1) + frame(RST, 0, 1, NUMBER(8)) + c.call(1),
        Code.STREAM_CLOSED,
        id="a stream used again",
    ),
    pytest.param(
        lambda _: frame(PING, 0, 0, b"12345678") * 1_100, Code.ENHANCE_YOUR_CALM, id="PING flood"
    ),
    pytest.param(
        lambda _: frame(SETTINGS, 0, 0) * 1_100, Code.ENHANCE_YOUR_CALM, id="SETTINGS flood"
    ),
    pytest.param(
        lambda _: frame(PRIORITY, 0, 1, NUMBER(3) + b"x") * 1_100,
        Code.ENHANCE_YOUR_CALM,
        id="PRIORITY flood",
    ),
    pytest.param(
        lambda _: frame(WINDOW, 0, 0, NUMBER(1)) * 1_100, Code.ENHANCE_YOUR_CALM, id="WINDOW flood"
    ),
    pytest.param(lambda _: frame(99, 0, 0) * 1_100, Code.ENHANCE_YOUR_CALM, id="unknown flood"),
    pytest.param(
        lambda c: headers(c) + frame(DATA, 0, 1) * 1_100, Code.ENHANCE_YOUR_CALM, id="DATA flood"
    ),
    pytest.param(
        lambda c: b"".join(
            headers(c, stream=n) + frame(RST, 0, n, NUMBER(8)) for n in range(1, 701, 2)
        ),
        Code.ENHANCE_YOUR_CALM,
        id="rapid reset",
    ),
]


@pytest.mark.parametrize(("send", "code"), BROKEN)
def test_a_broken_rule_ends_the_connection(
    client: RawClient, send: Callable[[RawClient], bytes], code: Code
) -> None:
    """GOAWAY says why, the server hangs up, and others do not notice."""
    client.send(send(client))
    last = client.all()[-1]
    assert (last.kind, last.code) == (GOAWAY, code)


MALFORMED = [
    pytest.param([*HEAD, ("X-Upper", "x")], id="a name in upper case"),
    pytest.param([*HEAD, (":path", "/again")], id="a pseudo-field twice and late"),
    pytest.param([(":status", "200"), *HEAD], id="a field of responses"),
    pytest.param([(":new", "x"), *HEAD], id="an unknown pseudo-field"),
    pytest.param(without(":method"), id="no method"),
    pytest.param(without(":scheme"), id="no scheme"),
    pytest.param(without(":path"), id="no path"),
    pytest.param([*without(":path")[:2], (":path", ""), *HEAD[3:]], id="an empty path"),
    pytest.param([*HEAD, ("connection", "close")], id="a field of HTTP/1"),
    pytest.param([*without("te"), ("te", "gzip")], id="te"),
    pytest.param([*HEAD, ("x", "a\nb")], id="a line break"),
    pytest.param([*HEAD, ("", "x")], id="no name"),
    pytest.param([*HEAD, ("content-length", "x")], id="content-length is no number"),
    pytest.param([*HEAD, ("content-length", "7")], id="content-length is too large"),
    pytest.param([*HEAD, ("content-length", "1")], id="content-length is too small"),
]


@pytest.mark.parametrize("head", MALFORMED)
def test_a_malformed_request_ends_its_stream(
    client: RawClient, head: list[tuple[str, str]]
) -> None:
    """Only that one: the next call on the same connection is answered."""
    client.send(client.call(1, head=head))
    assert client.until(RST).code == Code.PROTOCOL_ERROR
    client.send(client.call(3))
    assert client.response(3)[1] == message(bytes(3))


BROKEN_STREAMS = [
    pytest.param(
        lambda c: headers(c) + frame(WINDOW, 0, 1, NUMBER(0)), Code.PROTOCOL_ERROR, id="WINDOW by 0"
    ),
    pytest.param(
        lambda c: headers(c) + frame(WINDOW, 0, 1, NUMBER((1 << 31) - 1)),
        Code.FLOW_CONTROL_ERROR,
        id="a window over the largest",
    ),
    pytest.param(
        lambda _: frame(PRIORITY, 0, 1, b"xy"), Code.FRAME_SIZE_ERROR, id="a short PRIORITY"
    ),
    pytest.param(
        lambda _: frame(PRIORITY, 0, 1, NUMBER(1) + b"x"), Code.PROTOCOL_ERROR, id="of itself"
    ),
    pytest.param(
        lambda c: frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, NUMBER(1) + b"x" + c.block()),
        Code.PROTOCOL_ERROR,
        id="a call that depends on itself",
    ),
    pytest.param(
        lambda c: headers(c) + frame(HEADERS, END_HEADERS, 1, c.block([("x", "y")])),
        Code.PROTOCOL_ERROR,
        id="trailers that do not end",
    ),
    pytest.param(
        lambda c: headers(c) + frame(HEADERS, END_HEADERS | END_STREAM, 1, c.block()),
        Code.PROTOCOL_ERROR,
        id="pseudo-fields in trailers",
    ),
]


@pytest.mark.parametrize(("send", "code"), BROKEN_STREAMS)
def test_a_broken_stream_ends_alone(
    client: RawClient, send: Callable[[RawClient], bytes], code: Code
) -> None:
    """RST_STREAM says why, and the connection goes on."""
    client.send(send(client))
    assert client.until(RST).code == code
    client.send(client.call(3))
    assert client.response(3)[1] == message(bytes(3))


LEGAL = [
    pytest.param(lambda c: c.call(1), id="HEADERS and DATA"),
    pytest.param(
        lambda c: (
            frame(
                HEADERS,
                END_HEADERS | PADDED | WITH_PRIORITY,
                1,
                b"\x03\0\0\0\x05x" + c.block() + b"\0\0\0",
            )
            + frame(DATA, PADDED | END_STREAM, 1, b"\x02" + message(b"3") + b"\0\0")
        ),
        id="padding and priority",
    ),
    pytest.param(
        lambda c: (
            headers(c)
            + b"".join(frame(DATA, 0, 1, bytes((b,))) for b in message(b"3"))
            + frame(DATA, END_STREAM, 1)
        ),
        id="a message byte by byte",
    ),
    pytest.param(
        lambda c: (
            headers(c)
            + frame(DATA, 0, 1, message(b"3"))
            + frame(HEADERS, END_HEADERS | END_STREAM, 1, c.block([("x-checksum", "1")]))
        ),
        id="trailers",
    ),
    pytest.param(
        lambda c: (
            frame(99, 255, 7, b"what")
            + frame(PRIORITY, 0, 9, NUMBER(3) + b"x")
            + frame(GOAWAY, 0, 0, bytes(8))
            + frame(SETTINGS, 0, 0, SETTING(99, 99))
            + c.call(1)
        ),
        id="unknown frames, settings, priorities, GOAWAY",
    ),
    pytest.param(lambda c: headers(c, ("content-length", "6")) + c.call(1)[-15:], id="a length"),
]


@pytest.mark.parametrize("send", LEGAL)
def test_what_is_legal_is_understood(client: RawClient, send: Callable[[RawClient], bytes]) -> None:
    """Whatever form a request comes in, its answer is the same."""
    client.send(send(client))
    fields, body = client.response(1)
    assert (fields[":status"], fields["content-type"]) == ("200", "application/grpc")
    assert (fields["grpc-status"], body) == ("0", message(bytes(3)))


def test_a_header_block_may_come_in_pieces(client: RawClient) -> None:
    """CONTINUATION frames carry on where HEADERS ended."""
    block = client.block()
    pieces = [block[at : at + 9] for at in range(0, len(block), 9)]
    client.send(frame(HEADERS, 0, 1, pieces[0]))
    for piece in pieces[1:-1]:
        client.send(frame(CONTINUATION, 0, 1, piece))
    client.send(frame(CONTINUATION, END_HEADERS, 1, pieces[-1]))
    client.send(frame(DATA, END_STREAM, 1, message(b"3")))
    assert client.response(1)[1] == message(bytes(3))


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_bytes_may_come_in_any_pieces(served: InLoop, size: int) -> None:
    """Where TCP cuts means nothing."""
    with RawClient(served.port, greets=False) as client:
        data = PREFACE + frame(SETTINGS, 0, 0) + client.call(1) + client.call(3, b"5")
        for at in range(0, len(data), size):
            client.send(data[at : at + size])
        assert client.response(1)[1] == message(bytes(3))
        assert client.response(3)[1] == message(bytes(5))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        PREFACE + frame(PING, 0, 0, bytes(8)),
    ],
    ids=["HTTP/1.1", "TLS", "no SETTINGS"],
)
def test_another_protocol_is_hung_up_on(served: InLoop, data: bytes) -> None:
    """What does not begin as HTTP/2 is told so."""
    with RawClient(served.port, greets=False) as client:
        client.send(data)
        last = client.all()[-1]
        assert (last.kind, last.code) == (GOAWAY, Code.PROTOCOL_ERROR)


def test_a_ping_is_answered(client: RawClient) -> None:
    """With its own bytes."""
    client.send(frame(PING, 0, 0, b"12345678"))
    found = client.until(PING)
    assert (found.flags, found.payload) == (1, b"12345678")

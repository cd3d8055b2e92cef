"""Whatever bytes a client sends: nothing is raised into the loop, and little is kept of them."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from fuzz.connections import feed
from hpack import Encoder
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_http2 import HEAD, PREFACE, frame, message

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that does not run."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


FRAMES = st.builds(
    frame,
    st.integers(0, 11),
    st.integers(0, 255),
    st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1)),
    st.binary(max_size=40),
)
HEADERS = st.builds(
    lambda stream, flags: frame(1, flags, stream, Encoder().encode(HEAD)),
    st.integers(0, 9),
    st.sampled_from([0, 1, 4, 5]),
)
DATA = st.builds(
    lambda stream, flags, data: frame(0, flags, stream, message(data)),
    st.integers(0, 9),
    st.sampled_from([0, 1]),
    st.sampled_from([b"3", b"x", b"9" * 5_000, b""]),
)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes(loop: asyncio.AbstractEventLoop, data: bytes, size: int) -> None:
    """Noise instead of HTTP/2."""
    connection, _ = feed(loop, data, size)
    connection.connection_lost(None)


@settings(max_examples=300)
@given(st.lists(st.one_of(HEADERS, DATA, FRAMES), max_size=20), st.integers(1, 400))
def test_any_frames(loop: asyncio.AbstractEventLoop, sent: list[bytes], size: int) -> None:
    """Frames of all kinds, in any order, with anything in them."""
    connection, _ = feed(loop, PREFACE + frame(4, 0, 0) + b"".join(sent), size)
    connection.connection_lost(None)


def test_mutated_calls(loop: asyncio.AbstractEventLoop) -> None:
    """Real calls with a few bytes changed, cut out or doubled."""
    chance = random.Random(7)  # noqa: S311 - the same mutations each time
    encoder = Encoder()
    calls = b"".join(
        frame(1, 4, n, encoder.encode(HEAD)) + frame(0, 1, n, message(b"3")) for n in (1, 3, 5, 7)
    )
    whole = PREFACE + frame(4, 0, 0) + calls
    answered = 0
    for _ in range(2_000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(PREFACE), len(data))
            data[at : at + chance.randint(0, 2)] = chance.randbytes(chance.randint(0, 2))
        connection, sink = feed(loop, bytes(data), chance.choice([1, 17, 5_000]))
        answered += sink.sent > 200
        connection.connection_lost(None)
    assert answered > 100


def test_little_is_kept_of_what_a_client_sends(loop: asyncio.AbstractEventLoop) -> None:
    """A frame that does not end is one frame, and a body that is too large is nothing."""
    connection, _ = feed(loop, PREFACE + frame(4, 0, 0), 1_000)
    for number in range(1, 201, 2):
        connection.data_received(frame(1, 4, number, Encoder().encode(HEAD)))
        for _ in range(3):
            connection.data_received(frame(0, 0, number, bytes(4_000)))
        assert not connection._streams
    connection.data_received(frame(0, 0, 199, bytes(16_000))[:-1])
    assert len(connection._rest) == 16_008
    connection.connection_lost(None)

"""Lines between the server and the fetcher: whole ones arrive, broken ones end the stream."""

import io
from collections.abc import Callable
from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import Failure, FetchKey
from function_script.sandbox import fetcher

_MAX_LINE_BYTES = 64 << 20
_TEXT = st.text(max_size=20)
_KEYS = st.builds(
    FetchKey,
    st.builds(
        RemoteReference,
        transport=st.sampled_from(["oci", "git"]),
        location=_TEXT,
        version=_TEXT,
        path=_TEXT,
        credentials=_TEXT,
    ),
    _TEXT,
)
_ORDERS = st.tuples(
    st.integers(0, 1 << 40),
    _KEYS,
    st.none() | st.dictionaries(_TEXT, st.binary(max_size=20), min_size=1, max_size=3),
)
_OUTCOMES = st.tuples(
    st.integers(0, 1 << 40), st.binary(max_size=50) | st.builds(Failure, _TEXT, _TEXT)
)


class _Stream(io.BytesIO):
    """A stream that refuses to read more than a line may have."""

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size == _MAX_LINE_BYTES
        return super().readline(size)


def _written_order(order: tuple[int, FetchKey, dict[str, bytes] | None]) -> bytes:
    stream = _Stream()
    fetcher.write_order(stream, *order)
    return stream.getvalue()


def _written_outcome(outcome: tuple[int, bytes | Failure]) -> bytes:
    stream = _Stream()
    fetcher.write_outcome(stream, *outcome)
    return stream.getvalue()


def _read_to_the_end(read: Callable[[_Stream], object], data: bytes) -> None:
    stream = _Stream(data)
    with suppress(*fetcher.LINE_ERRORS):
        while True:
            read(stream)


@st.composite
def _mutated(draw: st.DrawFn, lines: st.SearchStrategy[bytes]) -> bytes:
    """Lines with bytes changed, removed or inserted, or with the end cut off."""
    data = bytearray(draw(lines))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["change", "remove", "insert", "cut"])):
            case "change":
                data[place : place + 1] = draw(st.sampled_from([b"0", b"[", b'"', b"\0", b"\xff"]))
            case "remove":
                del data[place : place + 1]
            case "insert":
                data[place:place] = draw(st.sampled_from([b"[", b"{}", b"null", b"\xff" * 4]))
            case _:
                del data[place:]
    return bytes(data)


@examples(25)
@given(st.lists(_ORDERS, max_size=3))
def test_orders_arrive_as_they_were_written(
    orders: list[tuple[int, FetchKey, dict[str, bytes] | None]],
) -> None:
    stream = _Stream(b"".join(map(_written_order, orders)))
    assert [fetcher.read_order(stream) for _ in orders] == orders


@examples(25)
@given(st.lists(_OUTCOMES, max_size=3))
def test_outcomes_arrive_as_they_were_written(
    outcomes: list[tuple[int, bytes | Failure]],
) -> None:
    stream = _Stream(b"".join(map(_written_outcome, outcomes)))
    assert [fetcher.read_outcome(stream) for _ in outcomes] == outcomes


@examples(50)
@given(_mutated(_OUTCOMES.map(_written_outcome)) | st.binary(max_size=60))
@example(b"[" * 100_000)
@example(b"[1, 5]")
@example(b"[[], []]")
def test_broken_outcome_is_read_or_ends_the_stream(data: bytes) -> None:
    _read_to_the_end(fetcher.read_outcome, data)


@examples(50)
@given(_mutated(_ORDERS.map(_written_order)) | st.binary(max_size=60))
@example(b'{"number": 1, "reference": {}, "scope": "", "credentials": [1]}')
@example(b"[" * 100_000)
def test_broken_order_is_read_or_ends_the_stream(data: bytes) -> None:
    _read_to_the_end(fetcher.read_order, data)

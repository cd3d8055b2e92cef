"""Broken bytes: the codec refuses what protobuf refuses and reads what protobuf reads."""

import math
import re
from collections.abc import Callable

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct
from hypothesis import assume, example, given
from hypothesis import strategies as st
from property.strategies_wire import (
    OBJECTS,
    REQUESTS,
    from_request,
    from_struct,
    read_request,
    unusual_structs,
)
from support.example_counts import examples

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object, Value

# Bytes that mean something to a parser are likelier to break one.
BYTES = st.integers(0, 255) | st.sampled_from([0, 1, 5, 0x0A, 0x12, 0x1A, 0x2A, 0x32, 0x80, 0xFF])
REQUEST_BYTES = REQUESTS.map(lambda request: request.SerializeToString())
# Overlong tags, sizes and numbers: see "Differences" in the codec, and its unit tests.
LONG_NUMBER = re.compile(rb"[\x80-\xff]{5}")


@st.composite
def mutated(draw: st.DrawFn, payloads: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with a few of them changed, removed, inserted, or the end cut off."""
    payload = bytearray(draw(payloads))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(payload)))
        match draw(st.sampled_from(["change", "change", "remove", "insert", "cut"])):
            case "change":
                payload[place : place + 1] = bytes([draw(BYTES)])
            case "remove":
                del payload[place : place + 1]
            case "insert":
                payload.insert(place, draw(BYTES))
            case _:
                del payload[place:]
    return bytes(payload)


@examples(50)
@given(mutated(OBJECTS.map(wire.encode_struct) | OBJECTS.flatmap(unusual_structs)))
def test_broken_struct_is_read_or_refused_as_by_protobuf(payload: bytes) -> None:
    """Both refuse, or both read the same; entries with unknown fields count as read."""
    ours = outcome(lambda: wire.decode_struct(payload))
    agree(payload, ours, outcome(lambda: from_struct(Struct.FromString(payload))))


@examples(50)
@given(mutated(REQUEST_BYTES | st.tuples(REQUEST_BYTES, REQUEST_BYTES).map(b"".join)))
# Of two entries with the same key, the replaced one is broken.
@example(b"2\x03\x12\x01\x002\x04\n\x00\x12\x00")
def test_broken_request_is_read_or_refused_as_by_protobuf(payload: bytes) -> None:
    """The same for whole requests, with every Struct in them decoded."""
    ours = outcome(lambda: read_request(wire.index_request(payload)))
    agree(payload, ours, outcome(lambda: from_request(pb.RunFunctionRequest.FromString(payload))))


def outcome(read: Callable[[], Object]) -> Value:
    """What was read, or that it was refused."""
    try:
        return comparable(read())
    except wire.WireError as error:
        # Field number 0: upb does not look at the fields inside of a group.
        assume(not str(error).startswith("invalid field number 0 "))
    except DecodeError:
        pass
    return "refused"


def agree(payload: bytes, ours: Value, theirs: Value) -> None:
    """Both outcomes are the same, but for the differences the codec lists."""
    if ours != theirs:
        assume(not LONG_NUMBER.search(payload))
    assert ours == theirs


def comparable(value: Value) -> Value:
    """NaN equals nothing, itself included: its name does."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value

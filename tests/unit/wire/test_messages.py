"""Requests, responses and splices, case by case; tests/property has their laws."""

import pytest
from google.protobuf.message import DecodeError

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as pb

STATE = pb.State(
    composite=pb.Resource(ready=1),
    resources={"a": pb.Resource(ready=1), "b": pb.Resource(ready=2)},
)


@pytest.mark.parametrize(
    "capabilities",
    ["1202 0105", "1001 1005", "1001 1201 05"],
    ids=["packed", "one by one", "mixed"],
)
def test_capabilities_may_be_packed_or_not(capabilities: str) -> None:
    """A repeated enum has two encodings, and one message may have both."""
    meta = bytes.fromhex(capabilities)
    assert wire.index_request(bytes([0x0A, len(meta)]) + meta).capabilities == [1, 5]


def test_credentials_that_the_server_reads_are_bounded() -> None:
    """All its calls wait meanwhile."""
    request = pb.RunFunctionRequest()
    request.credentials["few"].credential_data.data["token"] = b"x"
    request.credentials["many"].credential_data.data.update({str(n): b"" for n in range(200_000)})
    data = request.SerializeToString()
    assert len(wire.index_request(data).credentials["many"]) == 200_000
    few = {"few": {"token": b"x"}}
    assert wire.read_credentials(data, frozenset({"few", "none"})) == few
    with pytest.raises(wire.WireError, match="they have more than 1 MiB together"):
        wire.read_credentials(data, frozenset({"few", "many"}))
    with pytest.raises(wire.WireError, match="more than 10,000 fields"):
        wire.read_credentials(data + bytes.fromhex("7801") * 10_000, frozenset({"few"}))


def test_enums_are_signed_32_bits() -> None:
    """An unknown value of an enum keeps its number."""
    payload = pb.Resource(ready=-1).SerializeToString()
    assert wire.index_resource(payload).ready == -1
    assert wire.index_resource(bytes.fromhex("18 ffffffff0f")).ready == -1


def test_indexing_reads_nothing_of_a_struct() -> None:
    """An invalid Struct that no program reads is not an error."""
    broken = wire.encode_resource(b"\xff", {"key": b"\xff"}, 1)
    state = wire.splice_state(b"", broken, {"a": broken}, set())
    request = b"\x12" + bytes([len(state)]) + state
    observed = wire.index_request(request).observed
    assert observed is not None
    assert observed.resources["a"].struct == b"\xff"
    assert observed.resources["a"].connection_details == {"key": b"\xff"}


@pytest.mark.parametrize(
    ("request_hex", "message"),
    [
        ("0a 05 61", "field 1 at byte 0 runs past the end of its message at byte 3"),
        ("12 04 12 05 6161", "field 2 at byte 2 runs past the end of its message at byte 6"),
        ("0a 03 0a 01 ff", "string at byte 4 is not UTF-8"),
        ("0a 03 12 01 80", "number at byte 4 is cut off"),
    ],
    ids=["request", "state", "tag", "capabilities"],
)
def test_broken_request_is_refused_with_its_place(request_hex: str, message: str) -> None:
    with pytest.raises(wire.WireError, match=message):
        wire.index_request(bytes.fromhex(request_hex))


STRUCT = b"\x0a\x01\xff"  # field 1, one byte: the entry of a Struct that is cut off
REPLACED = {
    "extra resources": (6, b"\x0a\x05\x0a\x03" + STRUCT),
    "credentials": (7, b"\x0a\x03\x0a\x01\xff"),
    "required resources": (8, b"\x0a\x05\x0a\x03" + STRUCT),
    "required schemas": (9, b"\x0a\x03" + STRUCT),
}


@pytest.mark.parametrize(("number", "value"), REPLACED.values(), ids=REPLACED)
def test_replaced_entry_of_a_map_is_checked_whole(number: int, value: bytes) -> None:
    """Protobuf rejects an invalid entry even if a later one has the same key."""
    broken, whole = (
        bytes([number << 3 | 2, len(entry)]) + entry
        for entry in (b"\x12" + bytes([len(value)]) + value, b"\x0a\x00\x12\x00")
    )
    with pytest.raises(DecodeError):
        pb.RunFunctionRequest.FromString(broken + whole)
    with pytest.raises(wire.WireError):
        wire.index_request(broken + whole)


def test_replaced_resource_of_a_state_is_checked_whole() -> None:
    entries = wire.splice_state(b"", None, {"": wire.encode_resource(STRUCT, {}, 0)}, set())
    entries += wire.splice_state(b"", None, {"": wire.encode_resource(b"", {}, 0)}, set())
    request = b"\x12" + bytes([len(entries)]) + entries
    with pytest.raises(DecodeError):
        pb.RunFunctionRequest.FromString(request)
    with pytest.raises(wire.WireError):
        wire.index_request(request)


def test_maps_are_written_in_the_order_of_their_keys() -> None:
    """Equal responses have equal bytes, whatever the order of their dicts."""
    named = wire.Selector("v1", "A")
    labelled = [
        wire.Selector("v1", "B", None, labels)
        for labels in ({"y": "1", "x": "2"}, {"x": "2", "y": "1"})
    ]
    empty = wire.Response("", None, None, [], None, None, [], None)
    first, second = (
        wire.encode_response(empty._replace(requirements=wire.Requirements(each, each, {})))
        for each in ({"b": labelled[0], "a": named}, {"a": named, "b": labelled[1]})
    )
    assert first == second


def test_entry_of_a_replaced_name_goes() -> None:
    entry = pb.State(resources={"a": pb.Resource(ready=1)}).SerializeToString()
    new = wire.encode_resource(None, {}, 2)
    assert wire.splice_state(entry * 3, None, {"a": new}, set()) == wire.splice_state(
        b"", None, {"a": new}, set()
    )
    assert wire.splice_state(entry * 3, None, {}, {"a"}) == b""


def test_changed_entries_follow_sorted_by_name() -> None:
    new = wire.encode_resource(None, {}, 2)
    forwards = wire.splice_state(b"", None, {"a": new, "b": new}, {"z"})
    assert forwards == wire.splice_state(b"", None, {"b": new, "a": new}, set())


def test_splices_refuse_broken_bytes() -> None:
    with pytest.raises(wire.WireError, match="runs past the end"):
        wire.splice_state(b"\x12\x05a", None, {}, set())
    with pytest.raises(wire.WireError, match="runs past the end"):
        wire.splice_struct(b"\x0a\x05a", {"a": 1})


def test_splice_refuses_what_a_struct_cannot_hold() -> None:
    """The error names the key, as that of `encode_struct` does."""
    with pytest.raises(wire.EncodeError, match="a is an integer beyond"):
        wire.splice_struct(b"", {"a": 2**60 + 1})

"""Structs byte by byte: layouts, limits, errors."""

import math
import re

import pytest
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct
from google.protobuf.struct_pb2 import Value as ValueMessage

from function_script import wire
from function_script.request.values import Object, Value


def test_picture_is_true() -> None:
    """The bytes in the comment of the codec encode the value written there."""
    drawn = "0a08 0a02 6f6e 1202 2001 0a0f 0a04 74616773 1207 3205 0a03 1a01 61"
    assert wire.encode_struct({"on": True, "tags": ["a"]}) == bytes.fromhex(drawn)
    assert wire.decode_struct(bytes.fromhex(drawn)) == {"on": True, "tags": ["a"]}


@pytest.mark.parametrize("character", ["a", "ä"])
@pytest.mark.parametrize("length", [0, 1, 116, 128, 1005, 1030, 4090, 4100, 16_390, 100_000])
def test_text_of_any_length_is_encoded_as_by_protobuf(character: str, length: int) -> None:
    """Short lengths come from tables, so the lengths around their ends are tried one by one."""
    for size in range(max(length - 12, 0), length + 12):
        value: Object = {"key": character * size, "list": [character * size]}
        expected = Struct()
        expected.update(value)
        assert wire.encode_struct(value) == expected.SerializeToString(deterministic=True)


# Every layout protobuf's rules allow: (id, bytes of a Value, what it means).
LAYOUTS: list[tuple[str, str, Value]] = [
    ("nothing at all is null", "", None),
    ("null", "08 00", None),
    ("null by another number", "08 07", None),
    ("an integral double is an int", "11 0000000000000840", 3),
    ("minus zero is zero", "11 0000000000000080", 0),
    ("2**53 is an int", "11 0000000000004043", 2**53),
    ("beyond 2**53 a double stays one", "11 0100000000004043", float(2**53 + 2)),
    ("a fraction", "11 0000000000000440", 2.5),
    ("infinity is left to the caller", "11 000000000000f07f", math.inf),
    ("so is NaN", "11 000000000000f87f", math.nan),
    ("empty string", "1a 00", ""),
    ("string with NUL", "1a 01 00", "\0"),
    ("false", "20 00", False),
    ("true by another number", "20 ac02", True),
    ("true in ten bytes", "20 81808080808080808000", True),
    ("empty struct", "2a 00", {}),
    ("empty list", "32 00", []),
    ("an entry without anything", "2a 02 0a00", {"": None}),
    ("an entry without key", "2a 06 0a04 1202 2001", {"": True}),
    ("an entry without value", "2a 05 0a03 0a01 61", {"a": None}),
    ("value before key", "2a 09 0a07 1202 2001 0a01 61", {"a": True}),
    ("a key given twice in an entry", "2a 0c 0a0a 0a01 62 0a01 61 1202 2001", {"a": True}),
    ("a value given twice in an entry", "2a 0e 0a0c 0a01 61 1202 2001 1203 1a0162", {"a": "b"}),
    (
        "is merged",
        "2a 15 0a13 1206 2a04 0a02 1200 1207 2a05 0a03 0a01 61 7800",
        {"": {"": None, "a": None}},
    ),
    ("two entries of one key", "2a 12 0a07 0a01 61 1202 2001 0a07 0a01 61 1202 2000", {"a": False}),
    ("an unknown field in an entry", "2a 0b 0a09 7801 0a01 61 1202 2001", {"a": True}),
    ("an unknown field in a struct", "2a 04 7801 7801", {}),
    ("an unknown field in a list", "32 06 7801 0a02 2001", [True]),
    ("an unknown field in a value", "7a 01 61 20 01", True),
    ("a field of another wire type is unknown", "1d 01020304 20 01", True),
    ("the last kind stands", "20 01 1a 01 61 08 00 1a 01 62", "b"),
    ("a struct merges with itself", "2a 04 0a02 1200 2a 05 0a03 0a01 61", {"": None, "a": None}),
    ("but not across another kind", "2a 02 0a00 20 01 2a 05 0a03 0a01 61", {"a": None}),
    ("a list goes on", "32 04 0a02 2001 32 04 0a02 2000", [True, False]),
    ("sizes may be padded", "1a 818000 61", "a"),
    ("groups are skipped", "7b 08 01 1b 1c 7c 20 01", True),
]


def _decode(payload: bytes) -> Value:
    return wire.decode_part(wire.Part(payload, 0, len(payload)))


@pytest.mark.parametrize(
    ("payload", "expected"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS]
)
def test_layouts(payload: str, expected: Value) -> None:
    assert repr(_decode(bytes.fromhex(payload))) == repr(expected)


@pytest.mark.parametrize("length", [127, 128, 16_383, 16_384, 2_100_000])
def test_sizes_take_as_many_bytes_as_they_need(length: int) -> None:
    """Strings and keys with one to four bytes of size are decoded and encoded as by protobuf."""
    value: Object = {"k" * length: "v" * length}
    payload = wire.encode_struct(value)
    assert wire.decode_struct(payload) == value
    assert Struct.FromString(payload).fields["k" * length].string_value == "v" * length


# (id, bytes of a Value, what the error says)
BROKEN = [
    ("cut in a tag", "80", "number at byte 0 is cut off"),
    ("cut in a size", "1a 80", "number at byte 1 is cut off"),
    ("cut in a string", "1a 03 6161", "field 3 at byte 0 runs past the end of its message at byte"),
    ("cut in a double", "11 0000", "field 2 at byte 0 runs past the end of its message at byte 3"),
    ("cut in a fixed32", "7d 0000", "field 15 at byte 0 runs past the end of its message"),
    ("cut in a bool", "20", "number at byte 1 is cut off"),
    ("an item past its list", "32 02 0a05 2001 2001 7801", "field 1 at byte 2 runs past the end"),
    ("an entry past its struct", "2a 02 0a05 2001 2001 7801", "field 1 at byte 2 runs past"),
    ("a key past its entry", "2a 05 0a03 0a05 61", "field 1 at byte 4 runs past the end"),
    ("a value past its entry", "2a 07 0a05 0a01 61 1205", "field 2 at byte 7 runs past the end"),
    ("field number 0", "00 01", "invalid field number 0 at byte 0"),
    ("field number 2**29", "80 80 80 80 10 01", "invalid field number 536870912 at byte 0"),
    ("wire type 6", "7e 01", "invalid wire type 6 at byte 0"),
    ("wire type 7", "7f 01", "invalid wire type 7 at byte 0"),
    ("the end of no group", "7c", "invalid wire type 4 at byte 0"),
    ("a group without end", "7b 08 01", "number at byte 3 is cut off"),
    ("a group ended by another", "7b 74", "group at byte 0 is closed by another one"),
    ("groups without end", "7b" * 200, "groups at byte 0 are nested too deeply"),
    ("a string that is not UTF-8", "1a 01 ff", "string at byte 2 is not UTF-8"),
    ("a surrogate", "1a 03 eda080", "string at byte 2 is not UTF-8"),
    ("a key that is not UTF-8", "2a 08 0a06 0a01 ff 1201 00", "string at byte 6 is not UTF-8"),
    ("eleven bytes of a number", "20 8080808080808080808000", "has more than 64 bits"),
    ("a size of 2**63", "1a 80808080808080808001", "runs past the end of its message"),
    ("a value broken in two", "2a 0c 0a0a 0a01 61 1201 20 1202 2001", "number at byte 10 is cut"),
    ("hidden in what a later kind replaces", "1a 01 ff 20 01", "string at byte 2 is not UTF-8"),
]


@pytest.mark.parametrize(
    ("payload", "message"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_broken_bytes_are_refused_with_their_place(payload: str, message: str) -> None:
    """Protobuf rejects the same bytes."""
    data = bytes.fromhex(payload)
    with pytest.raises(wire.WireError, match=message):
        _decode(data)
    with pytest.raises(DecodeError):
        ValueMessage.FromString(data)


# Where upb and Go part, we go with Go: (id, bytes of a Value, ours, upb's)
WITH_GO = [
    ("a number of 65 bits", "20 80808080808080808002", "refused", "false"),
    ("a tag of six bytes", "a08080808000 01", True, "refused"),
    ("field number 0 in a group", "7b 00 01 7c", "refused", "false"),
    ("a group without number in a group", "7b 03 04 7c", "refused", "false"),
    ("a size of six bytes", "1a 818080808000 61", "a", "refused"),
]


@pytest.mark.parametrize(
    ("payload", "ours", "theirs"), [row[1:] for row in WITH_GO], ids=[row[0] for row in WITH_GO]
)
def test_known_differences_from_upb(payload: str, ours: Value, theirs: str) -> None:
    """The comment of the codec lists these differences."""
    data = bytes.fromhex(payload)
    try:
        decoded = _decode(data)
    except wire.WireError:
        decoded = "refused"
    try:
        message = str(ValueMessage.FromString(data).bool_value).lower()
    except DecodeError:
        message = "refused"
    assert (decoded, message) == (ours, theirs)


def nested(depth: int, kind: str) -> bytes:
    """Return a Struct with ``depth`` nested objects, or nested lists in one object."""
    payload = b""
    if kind == "objects":
        for _ in range(depth - 1):
            payload = field(1, field(2, field(5, payload)))
        return payload
    for _ in range(depth - 2):
        payload = field(1, field(6, payload))
    return field(1, field(2, field(6, payload)))


def field(number: int, payload: bytes) -> bytes:
    """Return a LENGTH field with a size of three bytes."""
    count = len(payload)
    return bytes([number << 3 | 2, count & 0x7F | 0x80, count >> 7 & 0x7F | 0x80, count >> 14]) + (
        payload
    )


def depth_of(value: Value) -> int:
    """Return the depth of nested containers."""
    depth = 0
    while isinstance(value, dict | list):
        depth += 1
        value = next(iter(value.values() if isinstance(value, dict) else value), None)
    return depth


@pytest.mark.parametrize("kind", ["objects", "lists"])
@pytest.mark.parametrize("depth", [33, 100, 200])
def test_deep_structs_are_read(kind: str, depth: int) -> None:
    """The limit is far above that of upb."""
    assert depth_of(wire.decode_struct(nested(depth, kind))) == depth
    assert depth_of(wire.decode_struct(nested(depth, kind), sort_keys=True)) == depth


@pytest.mark.parametrize("kind", ["objects", "lists"])
@pytest.mark.parametrize("depth", [201, 5_000])
def test_deeper_structs_are_refused(kind: str, depth: int) -> None:
    """The error comes before the stack or the interpreter's limit ends."""
    with pytest.raises(wire.WireError, match="more than 200 objects and lists"):
        wire.decode_struct(nested(depth, kind))


@pytest.mark.parametrize("depth", [200, 201])
def test_depth_has_the_same_limit_in_unusual_layouts(depth: int) -> None:
    """The general path uses more stack than the fast one, but there is enough of it."""
    payload = b""
    for _ in range(depth - 1):
        payload = field(1, field(2, b"\x20\x01" + field(5, payload)) + b"\x0a\x00")
    if depth > 200:
        with pytest.raises(wire.WireError, match="more than 200"):
            wire.decode_struct(payload)
    else:
        assert depth_of(wire.decode_struct(payload)) == depth


def test_message_given_many_times_is_merged_in_one_go() -> None:
    """The time is linear in the bytes: this test's timeout fails otherwise."""
    once = field(5, field(1, b"\x0a\x01a"))
    assert _decode(once * 30_000) == {"a": None}
    resource = field(1, b"") * 30_000
    assert wire.index_resource(resource).struct == b""
    state = field(1, b"\x18\x01") * 30_000
    observed = wire.index_request(field(2, state)).observed
    assert observed is not None
    assert observed.composite is not None
    assert observed.composite.ready == 1


def test_managed_fields_are_left_out_unread() -> None:
    """`metadata.managedFields` may have any value."""
    manifest: Object = {
        "metadata": {"managedFields": [{"manager": "x"}], "name": "a"},
        "managedFields": 1,
        "spec": {"metadata": {"managedFields": 2}},
    }
    payload = wire.encode_struct(manifest)
    assert wire.decode_struct(payload) == manifest
    for data in (payload, payload.replace(b"manager", b"manag\xffr")):
        metadata = wire.index_object(wire.Part(data, 0, len(data)))["metadata"]
        assert wire.decode_part(metadata, without="managedFields") == {"name": "a"}


def test_keys_come_in_the_order_of_the_bytes_unless_sorted() -> None:
    """Go writes maps in random order, so outputs that show an order need to sort."""
    payload = wire.encode_struct({"b": {"z": 1, "y": 2}}) + wire.encode_struct({"a": 3})
    assert list(wire.decode_struct(payload)) == ["b", "a"]
    ordered = wire.decode_struct(payload, sort_keys=True)
    assert repr(ordered) == "{'a': 3, 'b': {'y': 2, 'z': 1}}"


# (id, value, what the error says)
REFUSED: list[tuple[str, object, str]] = [
    ("nan", {"a": math.nan}, "a is nan, which JSON cannot hold"),
    ("infinity", {"a": [0, -math.inf]}, "a[1] is -inf, which JSON cannot hold"),
    ("big", {"a": {"b": 2**53 + 1}}, "a.b is an integer beyond 2**53"),
    ("big and negative", {"a": -(2**53) - 1}, "a is an integer beyond 2**53"),
    ("key", {"a": {1: 2}}, "a has the key 1, which is no string"),
    ("key at the root", {1: 2}, "the object has the key 1, which is no string"),
    ("mixed keys", {"a": [{"b": 1, None: 2}]}, "a[0] has the key None, which is no string"),
    ("bytes", {"a": b"x"}, "a has a type JSON does not know: bytes"),
    ("tuple", {"a": (1,)}, "a has a type JSON does not know: tuple"),
    ("surrogate", {"a": "\ud800"}, "a has half of a surrogate pair"),
    ("surrogate in a key", {"a": {"\ud800": 1}}, "has half of a surrogate pair"),
    ("odd key", {"a.b/c": {"d": math.nan}}, '["a.b/c"].d is nan'),
]


@pytest.mark.parametrize(
    ("value", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_value_that_a_struct_cannot_hold_is_refused_with_its_path(
    value: Object, message: str
) -> None:
    with pytest.raises(wire.EncodeError, match=re.escape(message)):
        wire.encode_struct(value)
    assert issubclass(wire.EncodeError, ValueError)


def test_encoded_struct_has_at_most_a_hundred_levels() -> None:
    value: Object = {}
    value["self"] = [value]
    with pytest.raises(wire.EncodeError, match="is nested more than 100 levels deep"):
        wire.encode_struct(value)


def test_values_shared_a_million_times_are_refused() -> None:
    """Aliases make such values cheap to build; the budget counts their encoding."""
    shared: Value = "x"
    for _ in range(7):
        shared = [shared] * 10
    with pytest.raises(wire.EncodeError, match="goes past 200000 values"):
        wire.encode_struct({"a": shared})


def test_long_texts_shared_often_are_refused() -> None:
    with pytest.raises(wire.EncodeError, match="goes past 64 MiB"):
        wire.encode_struct({"a": ["x" * (1 << 20)] * 100})


def test_keys_are_remembered_without_showing() -> None:
    """More keys than the cache holds have the same bytes."""
    values = [{f"key-{number}": number} for number in range(10_000)]
    first = [wire.encode_struct(value) for value in values]
    assert first == [wire.encode_struct(value) for value in values]
    assert Struct.FromString(first[-1]).fields["key-9999"].number_value == 9999

"""Laws of Structs on the wire, judged by protobuf."""

from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st
from property.strategies_wire import (
    OBJECTS,
    field,
    from_struct,
    to_struct,
    unusual_structs,
    unusual_values,
)

from function_script import wire
from function_script.request.values import Object


@given(OBJECTS)
def test_protobuf_reads_what_encoding_wrote_and_decoding_what_protobuf_wrote(value: Object) -> None:
    """In as many bytes; the order in which keys were inserted does not show."""
    payload, message = wire.encode_struct(value), to_struct(value)
    assert Struct.FromString(payload) == message
    assert len(payload) == len(message.SerializeToString())
    assert wire.encode_struct(backwards(value)) == payload
    assert wire.decode_struct(message.SerializeToString()) == value


@given(OBJECTS, st.text(max_size=70), st.text(max_size=70))
def test_entries_that_were_encoded_before_have_the_same_bytes(
    value: Object, key: str, text: str
) -> None:
    """The encoder remembers entries with short texts; protobuf reads the second encoding, too."""
    value = {**value, key: text, "below": {key: text, text: key}}
    first = wire.encode_struct(value)
    again = wire.encode_struct(value)
    assert again == first
    assert Struct.FromString(again) == to_struct(value)


@given(OBJECTS)
def test_round_trip_changes_nothing_but_the_order_of_keys(value: Object) -> None:
    """It is the order in which the encoder writes, types included; `sort_keys` gives the same."""
    again = wire.decode_struct(wire.encode_struct(value))
    assert again == value
    assert repr(again) == repr(wire.decode_struct(wire.encode_struct(again)))
    read = wire.decode_struct(to_struct(value).SerializeToString(), sort_keys=True)
    assert repr(read) == repr(again)


@given(st.data(), OBJECTS)
def test_layouts_of_one_value_decode_to_it(data: st.DataObject, value: Object) -> None:
    """Order, repetition, unknown fields and oversized lengths change nothing; protobuf agrees."""
    payload = data.draw(unusual_structs(value))
    assert wire.decode_struct(payload) == value
    assert from_struct(Struct.FromString(payload)) == value


@given(st.data(), OBJECTS, st.text(max_size=3))
def test_key_that_is_looked_for_is_found_as_the_index_has_it(
    data: st.DataObject, value: Object, other: str
) -> None:
    """In any layout; an object below it opens as what it decodes to."""
    payload = data.draw(unusual_structs(value))
    struct = wire.Part(payload, 0, len(payload))
    index = wire.index_object(struct)
    for key in {*value, other}:
        found = wire.find_part(struct, key)
        assert (found is not None) is (key in value) is (key in index)
        if found is not None:
            assert wire.decode_part(found) == value[key]


@given(OBJECTS)
def test_parts_of_a_struct_are_what_it_decodes_to(value: Object) -> None:
    """Level by level is the same as at once; only objects can be opened."""
    payload = wire.encode_struct(value)
    index = wire.index_object(wire.Part(payload, 0, len(payload)))
    assert {key: wire.decode_part(part) for key, part in index.items()} == value
    assert {key: wire.decode_field(payload, key) for key in index} == value
    for key, part in index.items():
        below, item = wire.open_part(part), value[key]
        assert (below is not None) is isinstance(item, dict)
        if below is not None and isinstance(item, dict):
            parts = wire.index_object(below)
            assert {name: wire.decode_part(parts[name], depth=3) for name in parts} == item


@given(st.data(), OBJECTS)
def test_dropping_managed_fields_takes_any_layout(data: st.DataObject, value: Object) -> None:
    """The way that skips managedFields reads the same bytes as the one that does not."""
    payload = data.draw(unusual_structs({"metadata": value}))
    parts = wire.index_object(wire.Part(payload, 0, len(payload)))
    value.pop("managedFields", None)
    assert wire.decode_part(parts["metadata"], without="managedFields") == value


@given(st.data(), OBJECTS, st.sampled_from(["before", "after"]))
def test_entries_with_unknown_fields_keep_key_and_value(
    data: st.DataObject, value: Object, place: str
) -> None:
    """As protobuf-go reads it; upb sets the whole entry aside as unknown."""
    unknown = field(15, b"abc")
    payload = b""
    for key, item in value.items():
        entry = field(1, key.encode()) + field(2, data.draw(unusual_values(item)))
        payload += field(1, unknown + entry if place == "before" else entry + unknown)
    assert wire.decode_struct(payload) == value
    assert not Struct.FromString(payload).fields


def backwards(value: Object) -> Object:
    """The same object with its keys in the opposite order, at every depth."""
    turned = {
        key: backwards(item) if isinstance(item, dict) else item for key, item in value.items()
    }
    return dict(reversed(turned.items()))

"""What the laws of the codec are tried on: values, requests, unusual layouts; protobuf as judge."""

import struct
from collections.abc import Callable, Iterator, Mapping

from google.protobuf.message import Message
from google.protobuf.struct_pb2 import ListValue, Struct
from google.protobuf.struct_pb2 import Value as ValueMessage
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import assume
from hypothesis import strategies as st

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import MAX_SAFE_INTEGER, Object, Value

TEXTS = st.text(max_size=6) | st.sampled_from(["metadata", "x" * 127, "x" * 128, "ä" * 70])
KEYS = st.text(max_size=4) | st.sampled_from(["metadata", "managedFields", "k" * 127, "k" * 128])
NUMBERS = (
    st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.integers(-2, 1030)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not is_whole(number))
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS: st.SearchStrategy[Object] = st.dictionaries(KEYS, VALUES, max_size=4)


def is_whole(number: float) -> bool:
    """Whether the codec reads this double as an int."""
    return abs(number) <= MAX_SAFE_INTEGER and number == int(number)


def to_struct(value: Object) -> Struct:
    """The Struct protobuf makes of plain data, built without the codec."""
    made = Struct()
    for key, item in value.items():
        made.fields[key].CopyFrom(to_value(item))
    return made


def to_value(value: Value) -> ValueMessage:
    """The Value protobuf makes of plain data, built without the codec."""
    if value is None:
        return ValueMessage(null_value=0)
    if isinstance(value, bool):
        return ValueMessage(bool_value=value)
    if isinstance(value, str):
        return ValueMessage(string_value=value)
    if isinstance(value, dict):
        return ValueMessage(struct_value=to_struct(value))
    if isinstance(value, list):
        return ValueMessage(list_value=ListValue(values=map(to_value, value)))
    return ValueMessage(number_value=value)


def from_struct(message: Struct) -> Object:
    """What protobuf read, as plain data; with the entries it set aside (see `set_aside`)."""
    aside = set_aside(message)
    # Which of the two came last is lost.
    assume(not aside.keys() & message.fields.keys())
    entries = {**message.fields, **aside}
    return {key: from_value(value) for key, value in entries.items()}


def set_aside(message: Struct) -> dict[str, ValueMessage]:
    """Entries upb keeps as unknown fields of the Struct, because they hold an unknown field."""
    entry = Struct.DESCRIPTOR.nested_types_by_name["FieldsEntry"]._concrete_class
    found = {}
    for field in UnknownFieldSet(message):
        if field.field_number == 1 and field.wire_type == 2:
            read = entry.FromString(field.data)
            found[read.key] = read.value
    return found


def sets_entries_aside(message: Message) -> bool:
    """Whether upb keeps an entry of any map of the protocol itself as an unknown field."""
    known = message.DESCRIPTOR.fields_by_number
    if message.DESCRIPTOR is Struct.DESCRIPTOR:
        return False
    if any(item.field_number in known and item.wire_type == 2 for item in UnknownFieldSet(message)):
        return True
    return any(sets_entries_aside(inner) for inner in _messages(message))


def _messages(message: Message) -> Iterator[Message]:
    for field_, value in message.ListFields():
        if field_.message_type is None:
            continue
        values = [value]
        if field_.is_repeated:
            # A map; a Struct has `values` too, which read what may not be set.
            values = value.values() if hasattr(value, "values") else value
        for inner in values:
            if hasattr(inner, "ListFields"):
                yield inner


def from_value(message: ValueMessage) -> Value:
    """What protobuf read, as plain data."""
    kind = message.WhichOneof("kind")
    if kind == "struct_value":
        return from_struct(message.struct_value)
    if kind == "list_value":
        return [from_value(item) for item in message.list_value.values]
    if kind == "number_value":
        number = message.number_value
        return int(number) if is_whole(number) else number
    return None if kind in (None, "null_value") else getattr(message, kind)


# Unusual layouts: the same data, written as no protobuf library would but as readers must accept.


def varint(number: int, surplus: int = 0) -> bytes:
    """A number, with ``surplus`` bytes more than it needs."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    if surplus:
        encoded[-1] |= 0x80
        encoded += b"\x80" * (surplus - 1) + b"\x00"
    return bytes(encoded)


def field(number: int, payload: bytes, surplus: int = 0) -> bytes:
    """A LENGTH field, its size with ``surplus`` bytes more than it needs."""
    return varint(number << 3 | 2) + varint(len(payload), surplus) + payload


# Fields nobody knows: every wire type, a group, and field numbers of two bytes.
UNKNOWN = st.sampled_from(
    [
        b"",
        varint(15 << 3) + varint(2**64 - 1),
        varint(14 << 3 | 1) + b"12345678",
        varint(99 << 3 | 2) + b"\x03abc",
        varint(13 << 3 | 5) + b"1234",
        varint(12 << 3 | 3) + b"\x08\x01" + b"\x1b\x1c" + varint(12 << 3 | 4),
    ]
)
SURPLUS = st.sampled_from([0, 0, 0, 1, 2])


@st.composite
def unusual_structs(draw: Callable[..., bytes], value: Object) -> bytes:
    """Bytes that mean ``value``."""
    pieces = []
    for key, item in value.items():
        # An earlier entry of the same key counts for nothing.
        if draw(st.booleans()):
            pieces.append(field(1, field(1, key.encode()) + field(2, b"\x20\x01")))
        named = [field(1, key.encode(), draw(SURPLUS))]
        if key == "" and draw(st.booleans()):
            named = []
        valued = draw(_value_fields(item))
        parts = valued + named if draw(st.booleans()) else named + valued
        pieces += [field(1, b"".join(parts), draw(SURPLUS)), draw(UNKNOWN)]
    return b"".join(pieces)


@st.composite
def _value_fields(draw: Callable[..., bytes], value: Value) -> list[bytes]:
    """Field 2 of an entry: once, or in two pieces that merge."""
    payload = draw(unusual_values(value))
    if value is None and draw(st.booleans()):
        return []
    if draw(st.booleans()):
        return [field(2, b"\x1a\x03old", draw(SURPLUS)), field(2, payload)]
    return [field(2, payload, draw(SURPLUS))]


@st.composite
def unusual_values(draw: Callable[..., bytes], value: Value) -> bytes:
    """Bytes of a Value that mean ``value``."""
    before = draw(st.sampled_from([b"", b"\x08\x00", b"\x1a\x03old", b"\x11" + bytes(8)]))
    return before + draw(UNKNOWN) + draw(_kind(value)) + draw(UNKNOWN)


@st.composite
def _kind(draw: Callable[..., bytes], value: Value) -> bytes:
    if value is None:
        return b"\x08" + varint(0, draw(SURPLUS))
    if isinstance(value, bool):
        return b"\x20" + varint(draw(st.sampled_from([1, 300])) if value else 0, draw(SURPLUS))
    if isinstance(value, str):
        return field(3, value.encode(), draw(SURPLUS))
    if isinstance(value, dict):
        # A struct in two pieces: they merge.
        cut = draw(st.integers(0, len(value)))
        items = list(value.items())
        parts = [draw(unusual_structs(dict(part))) for part in (items[:cut], items[cut:])]
        return b"".join(field(5, part, draw(SURPLUS)) for part in parts)
    if isinstance(value, list):
        cut = draw(st.integers(0, len(value)))
        parts = [
            b"".join(field(1, draw(unusual_values(item))) for item in part)
            for part in (value[:cut], value[cut:])
        ]
        return b"".join(field(6, part, draw(SURPLUS)) for part in parts)
    return struct.pack("<cd", b"\x11", value)


# The protocol's messages.

NAMES = st.sampled_from(["", "a", "b", "bucket", "ü"])
BYTES = st.dictionaries(NAMES, st.binary(max_size=4), max_size=2)
STRUCTS = OBJECTS.map(to_struct)
RESOURCES = st.builds(
    pb.Resource,
    resource=st.none() | STRUCTS,
    connection_details=BYTES,
    ready=st.sampled_from([0, 1, 2]),
)
STATES = st.builds(
    pb.State,
    composite=st.none() | RESOURCES,
    resources=st.dictionaries(NAMES, RESOURCES, max_size=3),
)
GROUPS = st.dictionaries(
    NAMES, st.lists(RESOURCES, max_size=2).map(lambda items: pb.Resources(items=items)), max_size=2
)
CREDENTIALS = st.builds(
    pb.Credentials, credential_data=st.none() | BYTES.map(lambda data: pb.CredentialData(data=data))
)
SCHEMAS = st.builds(pb.Schema, openapi_v3=st.none() | STRUCTS)
META = st.builds(
    pb.RequestMeta, tag=NAMES, capabilities=st.lists(st.sampled_from([0, 1, 5]), max_size=3)
)
REQUESTS = st.builds(
    pb.RunFunctionRequest,
    meta=st.none() | META,
    observed=st.none() | STATES,
    desired=st.none() | STATES,
    input=st.none() | STRUCTS,
    context=st.none() | STRUCTS,
    extra_resources=GROUPS,
    required_resources=GROUPS,
    credentials=st.dictionaries(NAMES, CREDENTIALS, max_size=2),
    required_schemas=st.dictionaries(NAMES, SCHEMAS, max_size=2),
)


def read_request(request: wire.Request) -> Object:
    """An indexed request with everything in it decoded."""
    return {
        "tag": request.tag,
        "capabilities": list(request.capabilities),
        "observed": _read_state(request.observed),
        "desired": _read_state(request.desired),
        "input": _read_struct(request.input),
        "context": _read_struct(request.context),
        "extra_resources": _read_groups(request.extra_resources),
        "required_resources": _read_groups(request.required_resources),
        "credentials": {name: _hex(data) for name, data in request.credentials.items()},
        "required_schemas": {
            name: _read_struct(schema) for name, schema in request.required_schemas.items()
        },
    }


def _hex(data: Mapping[str, bytes]) -> Value:
    return {key: value.hex() for key, value in data.items()}


def _read_struct(payload: bytes | None) -> Value:
    return None if payload is None else wire.decode_struct(payload)


def _read_resource(resource: wire.Resource | None) -> Value:
    if resource is None:
        return None
    return [_read_struct(resource.struct), _hex(resource.connection_details), resource.ready]


def _read_state(state: wire.State | None) -> Value:
    if state is None:
        return None
    resources = {name: _read_resource(item) for name, item in state.resources.items()}
    return [_read_resource(state.composite), resources]


def _read_groups(groups: dict[str, list[wire.Resource]]) -> Value:
    return {name: [_read_resource(item) for item in items] for name, items in groups.items()}


def from_request(request: pb.RunFunctionRequest) -> Object:
    """The same shape, as protobuf reads the request."""
    assume(not sets_entries_aside(request))
    return {
        "tag": request.meta.tag,
        "capabilities": list(request.meta.capabilities),
        "observed": _from(request, "observed", _from_state),
        "desired": _from(request, "desired", _from_state),
        "input": _from(request, "input", from_struct),
        "context": _from(request, "context", from_struct),
        "extra_resources": _from_groups(request.extra_resources),
        "required_resources": _from_groups(request.required_resources),
        "credentials": {
            name: _hex(found.credential_data.data) for name, found in request.credentials.items()
        },
        "required_schemas": {
            name: _from(schema, "openapi_v3", from_struct)
            for name, schema in request.required_schemas.items()
        },
    }


def _from(message: Message, name: str, read: Callable[..., Value]) -> Value:
    return read(getattr(message, name)) if message.HasField(name) else None


def _from_resource(resource: pb.Resource) -> Value:
    struct = _from(resource, "resource", from_struct)
    return [struct, _hex(resource.connection_details), resource.ready]


def _from_state(state: pb.State) -> Value:
    resources = {name: _from_resource(item) for name, item in state.resources.items()}
    return [_from(state, "composite", _from_resource), resources]


def _from_groups(groups: Mapping[str, pb.Resources]) -> Value:
    return {name: [_from_resource(item) for item in group.items] for name, group in groups.items()}

"""Struct bytes to plain values; see the encoding in `wire`.

The fast path reads the one layout that every protobuf library writes: each field once, key before
value. Other layouts take the general path, which accepts all that protobuf allows, and is the only
one that raises errors.
"""

import struct
from typing import Final

from function_script.request.values import MAX_SAFE_INTEGER, Object, Value
from function_script.wire.fields import (
    FIXED64,
    LENGTH,
    MORE,
    VARINT,
    Fields,
    Part,
    WireError,
    join_parts,
    read_entry,
    read_text,
    read_varint,
)

# The depth of nested objects and lists. A manifest has about 10, a CRD's schema about 40.
MAX_DEPTH: Final = 200

# The fields of Value, a oneof of its kinds.
_NULL: Final = 1
_NUMBER: Final = 2
_STRING: Final = 3
_BOOL: Final = 4
_STRUCT: Final = 5
_LIST: Final = 6

_WIRE_TYPES: Final = {
    _NULL: VARINT,
    _NUMBER: FIXED64,
    _STRING: LENGTH,
    _BOOL: VARINT,
    _STRUCT: LENGTH,
    _LIST: LENGTH,
}

# Tags: field number << 3 | wire type.
_ENTRY_TAG: Final = 0x0A  # Struct.fields, and ListValue.values
_KEY_TAG: Final = 0x0A
_VALUE_TAG: Final = 0x12
_NUMBER_TAG: Final = _NUMBER << 3 | FIXED64
_STRING_TAG: Final = _STRING << 3 | LENGTH
_BOOL_TAG: Final = _BOOL << 3 | VARINT
_STRUCT_TAG: Final = _STRUCT << 3 | LENGTH
_LIST_TAG: Final = _LIST << 3 | LENGTH

# The sizes of a Value of these kinds, and the least size of an entry, in the usual layout.
_NUMBER_SIZE: Final = 9
_BOOL_SIZE: Final = 2
_ENTRY_SIZE: Final = 6

_DOUBLE: Final = struct.Struct("<d")


# Manifests share a few hundred keys: one string for each saves its decoding, hash and memory.
# Cleared when full, which bounds it.
_MAX_KEYS: Final = 4096
_MAX_KEY_LENGTH: Final = 64
_keys: Final[dict[bytes, str]] = {}


def decode_struct(payload: bytes, *, sort_keys: bool = False) -> Object:
    """Return a Struct as a dict, keys in the order of the bytes unless sorted. Raises WireError.

    Integral numbers up to 2**53 become ints; NaN and infinities stay floats.
    """
    return _object(payload, 0, len(payload), 1, sort=sort_keys)


def decode_field(payload: bytes, key: str) -> Value:
    """Decode the Value of one top-level key of a Struct; None without one. Raises WireError."""
    part = find_part(Part(payload, 0, len(payload)), key)
    return None if part is None else decode_part(part)


def index_object(struct: Part, *, sort_keys: bool = False) -> dict[str, Part]:
    """Return the Value of each key of a Struct. Raises WireError."""
    parts = _entries(struct)
    return {key: parts[key] for key in sorted(parts)} if sort_keys else parts


def open_part(value: Part) -> Part | None:
    """Return the Struct of a Value that is an object; None for another. Raises WireError."""
    fields = value.fields()
    if not fields.next() or not fields.is_field(_STRUCT, LENGTH) or fields.end != value.end:
        return None
    return fields.part()


def find_part(struct: Part, key: str) -> Part | None:
    """Return the Value of one key of a Struct without an index of all. Raises WireError."""
    key_bytes = key.encode("utf-8", "surrogatepass")
    size = len(key_bytes)
    match: Part | None = None
    data, position, end = struct.data, struct.start, struct.end
    while position < end:
        key_start, key_end, value, stop = usual_entry(data, position, end)
        if stop:
            if key_end - key_start == size and data[key_start:key_end] == key_bytes:
                # The search goes on, because the last entry of a repeated key counts.
                match = Part(data, value, stop)
            position = stop
        else:
            name, part, position = unusual_entry(data, position, end)
            if part is not None and name == key:
                match = part
    return match


def decode_part(
    value: Part, *, without: str = "", sort_keys: bool = False, depth: int = 2
) -> Value:
    """Decode the Value of one key of a Struct. Raises WireError.

    ``without``: the key of an object to skip. ``depth``: 2 for a top-level key, 3 for a key of an
    object in it.
    """
    if without:
        return _value_without(value, without, sort=sort_keys)
    return _value(value.data, value.start, value.end, depth, sort=sort_keys)


def _value_without(value: Part, key: str, *, sort: bool) -> Value:
    struct = open_part(value)
    if struct is None:
        decoded = _value(value.data, value.start, value.end, 2, sort=sort)
        if isinstance(decoded, dict):
            decoded.pop(key, None)
        return decoded
    members: Object = {}
    for name, item in index_object(struct, sort_keys=sort).items():
        if name != key:
            members[name] = _value(item.data, item.start, item.end, 3, sort=sort)
    return members


def _entries(struct: Part) -> dict[str, Part]:
    entries: dict[str, Part] = {}
    data, position, end = struct.data, struct.start, struct.end
    while position < end:
        key_start, key_end, value, stop = usual_entry(data, position, end)
        if stop:
            entries[_key(data, key_start, key_end)] = Part(data, value, stop)
            position = stop
        else:
            key, part, position = unusual_entry(data, position, end)
            if part is not None:
                entries[key] = part
    return entries


def unusual_entry(data: bytes, position: int, end: int) -> tuple[str, Part | None, int]:
    """Return key, Value and end of an entry in any layout; no Value for another field."""
    fields = Fields(data, position, end)
    fields.next()
    if not fields.is_field(1, LENGTH):
        return "", None, fields.end
    key, part = read_entry(data, fields.start, fields.end)
    return key, part, fields.end


def _object(data: bytes, start: int, end: int, depth: int, *, sort: bool) -> Object:
    _check_depth(depth)
    decoded: Object = {}
    position = start
    last, is_sorted = "", True
    while position < end:
        key_start, key_end, value, stop = usual_entry(data, position, end)
        if stop:
            key = _key(data, key_start, key_end)
            decoded[key] = _value(data, value, stop, depth + 1, sort=sort)
            position = stop
        else:
            key, part, position = unusual_entry(data, position, end)
            if part is None:
                continue
            decoded[key] = _value(part.data, part.start, part.end, depth + 1, sort=sort)
        is_sorted = is_sorted and last <= key
        last = key
    # The members are sorted already.
    return decoded if is_sorted or not sort else {key: decoded[key] for key in sorted(decoded)}


def usual_entry(data: bytes, position: int, end: int) -> tuple[int, int, int, int]:
    """Return start and end of key and value of an entry; zeros for an unusual layout.

    The usual layout: entry tag, size | key tag, size, key | value tag, size, value.
    """
    if data[position] == _ENTRY_TAG and position + _ENTRY_SIZE <= end:
        size = data[position + 1]
        key_tag = position + 2
        if size >= MORE:
            size, key_tag = read_varint(data, position + 1, end)
        stop = key_tag + size
        if stop <= end and size >= _ENTRY_SIZE - 2 and data[key_tag] == _KEY_TAG:
            key_size = data[key_tag + 1]
            value_tag = key_tag + 2 + key_size
            if key_size < MORE and value_tag + 1 < stop and data[value_tag] == _VALUE_TAG:
                size = data[value_tag + 1]
                value = value_tag + 2
                if size >= MORE:
                    size, value = read_varint(data, value_tag + 1, stop)
                if value + size == stop:
                    return key_tag + 2, value_tag, value, stop
    return 0, 0, 0, 0


def _key(data: bytes, start: int, end: int) -> str:
    raw = data[start:end]
    cached = _keys.get(raw)
    if cached is not None:
        return cached
    key = read_text(data, start, end)
    if len(raw) <= _MAX_KEY_LENGTH:
        if len(_keys) >= _MAX_KEYS:
            _keys.clear()
        _keys[raw] = key
    return key


def _list(data: bytes, start: int, end: int, depth: int, *, sort: bool) -> list[Value]:
    _check_depth(depth)
    decoded: list[Value] = []
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(1, LENGTH):
            decoded.append(_value(data, fields.start, fields.end, depth + 1, sort=sort))
    return decoded


def _value(data: bytes, start: int, end: int, depth: int, *, sort: bool) -> Value:
    if start + 2 > end:
        return _any_value(data, start, end, depth, sort=sort)
    tag = data[start]
    size = data[start + 1]
    if tag in (_STRING_TAG, _STRUCT_TAG, _LIST_TAG):
        content = start + 2
        if size >= MORE:
            size, content = read_varint(data, start + 1, end)
        if content + size == end:
            if tag == _STRING_TAG:
                return read_text(data, content, end)
            if tag == _STRUCT_TAG:
                return _object(data, content, end, depth, sort=sort)
            return _list(data, content, end, depth, sort=sort)
    elif tag == _BOOL_TAG and start + _BOOL_SIZE == end and size < MORE:
        return size != 0
    elif tag == _NUMBER_TAG and start + _NUMBER_SIZE == end:
        return _number(data, start + 1)
    return _any_value(data, start, end, depth, sort=sort)


def _any_value(data: bytes, start: int, end: int, depth: int, *, sort: bool) -> Value:
    """Decode a Value in any layout: its last kind counts, and a repeated message is merged."""
    kind = 0
    scalar: Value = None
    parts: list[Part] = []
    fields = Fields(data, start, end)
    while fields.next():
        if _WIRE_TYPES.get(fields.number) != fields.wire_type:
            continue
        if kind != fields.number:
            if parts:
                # A message that a later kind replaces must be valid, too.
                _container(kind, parts, depth, sort=False)
            parts = []
            kind = fields.number
        if kind in (_STRUCT, _LIST):
            parts.append(fields.part())
        else:
            scalar = _scalar(fields)
    return _container(kind, parts, depth, sort=sort) if parts else scalar


def _container(kind: int, parts: list[Part], depth: int, *, sort: bool) -> Value:
    """Decode the object or list that messages are together."""
    whole = join_parts(parts)
    if kind == _STRUCT:
        return _object(whole.data, whole.start, whole.end, depth, sort=sort)
    return _list(whole.data, whole.start, whole.end, depth, sort=sort)


def _scalar(fields: Fields) -> Value:
    if fields.number == _STRING:
        return fields.text()
    if fields.number == _NUMBER:
        return _number(fields.data, fields.start)
    if fields.number == _BOOL:
        return fields.integer() != 0
    return None


def _number(data: bytes, start: int) -> int | float:
    number: float = _DOUBLE.unpack_from(data, start)[0]
    # NaN and infinities are in no range.
    if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER and number == int(number):
        return int(number)
    return number


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise WireError(f"more than {MAX_DEPTH} objects and lists inside one another")

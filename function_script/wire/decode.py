"""Struct bytes to plain values. See the picture in `wire`; called for every resource touched.

The fast path knows the one layout every protobuf library writes (each field once, key before
value). Whatever looks different goes the general way, which accepts all that the protobuf
rules allow and is the only place that raises.
"""

from __future__ import annotations

import struct
from typing import Final

from function_script.values import MAX_SAFE_INTEGER, Object, Value
from function_script.wire.fields import (
    FIXED64,
    LENGTH,
    VARINT,
    Fields,
    WireError,
    read_text,
    read_varint,
)

# Objects and lists inside one another. A manifest has about 10, a CRD's schema about 40.
MAX_DEPTH: Final = 200

# First bytes of a Value: field number << 3 | wire type.
_NULL: Final = 0x08
_NUMBER: Final = 0x11
_STRING: Final = 0x1A
_BOOL: Final = 0x20
_STRUCT: Final = 0x2A
_LIST: Final = 0x32
# First bytes of a map entry, of its key and of its value; also of a list's item.
_ENTRY: Final = 0x0A
_KEY: Final = 0x0A
_VALUE: Final = 0x12
_ITEM: Final = 0x0A

_DOUBLE: Final = struct.Struct("<d")


def decode_struct(payload: bytes, *, drop_managed_fields: bool = False) -> Object:
    """A Struct as a dict, keys in the order of the bytes. Raises WireError.

    Integral numbers up to 2**53 are ints; NaN and infinities come out as the floats they are.
    ``drop_managed_fields`` leaves out ``metadata.managedFields``, unread.
    """
    if not drop_managed_fields:
        return _object(payload, 0, len(payload), 1)
    decoded: Object = {}
    for key, value in decode_struct_fields(payload).items():
        decoded[key] = _metadata(value) if key == "metadata" else decode_nested(value, 2)
    return decoded


def decode_struct_fields(payload: bytes) -> dict[str, bytes]:
    """The encoded Value of each top-level key, none of them decoded. Raises WireError."""
    found: dict[str, bytes] = {}
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(1, LENGTH):
            key, value = read_entry(payload, fields.start, fields.end)
            found[key] = value
    return found


def decode_value(payload: bytes) -> Value:
    """One encoded Value; without any kind set it is None. Raises WireError."""
    return decode_nested(payload, 1)


def decode_nested(payload: bytes, depth: int) -> Value:
    """`decode_value` for a Value that stands ``depth`` containers deep."""
    return _value(payload, 0, len(payload), depth)


def read_entry(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """Key and value of a map entry whose value is a message; absent ones are empty."""
    key = ""
    value = b""
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(1, LENGTH):
            key = fields.text()
        elif fields.is_field(2, LENGTH):
            # A message given twice is merged, and concatenation is protobuf's merge.
            value += fields.payload()
    return key, value


def _metadata(payload: bytes) -> Value:
    """``metadata`` without managedFields, where it is the object it should be."""
    if payload[:1] != bytes((_STRUCT,)):
        return decode_nested(payload, 2)
    fields = Fields(payload, 0, len(payload))
    fields.next()
    if fields.end != len(payload):
        return decode_nested(payload, 2)
    decoded: Object = {}
    for key, value in decode_struct_fields(fields.payload()).items():
        if key != "managedFields":
            decoded[key] = decode_nested(value, 3)
    return decoded


def _object(data: bytes, start: int, end: int, depth: int) -> Object:
    _check_depth(start, depth)
    decoded: Object = {}
    position = start
    while position < end:
        if data[position] == _ENTRY and position + 6 <= end:
            size = data[position + 1]
            entry = position + 2
            if size >= 0x80:
                size, entry = read_varint(data, position + 1, end)
            stop = entry + size
            if size > 3 and stop <= end and data[entry] == _KEY:
                # A key of 128 bytes and more makes this point past `stop`, or at no _VALUE.
                key_end = entry + 2 + data[entry + 1]
                if key_end + 1 < stop and data[key_end] == _VALUE and data[entry + 1] < 0x80:
                    size = data[key_end + 1]
                    value = key_end + 2
                    if size >= 0x80:
                        size, value = read_varint(data, key_end + 1, stop)
                    if value + size == stop:
                        key = read_text(data, entry + 2, key_end)
                        decoded[key] = _value(data, value, stop, depth + 1)
                        position = stop
                        continue
        position = _any_entry(decoded, Fields(data, position, end), depth)
    return decoded


def _any_entry(decoded: Object, fields: Fields, depth: int) -> int:
    fields.next()
    if fields.is_field(1, LENGTH):
        key, value = read_entry(fields.data, fields.start, fields.end)
        decoded[key] = decode_nested(value, depth + 1)
    return fields.end


def _list(data: bytes, start: int, end: int, depth: int) -> list[Value]:
    _check_depth(start, depth)
    decoded: list[Value] = []
    position = start
    while position < end:
        if data[position] == _ITEM and position + 2 <= end:
            size = data[position + 1]
            item = position + 2
            if size >= 0x80:
                size, item = read_varint(data, position + 1, end)
            if item + size <= end:
                decoded.append(_value(data, item, item + size, depth + 1))
                position = item + size
                continue
        fields = Fields(data, position, end)
        fields.next()
        if fields.is_field(1, LENGTH):
            decoded.append(_value(data, fields.start, fields.end, depth + 1))
        position = fields.end
    return decoded


def _value(data: bytes, start: int, end: int, depth: int) -> Value:
    if end - start < 2:
        return _any_value(data, start, end, depth)
    kind = data[start]
    size = data[start + 1]
    if kind == _NUMBER:
        if end - start == 9:
            return _number(data, start + 1)
    elif kind == _BOOL:
        if end - start == 2 and size < 0x80:
            return size != 0
    elif kind == _NULL:
        if end - start == 2 and size < 0x80:
            return None
    elif kind in (_STRING, _STRUCT, _LIST):
        content = start + 2
        if size >= 0x80:
            size, content = read_varint(data, start + 1, end)
        if content + size == end:
            if kind == _STRING:
                return read_text(data, content, end)
            if kind == _STRUCT:
                return _object(data, content, end, depth)
            return _list(data, content, end, depth)
    return _any_value(data, start, end, depth)


def _any_value(data: bytes, start: int, end: int, depth: int) -> Value:
    """A Value with several fields: of a oneof the last stands, but a message merges with itself."""
    kind = 0
    content = b""
    scalar: Value = None
    fields = Fields(data, start, end)
    while fields.next():
        number, wire_type = fields.number, fields.wire_type
        if number in (1, 4) and wire_type == VARINT:
            scalar = None if number == 1 else fields.integer() != 0
        elif number == 2 and wire_type == FIXED64:
            scalar = _number(data, fields.start)
        elif number == 3 and wire_type == LENGTH:
            scalar = fields.text()
        elif number in (5, 6) and wire_type == LENGTH:
            content = content + fields.payload() if kind == number else fields.payload()
        else:
            continue
        kind = number
    if kind == 5:
        return _object(content, 0, len(content), depth)
    if kind == 6:
        return _list(content, 0, len(content), depth)
    return scalar


def _number(data: bytes, start: int) -> int | float:
    number: float = _DOUBLE.unpack_from(data, start)[0]
    if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER and number == int(number):
        return int(number)
    return number


def _check_depth(position: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise WireError(f"more than {MAX_DEPTH} objects and lists inside one another")

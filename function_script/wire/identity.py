"""Who a request is about, read in microseconds: the XR's identity and the input's kind.

For the log line and the queue, also of requests that nobody could answer. It never raises: what
cannot be read is empty.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from function_script.wire.fields import LENGTH, MORE, Fields, WireError, read_entry, read_varint

# Kubernetes allows 253 bytes at most for any of these. They are cut, not refused.
_MAX_BYTES: Final = 256

_OBSERVED: Final = 2
_INPUT: Final = 4
_COMPOSITE: Final = 1
_STRUCT: Final = 1

_ENTRY_TAG: Final = 0x0A
_KEY_TAG: Final = 0x0A
_VALUE_TAG: Final = 0x12
_STRING_VALUE: Final = 3
_STRUCT_VALUE: Final = 5

_API_VERSION: Final = b"apiVersion"
_KIND: Final = b"kind"
_METADATA: Final = b"metadata"
_NAMESPACE: Final = b"namespace"
_NAME: Final = b"name"
_UID: Final = b"uid"


class Identity(NamedTuple):
    """The observed XR, and the input with its optional ``metadata.name``; empty when absent.

    ``input_bytes`` is the size of the whole input.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    input_api_version: str
    input_kind: str
    input_name: str
    input_bytes: int


def read_identity(data: bytes) -> Identity:
    """The identity in the bytes of a RunFunctionRequest, or in what is readable of them."""
    observed = data[:0]
    step_input = data[:0]
    try:
        fields = Fields(data, 0, len(data))
        while fields.next():
            if fields.is_field(_OBSERVED, LENGTH) and not observed:
                observed = _struct_of_composite(data, fields.start, fields.end)
            elif fields.is_field(_INPUT, LENGTH):
                step_input = fields.payload()
    except (WireError, IndexError):
        pass
    xr = _texts(observed, (_API_VERSION, _KIND), (_NAMESPACE, _NAME, _UID))
    of_input = _texts(step_input, (_API_VERSION, _KIND), (_NAME,))
    size = len(step_input)
    return Identity(xr[0], xr[1], xr[2], xr[3], xr[4], of_input[0], of_input[1], of_input[2], size)


def _struct_of_composite(data: bytes, start: int, end: int) -> bytes:
    """The XR's Struct in a State; the first field of each, where writers put them."""
    for number in (_COMPOSITE, _STRUCT):
        fields = Fields(data, start, end)
        start = end
        while fields.next():
            if fields.is_field(number, LENGTH):
                start, end = fields.start, fields.end
                break
    return data[start:end]


def _texts(
    struct: bytes, keys: tuple[bytes, ...], keys_of_metadata: tuple[bytes, ...]
) -> list[str]:
    """Texts by key of a Kubernetes object, then those of its metadata."""
    found: dict[bytes, str] = {}
    inner: dict[bytes, str] = {}
    try:
        places = _find(struct, 0, len(struct), (*keys, _METADATA))
        for key, (start, end) in places.items():
            if key != _METADATA:
                found[key] = _text(struct, start, end)
                continue
            first, last = _content(struct, start, end, _STRUCT_VALUE)
            for name, place in _find(struct, first, last, keys_of_metadata).items():
                inner[name] = _text(struct, place[0], place[1])
    except (WireError, IndexError):
        pass
    return [found.get(key, "") for key in keys] + [inner.get(key, "") for key in keys_of_metadata]


def _find(
    data: bytes, start: int, end: int, wanted: tuple[bytes, ...]
) -> dict[bytes, tuple[int, int]]:
    """Where the Values of these keys are in the Struct at ``data[start:end]``."""
    found: dict[bytes, tuple[int, int]] = {}
    position = start
    while position < end and len(found) < len(wanted):
        size = data[position + 1]
        key_tag = position + 2
        if size >= MORE:
            size, key_tag = read_varint(data, position + 1, end)
        stop = key_tag + size
        key_end = key_tag + 2 + data[key_tag + 1]
        if not _is_usual(data, position, key_tag, key_end, stop):
            return _find_slowly(data, start, end, wanted)
        key = data[key_tag + 2 : key_end]
        if key in wanted:
            _, value = read_varint(data, key_end + 1, stop)
            found[key] = (value, stop)
        position = stop
    return found


def _is_usual(data: bytes, position: int, key_tag: int, key_end: int, stop: int) -> bool:
    """An entry as everybody writes it: its key, of less than 128 bytes, and then its value."""
    return (
        data[position] == _ENTRY_TAG
        and data[key_tag] == _KEY_TAG
        and data[key_tag + 1] < MORE
        and key_end < stop <= len(data)
        and data[key_end] == _VALUE_TAG
    )


def _find_slowly(
    data: bytes, start: int, end: int, wanted: tuple[bytes, ...]
) -> dict[bytes, tuple[int, int]]:
    """The same for entries in any form that protobuf allows."""
    found: dict[bytes, tuple[int, int]] = {}
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(1, LENGTH):
            key, value = read_entry(data, fields.start, fields.end)
            if key.encode() in wanted and value.data is data:
                found[key.encode()] = (value.start, value.end)
    return found


def _content(data: bytes, start: int, end: int, number: int) -> tuple[int, int]:
    """The content of a Value if it is of the kind ``number``, else nothing."""
    fields = Fields(data, start, end)
    if fields.next() and fields.is_field(number, LENGTH):
        return fields.start, fields.end
    return end, end


def _text(data: bytes, start: int, end: int) -> str:
    start, end = _content(data, start, end, _STRING_VALUE)
    return data[start : min(end, start + _MAX_BYTES)].decode("utf-8", "replace")

"""The identity of a request, read in microseconds: its XR and the kind of its input.

For the log and the queue, also of invalid requests: these functions never raise, and return empty
texts for fields that cannot be read. The server calls them while all its calls wait, so they stop
after so many fields that no sound client sends.
"""

from typing import Final, NamedTuple

from function_script.wire.decode import unusual_entry, usual_entry
from function_script.wire.fields import LENGTH, Fields, WireError

# Longer texts are truncated. Kubernetes allows 253 bytes.
_MAX_BYTES: Final = 256
# Of a message. A request has one field for each requirement that is answered, after its input.
_MAX_FIELDS: Final = 2_000
# Of an object, for entries in another layout than the usual one.
_MAX_UNUSUAL_BYTES: Final = 16 * 1024

_OBSERVED: Final = 2
_INPUT: Final = 4
_COMPOSITE: Final = 1
_STRUCT: Final = 1

_STRING_VALUE: Final = 3
_STRUCT_VALUE: Final = 5

_API_VERSION: Final = b"apiVersion"
_KIND: Final = b"kind"
_METADATA: Final = b"metadata"
_NAMESPACE: Final = b"namespace"
_NAME: Final = b"name"
_UID: Final = b"uid"
_OF_OBJECT: Final = frozenset({_API_VERSION, _KIND})
_OF_METADATA: Final = frozenset({_NAME, _NAMESPACE, _UID})


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
    """Return the identity in a RunFunctionRequest, as far as its bytes can be read."""
    start = end = 0
    input_start = input_end = 0
    try:
        fields = Fields(data, 0, len(data))
        for _ in range(_MAX_FIELDS):
            if not fields.next():
                break
            if fields.is_field(_OBSERVED, LENGTH) and start == end:
                start, end = _struct_of_composite(data, fields.start, fields.end)
            elif fields.is_field(_INPUT, LENGTH):
                input_start, input_end = fields.start, fields.end
    except (WireError, IndexError):
        pass
    xr = _texts(data, start, end)
    step_input = _texts(data, input_start, input_end)
    return Identity(
        xr.get(_API_VERSION, ""),
        xr.get(_KIND, ""),
        xr.get(_NAMESPACE, ""),
        xr.get(_NAME, ""),
        xr.get(_UID, ""),
        step_input.get(_API_VERSION, ""),
        step_input.get(_KIND, ""),
        step_input.get(_NAME, ""),
        input_end - input_start,
    )


def _struct_of_composite(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return start and end of the XR's Struct in a State, by the first field of each message."""
    for number in (_COMPOSITE, _STRUCT):
        fields = Fields(data, start, end)
        start = end
        for _ in range(_MAX_FIELDS):
            if not fields.next():
                break
            if fields.is_field(number, LENGTH):
                start, end = fields.start, fields.end
                break
    return start, end


def _texts(data: bytes, start: int, end: int) -> dict[bytes, str]:
    """Return the identifying fields of the Kubernetes object at ``data[start:end]``."""
    texts: dict[bytes, str] = {}
    try:
        _add_texts(data, start, end, _OF_OBJECT, texts)
    except (WireError, IndexError):
        # What was read before counts.
        return texts
    return texts


def _add_texts(
    data: bytes, start: int, end: int, names: frozenset[bytes], texts: dict[bytes, str]
) -> None:
    """Add the texts with these names in the Struct at ``data[start:end]``, and in its metadata."""
    position = start
    for _ in range(_MAX_FIELDS):
        if position >= end:
            break
        key_start, key_end, value, stop = usual_entry(data, position, end)
        key, value_end = data[key_start:key_end], stop
        if not stop:
            last = min(end, start + _MAX_UNUSUAL_BYTES)
            name, part, stop = unusual_entry(data, position, last)
            # A value in several parts was copied, and its offsets would mean nothing in these
            # bytes.
            if part is not None and part.data is data:
                key, value, value_end = name.encode(), part.start, part.end
        position = stop
        if key in names:
            texts[key] = _text(data, value, value_end)
        elif key == _METADATA and names is _OF_OBJECT:
            first, last = _content(data, value, value_end, _STRUCT_VALUE)
            _add_texts(data, first, last, _OF_METADATA, texts)


def _content(data: bytes, start: int, end: int, number: int) -> tuple[int, int]:
    """Return start and end of a Value's content, empty if it is not of the kind ``number``."""
    fields = Fields(data, start, end)
    if fields.next() and fields.is_field(number, LENGTH):
        return fields.start, fields.end
    return end, end


def _text(data: bytes, start: int, end: int) -> str:
    start, end = _content(data, start, end, _STRING_VALUE)
    return data[start : min(end, start + _MAX_BYTES)].decode("utf-8", "replace")

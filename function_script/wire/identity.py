"""The identity of a request, read in microseconds: its XR and the kind of its input.

For the log and the queue, also of invalid requests: these functions never raise, and return empty
texts for fields that cannot be read.
"""

from typing import Final, NamedTuple

from function_script.wire.fields import LENGTH, MORE, Fields, WireError, read_entry, read_varint

# Longer texts are truncated. Kubernetes allows 253 bytes.
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
    """Return the identity in a RunFunctionRequest, as far as its bytes can be read."""
    start = end = 0
    input_start = input_end = 0
    try:
        fields = Fields(data, 0, len(data))
        while fields.next():
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
        while fields.next():
            if fields.is_field(number, LENGTH):
                start, end = fields.start, fields.end
                break
    return start, end


def _texts(data: bytes, start: int, end: int) -> dict[bytes, str]:
    """Return the identifying fields of the Kubernetes object at ``data[start:end]``."""
    texts: dict[bytes, str] = {}
    try:
        entries = _Entries(data, start, end)
        while entries.next():
            if entries.key == _METADATA:
                first, last = _content(data, entries.start, entries.end, _STRUCT_VALUE)
                inner = _Entries(data, first, last)
                while inner.next():
                    if inner.key in (_NAME, _NAMESPACE, _UID):
                        texts[inner.key] = _text(data, inner.start, inner.end)
            elif entries.key in (_API_VERSION, _KIND):
                texts[entries.key] = _text(data, entries.start, entries.end)
    except (WireError, IndexError):
        pass
    return texts


class _Entries:
    """A cursor over the Struct in ``data[start:stop]``: keys, and start and end of their Values."""

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        self._data: bytes = data
        self._stop: int = stop
        self.key: bytes = b""
        self.start: int = start
        self.end: int = start
        self._position: int = start

    def next(self) -> bool:
        """Move to the next entry; return False at the end. Raises WireError or IndexError."""
        data, position = self._data, self._position
        if position >= self._stop:
            return False
        # Beyond the end of the bytes these raise IndexError, which all callers expect.
        size, key_tag = data[position + 1], position + 2
        if size >= MORE:
            size, key_tag = read_varint(data, position + 1, self._stop)
        end = key_tag + size
        key_end = key_tag + 2 + data[key_tag + 1]
        if end > self._stop or not _is_usual(data, position, key_tag, key_end, end):
            return self._next_unusual()
        self.key = data[key_tag + 2 : key_end]
        _, self.start = read_varint(data, key_end + 1, end)
        self.end = self._position = end
        return True

    def _next_unusual(self) -> bool:
        """Move to the next entry in any layout that protobuf allows."""
        fields = Fields(self._data, self._position, self._stop)
        if not fields.next():
            return False
        self._position = fields.end
        self.key = b""
        if fields.is_field(1, LENGTH):
            key, value = read_entry(self._data, fields.start, fields.end)
            # A value in several parts was copied, and its offsets would mean nothing in these
            # bytes.
            if value.data is self._data:
                self.key, self.start, self.end = key.encode(), value.start, value.end
        return True


def _is_usual(data: bytes, position: int, key_tag: int, key_end: int, end: int) -> bool:
    """Report whether an entry is a key of less than 128 bytes and then a value."""
    return (
        data[position] == _ENTRY_TAG
        and data[key_tag] == _KEY_TAG
        and data[key_tag + 1] < MORE
        and key_end < end
        and data[key_end] == _VALUE_TAG
    )


def _content(data: bytes, start: int, end: int, number: int) -> tuple[int, int]:
    """Return start and end of a Value's content, empty if it is not of the kind ``number``."""
    fields = Fields(data, start, end)
    if fields.next() and fields.is_field(number, LENGTH):
        return fields.start, fields.end
    return end, end


def _text(data: bytes, start: int, end: int) -> str:
    start, end = _content(data, start, end, _STRING_VALUE)
    return data[start : min(end, start + _MAX_BYTES)].decode("utf-8", "replace")

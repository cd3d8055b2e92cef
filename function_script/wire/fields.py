"""The fields of one protobuf message: walk them, skip them, write them.

Called by the other modules of `wire`. Knows the encoding; knows no message of the protocol.
"""

from __future__ import annotations

from typing import Final

# Wire types: the low three bits of a field's tag.
VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
GROUP_START: Final = 3
GROUP_END: Final = 4
FIXED32: Final = 5

_MAX_FIELD_NUMBER: Final = (1 << 29) - 1
_MAX_GROUP_DEPTH: Final = 100
_MAX_VARINT_BYTES: Final = 10


class WireError(ValueError):
    """Bytes that are no valid message; offsets count from the start of the message named."""


class Fields:
    """Walks the fields of the message in ``data[start:end]``, in the order they were written.

    ``while fields.next():`` then look at ``number`` and ``wire_type`` of the current field. Its
    content is ``data[start:end]`` of this object: without the length in front for LENGTH fields.
    """

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data: bytes = data
        self.number: int = 0
        self.wire_type: int = 0
        self.start: int = start
        self.end: int = start
        self._stop: int = end

    def next(self) -> bool:
        """Step to the next field; False at the end of the message. Raises WireError."""
        if self.end >= self._stop:
            return False
        tag, start = read_varint(self.data, self.end, self._stop)
        self.number = tag >> 3
        self.wire_type = tag & 7
        if not 0 < self.number <= _MAX_FIELD_NUMBER:
            raise WireError(f"invalid field number {self.number} at byte {self.end}")
        if self.wire_type == LENGTH:
            size, start = read_varint(self.data, start, self._stop)
            end = start + size
        else:
            end = _end_of_scalar(self, start)
        if end > self._stop:
            raise WireError(
                f"field {self.number} at byte {self.end} runs past the end of its message"
                f" at byte {self._stop}"
            )
        self.start = start
        self.end = end
        return True

    def is_field(self, number: int, wire_type: int) -> bool:
        """Whether the current field is this one; with another wire type it counts as unknown."""
        return self.number == number and self.wire_type == wire_type

    def payload(self) -> bytes:
        """The current field's content."""
        return self.data[self.start : self.end]

    def text(self) -> str:
        """The current field's content as a string. Raises WireError."""
        return read_text(self.data, self.start, self.end)

    def integer(self) -> int:
        """The current VARINT field's content: 0 to 2**64 - 1."""
        return read_varint(self.data, self.start, self.end)[0]


def to_int32(number: int) -> int:
    """A VARINT as the enum or int32 it stands for: its low 32 bits, signed."""
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """The number at ``position`` and the position after it. Raises WireError."""
    number = 0
    for index in range(_MAX_VARINT_BYTES):
        if position + index >= end:
            raise WireError(f"number at byte {position} is cut off")
        byte = data[position + index]
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if number >> 64:
                break
            return number, position + index + 1
    raise WireError(f"number at byte {position} has more than 64 bits")


def read_text(data: bytes, start: int, end: int) -> str:
    """The string in ``data[start:end]``. Raises WireError when it is not UTF-8."""
    try:
        return data[start:end].decode()
    except UnicodeDecodeError as error:
        raise WireError(f"string at byte {start} is not UTF-8") from error


def _end_of_scalar(fields: Fields, start: int) -> int:
    if fields.wire_type == VARINT:
        return read_varint(fields.data, start, fields._stop)[1]
    if fields.wire_type == FIXED64:
        return start + 8
    if fields.wire_type == FIXED32:
        return start + 4
    if fields.wire_type == GROUP_START:
        return _end_of_group(fields, start)
    raise WireError(f"invalid wire type {fields.wire_type} at byte {fields.end}")


def _end_of_group(fields: Fields, start: int) -> int:
    """Proto3 writes no groups, but a parser must be able to skip one it does not know."""
    opened = [fields.number]
    position = start
    while opened:
        inner = Fields(fields.data, position, fields._stop)
        tag, position = read_varint(fields.data, position, fields._stop)
        if tag & 7 == GROUP_START:
            opened.append(tag >> 3)
        elif tag & 7 != GROUP_END:
            inner.next()
            position = inner.end
        elif opened.pop() != tag >> 3:
            raise WireError(f"group at byte {fields.end} is closed by another one")
        if len(opened) > _MAX_GROUP_DEPTH:
            raise WireError(f"groups at byte {fields.end} are nested too deeply")
    return position


def varint(number: int) -> bytes:
    """A number from 0 to 2**64 - 1, encoded."""
    if number < _SMALL:
        return _VARINTS[number]
    return _encoded(number)


def length_field(number: int, payload: bytes) -> bytes:
    """A LENGTH field: a string, bytes, or a message."""
    return varint(number << 3 | LENGTH) + varint(len(payload)) + payload


def text_field(number: int, text: str) -> bytes:
    """A string field; nothing for the empty string, which is the default."""
    return length_field(number, text.encode()) if text else b""


def optional_text_field(number: int, text: str | None) -> bytes:
    """An ``optional string`` field: nothing for None, but the empty string is written."""
    return length_field(number, text.encode()) if text is not None else b""


def varint_field(number: int, value: int) -> bytes:
    """An enum or integer field; nothing for 0, which is the default. Negative: 64 bits."""
    return varint(number << 3 | VARINT) + varint(value & _UINT64) if value else b""


def entry_field(number: int, key: str, value: bytes) -> bytes:
    """One entry of a map whose values are LENGTH fields."""
    return length_field(number, length_field(1, key.encode()) + length_field(2, value))


def _encoded(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_UINT64: Final = (1 << 64) - 1
# Nearly every length in a request is below this; a look-up is five times faster than a loop.
_SMALL: Final = 4096
_VARINTS: Final = [_encoded(number) for number in range(_SMALL)]

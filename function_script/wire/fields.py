"""Reading and writing the fields of any protobuf message."""

from __future__ import annotations

from typing import Final

# Wire types: the low three bits of a field's tag.
VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
GROUP_START: Final = 3
GROUP_END: Final = 4
FIXED32: Final = 5

# The bit of a VARINT's byte that is followed by another one.
MORE: Final = 0x80

_MAX_FIELD_NUMBER: Final = (1 << 29) - 1
_MAX_GROUP_DEPTH: Final = 100
# A group is skipped field by field, also where the server skips a message by its size.
_MAX_GROUP_BYTES: Final = 512
_UINT64: Final = (1 << 64) - 1
_MAX_VARINT_BITS: Final = 70  # ten bytes


class WireError(ValueError):
    """An invalid message; positions count from the start of the bytes that are read."""


class Part:
    """The message, string or bytes in ``data[start:end]``, without a copy."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data: bytes = data
        self.start: int = start
        self.end: int = end
        self.is_merged: bool = False

    def to_bytes(self) -> bytes:
        """Return a copy."""
        return self.data[self.start : self.end]

    def contains(self, text: bytes) -> bool:
        """Report whether the bytes have ``text`` in them."""
        return self.data.find(text, self.start, self.end) >= 0

    def fields(self) -> Fields:
        """Return the fields of a message."""
        return Fields(self.data, self.start, self.end)


class Fields:
    """A cursor over the fields of the message in ``data[start:end]``, in the order of the bytes.

    After ``while fields.next():``, ``number`` and ``wire_type`` are those of the current field. Its
    content is ``data[start:end]`` of this object, for LENGTH fields without the length.
    """

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data: bytes = data
        self.stop: int = end
        self.number: int = 0
        self.wire_type: int = 0
        self.start: int = start
        self.end: int = start

    def next(self) -> bool:
        """Move to the next field; return False at the end of the message. Raises WireError."""
        begin = self.end
        if begin >= self.stop:
            return False
        tag, start = read_varint(self.data, begin, self.stop)
        self.number = tag >> 3
        self.wire_type = tag & 7
        if not 0 < self.number <= _MAX_FIELD_NUMBER:
            raise WireError(f"invalid field number {self.number} at byte {begin}")
        if self.wire_type == LENGTH:
            size, start = read_varint(self.data, start, self.stop)
            end = start + size
        else:
            end = _end_of_scalar(self, start)
        if end > self.stop:
            raise WireError(
                f"field {self.number} at byte {begin} runs past the end of its message"
                f" at byte {self.stop}"
            )
        self.start = start
        self.end = end
        return True

    def is_field(self, number: int, wire_type: int) -> bool:
        """Report whether the current field has this number and wire type."""
        return self.number == number and self.wire_type == wire_type

    def part(self) -> Part:
        """Return the current field's content without a copy."""
        return Part(self.data, self.start, self.end)

    def merged(self, earlier: Part | None) -> Part:
        """Return the current field's message merged into the ``earlier`` ones of the same field.

        For fields that occur once in the usual layout. The first call merges all that follow as
        well, so a message that is repeated a thousand times is copied once.
        """
        if earlier is None:
            return self.part()
        if earlier.is_merged:
            return earlier
        parts = [earlier, self.part()]
        ahead = Fields(self.data, self.end, self.stop)
        while ahead.next():
            if ahead.is_field(self.number, LENGTH):
                parts.append(ahead.part())
        return join_parts(parts)

    def payload(self) -> bytes:
        """Return a copy of the current field's content."""
        return self.data[self.start : self.end]

    def text(self) -> str:
        """Return the current field's content as a string. Raises WireError."""
        return read_text(self.data, self.start, self.end)

    def integer(self) -> int:
        """Return the content of the current VARINT field: 0 to 2**64 - 1."""
        return read_varint(self.data, self.start, self.end)[0]


def join_parts(parts: list[Part]) -> Part:
    """Merge messages by concatenation, as protobuf defines it. Raises WireError."""
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        # Each must be complete, or the end of one could be read as part of the next.
        fields = part.fields()
        while fields.next():
            pass
    data = b"".join([part.to_bytes() for part in parts])
    whole = Part(data, 0, len(data))
    whole.is_merged = True
    return whole


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the number at ``position`` and the position after it. Raises WireError."""
    number = 0
    shift = 0
    index = position
    while index < end and shift < _MAX_VARINT_BITS:
        byte = data[index]
        index += 1
        number |= (byte & ~MORE) << shift
        if byte < MORE and number <= _UINT64:
            return number, index
        shift += 7
    if index == end and shift < _MAX_VARINT_BITS:
        raise WireError(f"number at byte {position} is cut off")
    raise WireError(f"number at byte {position} has more than 64 bits")


def to_int32(number: int) -> int:
    """Return a VARINT as an enum or int32: its low 32 bits, signed."""
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def read_text(data: bytes, start: int, end: int) -> str:
    """Return the string in ``data[start:end]``. Raises WireError if it is not UTF-8."""
    try:
        return data[start:end].decode()
    except UnicodeDecodeError as error:
        raise WireError(f"string at byte {start} is not UTF-8") from error


def read_entry(data: bytes, start: int, end: int) -> tuple[str, Part]:
    """Return key and value of a map entry with a message; absent ones are empty."""
    key = ""
    value: Part | None = None
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(2, LENGTH):
            value = fields.merged(value)
        elif fields.is_field(1, LENGTH):
            key = fields.text()
    return key, Part(data, end, end) if value is None else value


def read_bytes_entry(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """Return key and value of a map entry with bytes; of a repeated field the last one counts."""
    key = ""
    value = b""
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(2, LENGTH):
            value = fields.payload()
        elif fields.is_field(1, LENGTH):
            key = fields.text()
    return key, value


def _end_of_scalar(fields: Fields, start: int) -> int:
    if fields.wire_type == VARINT:
        return read_varint(fields.data, start, fields.stop)[1]
    if fields.wire_type == FIXED64:
        return start + 8
    if fields.wire_type == FIXED32:
        return start + 4
    if fields.wire_type == GROUP_START:
        return _end_of_group(fields, start)
    raise WireError(f"invalid wire type {fields.wire_type} at byte {fields.end}")


def _end_of_group(fields: Fields, start: int) -> int:
    """Return the end of a group. Proto3 has no groups, but readers must skip unknown ones."""
    numbers = [fields.number]
    position = start
    while numbers:
        tag, after_tag = read_varint(fields.data, position, fields.stop)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == GROUP_END:
            if numbers.pop() != number:
                raise WireError(f"group at byte {fields.end} is closed by another one")
            position = after_tag
        elif wire_type == GROUP_START and 0 < number <= _MAX_FIELD_NUMBER:
            numbers.append(number)
            position = after_tag
        else:
            inner = Fields(fields.data, position, fields.stop)
            inner.next()
            position = inner.end
        if len(numbers) > _MAX_GROUP_DEPTH:
            raise WireError(f"groups at byte {fields.end} are nested too deeply")
        if position - start > _MAX_GROUP_BYTES:
            raise WireError(f"group at byte {fields.end} is too large")
    return position


def varint(number: int) -> bytes:
    """Encode a number from 0 to 2**64 - 1."""
    return _VARINTS[number] if number < _SMALL else _encode(number)


def length_header(number: int, payload: bytes) -> bytes:
    """Encode the tag and the size of a string, bytes, or a message."""
    return varint(number << 3 | LENGTH) + varint(len(payload))


def length_field(number: int, payload: bytes) -> bytes:
    """Encode a string, bytes, or a message."""
    return length_header(number, payload) + payload


def text_field(number: int, text: str | None) -> bytes:
    """Encode a string; nothing for None, but the empty string is written."""
    return length_field(number, text.encode()) if text is not None else b""


def varint_field(number: int, value: int | None) -> bytes:
    """Encode an enum or integer; nothing for None, but 0 is written."""
    return varint(number << 3 | VARINT) + varint(value & _UINT64) if value is not None else b""


def entry_field(number: int, key: str, value: bytes) -> bytes:
    """Encode an entry of a map; ``value`` is a string, bytes or a message."""
    return entry_header(number, key, value) + value


def entry_header(number: int, key: str, value: bytes) -> bytes:
    """Encode what precedes the value in an entry of a map."""
    text = key.encode()
    start = b"\x0a" + varint(len(text)) + text + b"\x12" + varint(len(value))
    return varint(number << 3 | LENGTH) + varint(len(start) + len(value)) + start


def _encode(number: int) -> bytes:
    varint_bytes = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits in each byte
        varint_bytes.append(number & 0x7F | 0x80)
        number >>= 7
    varint_bytes.append(number)
    return bytes(varint_bytes)


# Nearly every length in a request is smaller. A table is five times faster than a loop.
_SMALL: Final = 4096
_VARINTS: Final = [_encode(number) for number in range(_SMALL)]

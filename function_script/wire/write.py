"""Fields of a protobuf message, written one at a time.

Called by the other modules of `wire`. Knows the encoding; knows no message of the protocol.
"""

from __future__ import annotations

from typing import Final

from function_script.wire.fields import LENGTH, VARINT

_UINT64: Final = (1 << 64) - 1


def varint(number: int) -> bytes:
    """A number from 0 to 2**64 - 1, encoded."""
    return _VARINTS[number] if number < _SMALL else _encoded(number)


def length_header(number: int, payload: bytes) -> bytes:
    """What stands before a string, bytes, or a message."""
    return varint(number << 3 | LENGTH) + varint(len(payload))


def length_field(number: int, payload: bytes) -> bytes:
    """A string, bytes, or a message."""
    return length_header(number, payload) + payload


def text_field(number: int, text: str) -> bytes:
    """A string; nothing for the empty one, which is the default."""
    return length_field(number, text.encode()) if text else b""


def optional_text_field(number: int, text: str | None) -> bytes:
    """An ``optional`` string: nothing for None, but the empty string is written."""
    return length_field(number, text.encode()) if text is not None else b""


def varint_field(number: int, value: int) -> bytes:
    """An enum or integer; nothing for 0, which is the default."""
    return optional_varint_field(number, value) if value else b""


def optional_varint_field(number: int, value: int | None) -> bytes:
    """An ``optional`` enum or integer: nothing for None, but 0 is written."""
    return varint(number << 3 | VARINT) + varint(value & _UINT64) if value is not None else b""


def entry_field(number: int, key: str, value: bytes) -> bytes:
    """One entry of a map; ``value`` is a string, bytes or a message."""
    return length_field(number, length_field(1, key.encode()) + length_field(2, value))


def _encoded(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits to a byte
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


# Nearly every length in a request is below this; a look-up is five times faster than a loop.
_SMALL: Final = 4096
_VARINTS: Final = [_encoded(number) for number in range(_SMALL)]

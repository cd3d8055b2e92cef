"""The frames of HTTP/2 (RFC 9113) as bytes: what is read and what is written.

Called by the connection. A frame is a head of nine bytes and a payload:

    length (24 bits) | type (8) | flags (8) | 0 and stream (31)      payload, length bytes
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# The length is read in two pieces, since no number of 24 bits can be unpacked.
HEAD: Final = struct.Struct(">HBBBI")
HEAD_BYTES: Final = 9
STREAM_MASK: Final = 0x7FFF_FFFF
MAX_WINDOW: Final = 0x7FFF_FFFF
FIRST_WINDOW: Final = 65_535
# What both sides may send before they have heard of another size; we accept no larger ones.
FRAME_BYTES: Final = 16_384
_MAX_FRAME_BYTES: Final = 0xFF_FFFF

DATA: Final = 0
HEADERS: Final = 1
PRIORITY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PUSH_PROMISE: Final = 5
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9

END_STREAM: Final = 0x1
ACK: Final = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
WITH_PRIORITY: Final = 0x20

ENABLE_PUSH: Final = 2
MAX_CONCURRENT_STREAMS: Final = 3
INITIAL_WINDOW_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 5
MAX_HEADER_LIST_SIZE: Final = 6

_SETTING = struct.Struct(">HI")
_NUMBER = struct.Struct(">I")
_PRIORITY_BYTES = 5
_PING_BYTES = 8


class Code(IntEnum):
    """Why a stream or a connection ends."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


class GoAwayError(Exception):
    """The connection cannot go on."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.code = code


class ResetError(Exception):
    """One stream cannot go on."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code


def pack(kind: int, flags: int, stream: int, payload: bytes | memoryview = b"") -> bytes:
    """A frame."""
    size = len(payload)
    return HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def settings(values: dict[int, int]) -> bytes:
    """A SETTINGS frame."""
    return pack(SETTINGS, 0, 0, b"".join(_SETTING.pack(*item) for item in values.items()))


def window_update(stream: int, increment: int) -> bytes:
    """A WINDOW_UPDATE frame; stream 0 is the connection."""
    return pack(WINDOW_UPDATE, 0, stream, _NUMBER.pack(increment))


def reset(stream: int, code: Code) -> bytes:
    """A RST_STREAM frame."""
    return pack(RST_STREAM, 0, stream, _NUMBER.pack(code))


def goaway(last_stream: int, code: Code, text: str = "") -> bytes:
    """A GOAWAY frame; streams above ``last_stream`` were not and will not be looked at."""
    return pack(GOAWAY, 0, 0, _NUMBER.pack(last_stream) + _NUMBER.pack(code) + text.encode())


def without_padding(flags: int, payload: memoryview) -> memoryview:
    """The payload of a DATA or HEADERS frame; raises GoAwayError."""
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise GoAwayError(Code.PROTOCOL_ERROR, "padding is longer than its frame")
    return payload[1 : len(payload) - payload[0]]


def without_priority(flags: int, stream: int, payload: memoryview) -> tuple[memoryview, bool]:
    """The header block in a HEADERS frame, and whether its stream depends on itself."""
    if not flags & WITH_PRIORITY:
        return payload, False
    if len(payload) < _PRIORITY_BYTES:
        raise GoAwayError(Code.FRAME_SIZE_ERROR, "a priority is cut off")
    return payload[_PRIORITY_BYTES:], read_number(payload) == stream


def check_priority(stream: int, payload: memoryview) -> None:
    """A PRIORITY frame means nothing here, but it must be one."""
    if stream == 0:
        raise GoAwayError(Code.PROTOCOL_ERROR, "PRIORITY of the connection")
    if len(payload) != _PRIORITY_BYTES:
        raise ResetError(Code.FRAME_SIZE_ERROR)
    if read_number(payload) == stream:
        raise ResetError(Code.PROTOCOL_ERROR)


def check_ping(stream: int, payload: memoryview) -> None:
    """Raise GoAwayError for what is no PING."""
    if stream != 0:
        raise GoAwayError(Code.PROTOCOL_ERROR, "PING on a stream")
    if len(payload) != _PING_BYTES:
        raise GoAwayError(Code.FRAME_SIZE_ERROR, "PING has not eight bytes")


def read_number(payload: memoryview) -> int:
    """The 31 bits at the start of a payload that is long enough."""
    number: int = _NUMBER.unpack_from(payload)[0]
    return number & STREAM_MASK


def read_only_number(payload: memoryview) -> int:
    """The payload of a RST_STREAM or WINDOW_UPDATE frame; raises GoAwayError."""
    if len(payload) != _NUMBER.size:
        raise GoAwayError(Code.FRAME_SIZE_ERROR, "a frame has not four bytes")
    return read_number(payload)


def read_settings(flags: int, stream: int, payload: memoryview) -> dict[int, int]:
    """The values in a SETTINGS frame, checked; raises GoAwayError."""
    if stream != 0:
        raise GoAwayError(Code.PROTOCOL_ERROR, "SETTINGS on a stream")
    if len(payload) % _SETTING.size or (flags & ACK and payload):
        raise GoAwayError(Code.FRAME_SIZE_ERROR, "SETTINGS of a wrong size")
    values = dict(_SETTING.iter_unpack(payload))
    if values.get(ENABLE_PUSH, 0) > 1:
        raise GoAwayError(Code.PROTOCOL_ERROR, "ENABLE_PUSH is neither 0 nor 1")
    if values.get(INITIAL_WINDOW_SIZE, 0) > MAX_WINDOW:
        raise GoAwayError(Code.FLOW_CONTROL_ERROR, "INITIAL_WINDOW_SIZE is too large")
    if not FRAME_BYTES <= values.get(MAX_FRAME_SIZE, FRAME_BYTES) <= _MAX_FRAME_BYTES:
        raise GoAwayError(Code.PROTOCOL_ERROR, "MAX_FRAME_SIZE is out of range")
    return values

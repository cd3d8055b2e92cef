"""Header blocks: those of requests decoded and checked, those of responses written.

Called by the connection and by calls. Ours are literals that refer to no table, so they can be
written once for all connections; decoding is left to ``hpack``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from hpack import Decoder, HPACKError, OversizedHeaderListError

from function_script.server.http2 import frames
from function_script.server.http2.frames import Code, GoAwayError, ResetError

if TYPE_CHECKING:
    from collections.abc import Iterable

Head: TypeAlias = dict[bytes, bytes]

MAX_LIST_BYTES: Final = 16 * 1024
_MAX_BLOCK_BYTES: Final = 2 * MAX_LIST_BYTES
_MAX_PARTS: Final = 16
_REQUIRED: Final = (b":method", b":scheme", b":path")
_PSEUDO: Final = frozenset((*_REQUIRED, b":authority"))
# Which every call has, so that they need not be looked at letter by letter.
_USUAL: Final = frozenset((b"content-type", b"user-agent", b"grpc-timeout", b"traceparent"))
_OF_HTTP_1: Final = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade")
)
_NOT_IN_VALUES: Final = re.compile(rb"[\0\r\n]")
_NOT_IN_NAMES: Final = re.compile(rb"[^!#-&'*+.^-z|~0-9-]")
_ONE_BYTE: Final = 0x7F
# How fields begin (RFC 7541, 6): an index has the top bit, all ones below mean that it goes on;
# 001 at the top changes the size of the table.
_INDEXED: Final = 0x80
_LONG_INDEX: Final = 0xFF
_UPDATE: Final = 0x20
_UPDATE_MASK: Final = 0xE0
# What a field counts beside its text.
_FIELD_BYTES: Final = 32


class Block:
    """A header block that is complete: which stream's, the frame's flags, names and values.

    ``is_malformed``: its stream depends on itself.
    """

    def __init__(self, number: int, flags: int, *, is_malformed: bool) -> None:
        self.number = number
        self.flags = flags
        self.is_malformed = is_malformed
        self.fields: list[tuple[bytes, bytes]] = []


class Blocks:
    """Puts header blocks together and decodes them; a connection has one."""

    def __init__(self) -> None:
        self._table = Decoder(max_header_list_size=MAX_LIST_BYTES)
        self._parts: list[bytes] = []
        self._open: Block | None = None

    @property
    def is_open(self) -> bool:
        """Whether the rest of a block has to come before anything else."""
        return self._open is not None

    def begin(self, flags: int, number: int, payload: memoryview) -> Block | None:
        """A HEADERS frame; None: more is to come. Raises GoAwayError."""
        if not number & 1:
            raise GoAwayError(Code.PROTOCOL_ERROR, "clients open streams of odd numbers")
        payload = frames.without_padding(flags, payload)
        payload, is_malformed = frames.without_priority(flags, number, payload)
        self._open = Block(number, flags, is_malformed=is_malformed)
        self._parts = [bytes(payload)]
        return self._close() if flags & frames.END_HEADERS else None

    def go_on(self, flags: int, number: int, payload: memoryview) -> Block | None:
        """A CONTINUATION frame, likewise."""
        if self._open is None or number != self._open.number:
            raise GoAwayError(Code.PROTOCOL_ERROR, "CONTINUATION of nothing")
        self._parts.append(bytes(payload))
        if len(self._parts) > _MAX_PARTS or sum(map(len, self._parts)) > _MAX_BLOCK_BYTES:
            raise GoAwayError(Code.ENHANCE_YOUR_CALM, "the headers are too large")
        return self._close() if flags & frames.END_HEADERS else None

    def _close(self) -> Block | None:
        block, self._open = self._open, None
        if block is not None:
            block.fields = self._decode(b"".join(self._parts))
        return block

    def _decode(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Names and values; raises GoAwayError, since the table is out of step then."""
        try:
            fields, rest = self._remembered(data)
            if fields and rest and rest[0] & _UPDATE_MASK == _UPDATE:
                raise GoAwayError(Code.COMPRESSION_ERROR, "the table changes within a block")
            if rest:
                fields += [(bytes(name), bytes(value)) for name, value in self._literals(rest)]
        except OversizedHeaderListError as error:
            raise GoAwayError(Code.ENHANCE_YOUR_CALM, "the headers are too large") from error
        except (HPACKError, IndexError, ValueError) as error:
            raise GoAwayError(Code.COMPRESSION_ERROR, "the headers are undecodable") from error
        return fields

    def _remembered(self, data: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """The fields at the start that are one byte each, and the rest.

        Most are, in all calls but the first; finding them here takes half the time.
        """
        find = self._table.header_table.get_by_index
        fields: list[tuple[bytes, bytes]] = []
        size = 0
        for byte in data:
            if not _INDEXED < byte < _LONG_INDEX:
                break
            name, value = find(byte - _INDEXED)
            size += len(name) + len(value) + _FIELD_BYTES
            if size > MAX_LIST_BYTES:
                raise OversizedHeaderListError
            fields.append((name, value))
        self._table.max_header_list_size = MAX_LIST_BYTES - size
        return fields, data[len(fields) :]

    def _literals(self, data: bytes) -> Iterable[tuple[bytes, bytes]]:
        return self._table.decode(data, raw=True)


def check_request(fields: Iterable[tuple[bytes, bytes]]) -> Head:
    """The head of a request by name; raises ResetError when it is malformed (RFC 9113, 8)."""
    head: Head = {}
    is_regular = False
    for name, value in fields:
        if name[:1] == b":":
            if is_regular or name in head or name not in _PSEUDO:
                raise ResetError(Code.PROTOCOL_ERROR)
        else:
            is_regular = True
            if name not in _USUAL:
                _check_regular(name, value)
            if name in head:
                value = head[name] + b"," + value  # noqa: PLW2901 - what RFC 9110 says of lists
        head[name] = value
    if not all(head.get(name) for name in _REQUIRED):
        raise ResetError(Code.PROTOCOL_ERROR)
    if _NOT_IN_VALUES.search(b" ".join(head.values())):
        raise ResetError(Code.PROTOCOL_ERROR)
    return head


def check_trailers(fields: Iterable[tuple[bytes, bytes]]) -> None:
    """Trailers of a request mean nothing here; raises ResetError when they are malformed."""
    for name, value in fields:
        if name[:1] == b":":
            raise ResetError(Code.PROTOCOL_ERROR)
        _check_regular(name, value)


def _check_regular(name: bytes, value: bytes) -> None:
    if not name or _NOT_IN_NAMES.search(name) or name in _OF_HTTP_1:
        raise ResetError(Code.PROTOCOL_ERROR)
    if name == b"te" and value != b"trailers":
        raise ResetError(Code.PROTOCOL_ERROR)


def literal(name: str, value: str) -> bytes:
    """A field that is not remembered by either side."""
    return b"\0" + _sized(name.encode("ascii")) + _sized(value.encode("ascii"))


def _sized(text: bytes) -> bytes:
    """Text after its size, which has seven bits in its first byte and in all that follow."""
    if len(text) < _ONE_BYTE:
        return bytes((len(text),)) + text
    rest, size = len(text) - _ONE_BYTE, bytearray((_ONE_BYTE,))
    while rest > _ONE_BYTE:
        size.append(rest & _ONE_BYTE | 0x80)
        rest >>= 7
    size.append(rest)
    return bytes(size) + text

"""gzip: messages that clients compress, decompressed in slices and no further than they declare.

gRPC's core is configured to pass messages on as they arrive (see channel_args), because it would
decompress them before the server can count their bytes. The core also hides the grpc-encoding
header, so a gzip message is recognized by its first two bytes: a protobuf message cannot begin with
them, because 0x1f is a tag of wire type 7, which does not exist. The header of deflate (0x78) is a
valid tag, so deflate stays disabled.
"""

import zlib
from collections.abc import Iterator
from typing import Final

# About half a millisecond of CPU time.
SLICE_BYTES: Final = 256 * 1024
_MAGIC: Final = b"\x1f\x8b"
# RFC 1952: a member ends with the size of its content, modulo 2^32.
_SIZE_BYTES: Final = 4
# zlib's wbits for a gzip header and trailer.
_GZIP: Final = 16 + zlib.MAX_WBITS
# The decompressor copies the input that it has not consumed yet.
_INPUT_BYTES: Final = 64 * 1024


def is_gzip(message: bytes) -> bool:
    """Report whether a message is compressed."""
    return message.startswith(_MAGIC)


def declared_size(message: bytes) -> int:
    """Return the decompressed size in bytes that a gzip message declares in its trailer."""
    return int.from_bytes(message[-_SIZE_BYTES:], "little")


def decompress(message: bytes) -> Iterator[bytes]:
    """Yield the content of a gzip message in slices of at most SLICE_BYTES.

    The slices together have exactly the declared size. Raises ValueError with the reason for a
    message that is not one complete gzip member of that size.
    """
    size = declared_size(message)
    decompressor = zlib.decompressobj(wbits=_GZIP)
    total = position = 0
    while not decompressor.eof:
        data = decompressor.unconsumed_tail
        if not data:
            data = message[position : position + _INPUT_BYTES]
            position += len(data)
        try:
            output = decompressor.decompress(data, SLICE_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        total += len(output)
        if total > size:
            raise ValueError(f"it has more than the {size} bytes that it declares")
        # All of the input is consumed, and the stream goes on.
        if not data and not output and not decompressor.eof:
            raise ValueError("it is truncated")
        yield output
    if decompressor.unused_data or position < len(message):
        raise ValueError("data follow the gzip stream")

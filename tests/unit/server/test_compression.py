"""gzip messages: slices, and the bound of what they declare. Corrupt ones are in test_grpc.py."""

import gzip
import hashlib
import zlib

import pytest

from function_script.server import admission

CONTENTS = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"x", id="a byte"),
    pytest.param(bytes(admission.SLICE_BYTES), id="one slice"),
    pytest.param(bytes(10_000_000), id="zeros"),
    pytest.param(hashlib.shake_128(b"").digest(3_000_001), id="random bytes"),
]


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("content", CONTENTS)
def test_message_is_decompressed_in_slices(content: bytes, level: int) -> None:
    message = gzip.compress(content, level, mtime=0)
    slices = list(admission.decompress(message))
    assert admission.is_gzip(message)
    assert admission.declared_size(message) == len(content)
    assert b"".join(slices) == content
    assert max(map(len, slices)) <= admission.SLICE_BYTES


def test_decompression_stops_at_the_declared_size() -> None:
    """One slice is enough to notice it."""
    message = gzip.compress(bytes(10_000_000), mtime=0)[:-4] + (5).to_bytes(4, "little")
    with pytest.raises(ValueError, match="more than the 5 bytes"):
        next(admission.decompress(message))


def test_message_of_empty_blocks_is_decompressed_in_many_slices() -> None:
    """It declares nothing, and is large itself."""
    compressor = zlib.compressobj(wbits=31)
    blocks = b"".join(compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    message = blocks + b"\x00\x00\x00\xff\xff" * 100_000 + compressor.flush()
    slices = list(admission.decompress(message))
    assert b"".join(slices) == b""
    assert len(slices) >= 7

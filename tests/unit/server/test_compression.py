"""gzip messages that declare less than they are. Corrupt ones are in test_grpc.py."""

import zlib

from function_script.server import admission


def test_message_of_empty_blocks_is_decompressed_in_many_slices() -> None:
    """It declares nothing, and is large itself."""
    compressor = zlib.compressobj(wbits=31)
    blocks = b"".join(compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    message = blocks + b"\x00\x00\x00\xff\xff" * 100_000 + compressor.flush()
    slices = list(admission.decompress(message))
    assert b"".join(slices) == b""
    assert len(slices) >= 7

"""Archives that are the same bytes on every machine and at every time."""

import io
import struct
import tarfile
import zlib
from collections.abc import Mapping
from typing import Final

_MODE: Final = 0o644
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_MAX_STORED: Final = 0xFFFF


def tar(files: Mapping[str, bytes]) -> bytes:
    """Write an archive of plain files in their order, owned by root, with the time 0.

    The format is USTAR: readers of packages expect one 512-byte header for each file.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = _MODE
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def gzip_stored(data: bytes) -> bytes:
    """Write gzip without compression, so that the bytes do not depend on a compressor."""
    starts = range(0, len(data), _MAX_STORED)
    chunks = [data[start : start + _MAX_STORED] for start in starts] or [b""]
    blocks = [
        struct.pack("<BHH", index == len(chunks) - 1, len(chunk), len(chunk) ^ 0xFFFF) + chunk
        for index, chunk in enumerate(chunks)
    ]
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return b"".join([_GZIP_HEADER, *blocks, trailer])


def gzip_compressed(data: bytes) -> bytes:
    """Compress large data; the bytes are the same for one version of zlib."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(data) + compressor.flush()
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return _GZIP_HEADER + body + trailer


def is_gzip(data: bytes) -> bool:
    """Report whether ``data`` is compressed with gzip."""
    return data.startswith(_GZIP_MAGIC)


def is_zstd(data: bytes) -> bool:
    """Report whether ``data`` is compressed with zstd, which Crossplane does not read."""
    return data.startswith(_ZSTD_MAGIC)

"""Bounded decompression: a few megabytes of gzip can expand to many gigabytes.

All errors are ValueErrors with the cause.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol

MIB: Final = 1 << 20
# Layers of real images are 2 to 20 times as large as their gzip.
_MAX_RATIO: Final = 100
_FREE_BYTES: Final = 256 * MIB
_CHUNK_BYTES: Final = MIB
_SPOOLED_BYTES: Final = 64 * MIB
_ERRORS: Final = (EOFError, OSError, zlib.error, lzma.LZMAError)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Budget:
    """The number of bytes that several compressed files may expand to."""

    def __init__(self, max_bytes: int) -> None:
        self._remaining = self._max_bytes = max_bytes

    @classmethod
    def of(cls, compressed_bytes: int) -> Budget:
        """Return the budget of files of this compressed size."""
        return cls(_FREE_BYTES + _MAX_RATIO * compressed_bytes)

    @property
    def readable(self) -> int:
        """Return the most bytes to read: one more than remain, to notice an excess."""
        return self._remaining + 1

    def spend(self, count: int) -> None:
        """Use up ``count`` bytes. Raises ValueError if fewer remain."""
        self._remaining -= count
        if self._remaining < 0:
            raise ValueError(f"it expands to more than {self._max_bytes // MIB} MiB")


class Bounded(io.RawIOBase):
    """A file to read once, forward, within a budget."""

    def __init__(self, file: _Readable, budget: Budget) -> None:
        super().__init__()
        self._file = file
        self._budget = budget

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Read the next bytes. Raises ValueError if they are too many or corrupt."""
        count = self._budget.readable if size < 0 else min(size, self._budget.readable)
        try:
            data = self._file.read(count)
        except _ERRORS as error:
            raise ValueError(f"its compression is broken: {error}") from error
        self._budget.spend(len(data))
        return data


def gunzip(data: bytes, budget: Budget) -> Bounded:
    """Open gzip data for bounded reading."""
    return Bounded(gzip.GzipFile(fileobj=io.BytesIO(data)), budget)


def expanded_digest(data: bytes, budget: Budget) -> str:
    """Return the digest of the data in gzip. Raises ValueError."""
    digest = hashlib.sha256()
    reader = gunzip(data, budget)
    while chunk := reader.read(_CHUNK_BYTES):
        digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


@contextmanager
def open_archive(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that may be compressed as a whole. Raises ValueError and OSError."""
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        reader = _decompress(file, magic)
        if reader is None:
            yield file
            return
        budget = Budget.of(path.stat().st_size)
        with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as plain:
            shutil.copyfileobj(Bounded(reader, budget), plain, _CHUNK_BYTES)
            plain.seek(0)
            yield plain


def _decompress(file: IO[bytes], magic: bytes) -> _Readable | None:
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(file)
    if magic.startswith(b"BZh"):
        return bz2.open(file)
    return lzma.open(file) if magic == b"\xfd7zXZ\x00" else None

"""Archives: written as the same bytes on every machine, and expanded within bounds.

A few megabytes of gzip can expand to many gigabytes. All errors of reading are ValueErrors with the
cause.
"""

import gzip
import hashlib
import importlib
import io
import os
import shutil
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, BinaryIO, Final, Self, cast

_MODE: Final = 0o644
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_MAX_STORED: Final = 0xFFFF
MIB: Final = 1 << 20
# Layers of real images are 2 to 20 times as large as their gzip.
_MAX_RATIO: Final = 100
_FREE_BYTES: Final = 256 * MIB
_CHUNK_BYTES: Final = MIB
_SPOOLED_BYTES: Final = 64 * MIB
# Python 3.14 reads zstd, and before that the package backports.zstd does. The package zstandard is
# not among them: it takes data that is cut off for whole.
_ZSTD_MODULES: Final = ("compression.zstd", "backports.zstd")
_MAX_HEADER_BYTES: Final = MIB
_HEADERS: Final = {
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}
_ERRORS: Final = (EOFError, OSError, zlib.error)


def tar(files: Mapping[str, bytes]) -> bytes:
    """Write an archive of plain files in their order, owned by root, with the time 0.

    The format is USTAR: readers of packages expect one 512-byte header for each file. Raises
    ValueError for a name that does not fit into it.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = _MODE
            try:
                archive.addfile(member, io.BytesIO(data))
            except ValueError as error:
                raise ValueError(f'the name "{name}" is too long for an archive') from error
    return buffer.getvalue()


def gzip_stored(data: bytes) -> bytes:
    """Write gzip without compression, so that the bytes do not depend on a compressor."""
    # Level 0 of zlib would do, but its builds cut the data into blocks of different sizes.
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
    # The header of `gzip.compress` names the system, and other versions of Python name another one.
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


class Budget:
    """The number of bytes that several compressed files may expand to."""

    def __init__(self, max_bytes: int) -> None:
        self._remaining = self._max_bytes = max_bytes

    @classmethod
    def of(cls, compressed_bytes: int) -> Self:
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


class Bounded:
    """A file to read once, forward, within a budget; ``errors`` say that it is broken."""

    def __init__(
        self, file: io.BufferedIOBase, budget: Budget, errors: tuple[type[Exception], ...] = _ERRORS
    ) -> None:
        self._file = file
        self._budget = budget
        self._errors = errors

    def read(self, size: int = -1, /) -> bytes:
        """Read the next bytes. Raises ValueError if they are too many or corrupt."""
        count = self._budget.readable if size < 0 else min(size, self._budget.readable)
        try:
            data = self._file.read(count)
        except self._errors as error:
            raise ValueError(f"its compression is broken: {error}") from error
        self._budget.spend(len(data))
        return data


def gunzip(data: bytes, budget: Budget) -> Bounded:
    """Open gzip data for bounded reading."""
    return Bounded(gzip.GzipFile(fileobj=io.BytesIO(data)), budget)


def _unzstd(data: bytes, budget: Budget) -> Bounded:
    # The library refuses a window of more than 128 MiB, so that memory is bounded.
    for name in _ZSTD_MODULES:
        with suppress(ImportError):
            module = importlib.import_module(name)
            errors = (*_ERRORS, module.ZstdError)
            return Bounded(module.ZstdFile(io.BytesIO(data)), budget, errors)
    raise ValueError(
        "a layer is compressed with zstd, which needs the extra zstd or Python 3.14; "
        "container runtimes read it, too"
    )


class Member(tarfile.TarInfo):
    """A member whose extended headers are bounded: they are read into memory, by recursion."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _HEADERS and self.size > _MAX_HEADER_BYTES:
            raise ValueError(f"a header of its archive has more than {_MAX_HEADER_BYTES:,} bytes")
        try:
            return cast("tarfile.TarInfo", super()._proc_member(archive))  # type: ignore[misc] # its documented hook
        except RecursionError as error:
            raise ValueError("a file of its archive has too many headers") from error


class _Layer(tarfile.TarFile):
    tarinfo = Member

    def next(self) -> tarfile.TarInfo | None:
        """Return the next member; an archive of the library's own keeps all of them."""
        self.members: list[tarfile.TarInfo] = []
        return super().next()


@contextmanager
def open_layer(data: bytes, budget: Budget) -> Iterator[tarfile.TarFile]:
    """Open the archive in a layer, which may be compressed with gzip or zstd. Raises ValueError.

    Its members can be read once, and in their order.
    """
    reader: IO[bytes] = io.BytesIO(data)
    if is_gzip(data):
        reader = cast("IO[bytes]", gunzip(data, budget))
    elif is_zstd(data):
        reader = cast("IO[bytes]", _unzstd(data, budget))
    try:
        # A stream: the bounded readers cannot go back.
        with _Layer.open(fileobj=reader, mode="r|") as archive:
            yield archive
    except tarfile.TarError as error:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        raise ValueError(f"its layer {digest} is no archive: {error}") from error


def expanded_digest(data: bytes, budget: Budget) -> str:
    """Return the digest of the data in gzip. Raises ValueError."""
    digest = hashlib.sha256()
    reader = gunzip(data, budget)
    while chunk := reader.read(_CHUNK_BYTES):
        digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


@contextmanager
def open_archive(file: BinaryIO) -> Iterator[IO[bytes]]:
    """Open the data of a file, which may be in gzip as a whole. Raises ValueError, OSError."""
    magic = file.read(len(_GZIP_MAGIC))
    file.seek(0)
    if not is_gzip(magic):
        yield file
        return
    budget = Budget.of(os.fstat(file.fileno()).st_size)
    # Who reads an archive goes back in it, which a compressed file cannot.
    with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as plain:
        shutil.copyfileobj(Bounded(gzip.GzipFile(fileobj=file), budget), plain, _CHUNK_BYTES)
        plain.seek(0)
        yield plain

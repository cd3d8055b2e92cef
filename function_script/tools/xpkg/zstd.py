"""Data compressed with zstd: Python 3.14 reads it, and before that the package backports.zstd."""

import importlib
import io
from typing import IO, Final, Protocol

# The package zstandard is not among them: it takes data that is cut off for whole.
_MODULES: Final = ("compression.zstd", "backports.zstd")


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read the next bytes, at most ``size``."""


class _Reader:
    """A stream whose errors are OSErrors, as those of other compressions are."""

    def __init__(self, stream: Readable, error: type[Exception]) -> None:
        self._stream = stream
        self._error = error

    def read(self, size: int, /) -> bytes:
        """Read the next bytes, at most ``size``."""
        try:
            return self._stream.read(size)
        except self._error as error:
            raise OSError(str(error)) from error


def open_stream(data: bytes) -> Readable | None:
    """Open compressed data for reading; None where nothing can read it.

    The library refuses a window of more than 128 MiB, so that memory is bounded.
    """
    file: IO[bytes] = io.BytesIO(data)
    for name in _MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return _Reader(module.ZstdFile(file), module.ZstdError)
    return None

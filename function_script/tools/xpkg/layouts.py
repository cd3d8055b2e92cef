"""Read the files of a saved image from a directory or an archive.

A name in an image cannot reach a file outside of it.
"""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final, Protocol

from function_script.tools.xpkg import expansion

_MAX_MEMBERS: Final = 100_000


class Layout(Protocol):
    """The files of an image by their names."""

    def find(self, name: str, max_bytes: int) -> bytes | None:
        """Read a file; None if there is none. Raises ValueError if it exceeds ``max_bytes``."""


@contextmanager
def open_layout(path: Path) -> Iterator[Layout]:
    """Open a directory or an archive. Raises ValueError, OSError and tarfile.TarError."""
    if path.is_dir():
        yield _Directory(path)
        return
    with (
        expansion.open_archive(path) as file,
        tarfile.open(fileobj=file, mode="r:") as archive,
    ):
        yield _Archive(archive)


class _Directory:
    def __init__(self, directory: Path) -> None:
        self._directory = directory.resolve()

    def find(self, name: str, max_bytes: int) -> bytes | None:
        path = (self._directory / _check_name(name)).resolve()
        if not path.is_relative_to(self._directory):
            raise ValueError(f'its file "{name}" is a link to a file outside of it')
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return _read(file, name, path.stat().st_size, max_bytes)


class _Archive:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._members: dict[str, tarfile.TarInfo] = {}
        for count, member in enumerate(archive):
            if count >= _MAX_MEMBERS:
                raise ValueError(f"it holds more than {_MAX_MEMBERS:,} files")
            # `tar cf image.tar .` writes "./index.json".
            self._members[str(PurePosixPath(member.name))] = member

    def find(self, name: str, max_bytes: int) -> bytes | None:
        member = self._members.get(str(PurePosixPath(_check_name(name))))
        if member is None:
            return None
        if member.issparse():
            raise ValueError(f'its file "{name}" is sparse, which no image has')
        file = self._archive.extractfile(member)
        return None if file is None else _read(file, name, member.size, max_bytes)


def _check_name(name: str) -> str:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"it names a file {name[:100]!r}, which is not one of its own")
    return name


def _read(file: IO[bytes], name: str, size: int, max_bytes: int) -> bytes:
    if size > max_bytes:
        raise ValueError(f'its file "{name}" has more than {max_bytes:,} bytes')
    return file.read(size)

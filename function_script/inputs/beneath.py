"""Files and directories beneath a root, opened so that no link leads out of it.

A path is resolved first, and the result must be beneath the root. The resolved path is then opened
part by part, and no part may be a link. A link that somebody puts into its place in between is
therefore never followed. A root is a path without links.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar

_T = TypeVar("_T")

# Kubernetes replaces a mounted ConfigMap by a rename, which may happen between two calls.
_ATTEMPTS: Final = 5
_CHANGED: Final = {errno.ELOOP, errno.ENOTDIR, errno.ENOENT}
# Windows has neither descriptors of directories nor the flag.
_HAS_DESCRIPTORS: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DIRECTORY: Final = _NO_LINK | getattr(os, "O_DIRECTORY", 0)
# A directory above a file need not be readable.
_PARENT: Final = _DIRECTORY | getattr(os, "O_PATH", 0)
# Opening a pipe must not wait for whoever writes to it.
_FILE: Final = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)
_NEW_FILE_MODE: Final = 0o644
_NOT_REGULAR: Final = "it is no regular file"
# The schemas of a large provider have a fifth of it.
_MAX_BYTES: Final = 256 << 20
_CHUNK_BYTES: Final = 1 << 20


class OutsideError(Exception):
    """A path leads to ``target``, which is not beneath the root."""

    def __init__(self, target: Path) -> None:
        super().__init__()
        self.target = target


class Entry(NamedTuple):
    """A name in a directory. ``is_directory`` is not true of a link; ``is_file`` may be."""

    name: str
    is_directory: bool
    is_file: bool


class _Directory(NamedTuple):
    """An open directory; without descriptors, its path."""

    descriptor: int | None
    path: str

    def name(self, name: str) -> str:
        """Return what names an entry, together with ``descriptor``."""
        return f"{self.path}/{name}" if self.descriptor is None else name

    def find_mode(self, name: str) -> int | None:
        """Return the mode of an entry, which may be a link; None if there is none."""
        try:
            path = self.name(name)
            return os.stat(path, dir_fd=self.descriptor, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None


def resolve(path: Path) -> Path:
    """Return the absolute path without links. Raises OSError."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from error


def read(roots: Sequence[Path], path: Path) -> bytes:
    """Return the bytes of a regular file beneath a root, or that is one.

    Raises OutsideError, OSError.
    """
    with open_file(roots, path) as file:
        return read_bounded(file)


def open_file(roots: Sequence[Path], path: Path) -> BinaryIO:
    """Open a regular file beneath a root, or that is one. Raises OutsideError, OSError."""
    return _visit(roots, path, _open)


def read_bounded(file: BinaryIO) -> bytes:
    """Return the bytes of a file. Raises OSError for too many: a sparse file costs nothing."""
    chunks: list[bytes] = []
    # A pipe has no size, and a file may grow while it is read.
    size_bytes = os.fstat(file.fileno()).st_size
    while size_bytes <= _MAX_BYTES:
        chunk = file.read(_CHUNK_BYTES)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size_bytes = len(chunks) * _CHUNK_BYTES
    raise OSError(errno.EFBIG, f"it is larger than {_MAX_BYTES >> 20} megabytes")


def list_entries(roots: Sequence[Path], path: Path) -> list[Entry]:
    """Return the entries of a directory beneath a root, by name. Raises OutsideError, OSError."""
    return _visit(roots, path, _list_entries)


def replace(
    root: Path,
    parts: Sequence[str],
    data: bytes | None,
    *,
    makes_parents: bool = False,
    mode: int = _NEW_FILE_MODE,
) -> None:
    """Put a file with ``data`` at ``parts`` below ``root``, over a regular file that is there.

    ``makes_parents``: directories that are missing are made. No part may be a link. A file keeps
    its permissions, a new one has those of ``mode``, and it is never seen half written. Raises
    OSError, also without ``data``, which changes nothing.
    """
    if not parts or ".." in parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    *parents, name = parts
    temporary = f".{os.urandom(8).hex()}.tmp"
    if makes_parents:
        for index, parent in enumerate(parents):
            with _open_directory(root, parents[:index], _PARENT) as directory:
                at = directory.descriptor
                with suppress(FileExistsError):
                    os.mkdir(directory.name(parent), dir_fd=at)
    with _open_directory(root, parents, _PARENT) as directory:
        before = directory.find_mode(name)
        if before is not None and not stat.S_ISREG(before):
            raise OSError(errno.ELOOP, "it is a link" if stat.S_ISLNK(before) else _NOT_REGULAR)
        if before is not None and not before & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "the file is read-only")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
        at = directory.descriptor
        descriptor = os.open(directory.name(temporary), flags, mode, dir_fd=at)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if before is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, stat.S_IMODE(before))
                file.write(data or b"")
                file.flush()
                # On the disk before the rename: after a crash the name has all of the old or of the
                # new bytes.
                os.fsync(descriptor)
            old, new = directory.name(temporary), directory.name(name)
            if data is not None:
                os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)
        finally:
            with suppress(OSError):
                os.unlink(directory.name(temporary), dir_fd=at)


def find_root(roots: Sequence[Path], target: Path) -> Path:
    """Return the root that a path without links is beneath. Raises OutsideError."""
    for root in roots:
        if target.is_relative_to(root):
            return root
    raise OutsideError(target)


def _visit(roots: Sequence[Path], path: Path, visit: Callable[[Path, Sequence[str]], _T]) -> _T:
    """Call ``visit`` with the parts of the path without links, again if they change meanwhile."""
    attempt = 0
    while True:
        attempt += 1
        target = resolve(path)
        root = find_root(roots, target)
        try:
            return visit(root, target.relative_to(root).parts)
        except OSError as error:
            if error.errno not in _CHANGED or attempt == _ATTEMPTS:
                raise


def _open(root: Path, parts: Sequence[str]) -> BinaryIO:
    *parents, name = parts or (root.name,)
    with _open_directory(root if parts else root.parent, parents, _PARENT) as directory:
        # Opening a device may do something.
        _check_regular(directory.find_mode(name))
        path, at = directory.name(name), directory.descriptor
        descriptor = os.open(path, os.O_RDONLY | _FILE | _BINARY, dir_fd=at)
        file = os.fdopen(descriptor, "rb")
        try:
            # Once more, of what was opened: the name may have been given to another file meanwhile.
            _check_regular(os.fstat(descriptor).st_mode)
        except OSError:
            file.close()
            raise
        return file


def _check_regular(mode: int | None) -> None:
    """Raise OSError for what is there and no regular file; a link was put there meanwhile."""
    if mode is None or stat.S_ISREG(mode):
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, _NOT_REGULAR)


def _list_entries(root: Path, parts: Sequence[str]) -> list[Entry]:
    with _open_directory(root, parts, os.O_RDONLY | _DIRECTORY) as directory:
        place = directory.path if directory.descriptor is None else directory.descriptor
        with os.scandir(place) as entries:
            return sorted(
                Entry(each.name, each.is_dir(follow_symlinks=False), each.is_file())
                for each in entries
            )


@contextmanager
def _open_directory(root: Path, parts: Sequence[str], flags: int) -> Iterator[_Directory]:
    """Open a directory at ``parts`` below ``root``; no part may be a link. Raises OSError."""
    path = str(root.joinpath(*parts))
    if not _HAS_DESCRIPTORS:
        yield _Directory(None, path)
        return
    descriptor = os.open(root, flags if not parts else _PARENT)
    try:
        for index, part in enumerate(parts, 1):
            is_last = index == len(parts)
            below = os.open(part, flags if is_last else _PARENT, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield _Directory(descriptor, path)
    finally:
        os.close(descriptor)

"""Programs in directories: reads the files below a root that the operator allows.

Called for inputs with ``source: FileSystem``. A directory is read again only when it changed.
Kubernetes mounts a ConfigMap as links into a hidden directory: links are followed as long as
they stay below the root, and hidden names are skipped.
"""

from __future__ import annotations

import stat
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.cache import ByteLruCache
from function_script.diagnostics import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_FILES = 1_000
_MAX_BYTES = 8 << 20
_MAX_DEPTH = 10
_MAX_SHOWN_BYTES = 200
_CACHE_BYTES = 64 << 20
_MAX_CACHED_DIRECTORIES = 64

# What tells two states of a file apart without reading it: path, inode, size, time of change.
Signature = tuple[tuple[str, int, int, int], ...]


class Files:
    """The directories below ``root``; without a root nothing can be read."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._texts: ByteLruCache[str, tuple[Signature, Mapping[str, str]]] = ByteLruCache(
            _CACHE_BYTES, max_entries=_MAX_CACHED_DIRECTORIES
        )

    def read(self, dir_path: str) -> Mapping[str, str]:
        """Every file's text below ``dir_path`` by its relative path, in the order of a walk.

        ``dir_path`` is absolute or relative to the root. Raises ValueError "cannot …" when it
        is outside, absent, too large, or holds something else than UTF-8 text.
        """
        directory, inside = self._find(dir_path)
        signature = tuple(islice(_walk(directory, inside), _MAX_FILES + 1))
        cached = self._texts.get(dir_path)
        if cached is not None and cached[0] == signature:
            return cached[1]
        _check_size(dir_path, signature)
        texts = {name: _text(directory, name) for name, *_ in signature}
        size_bytes = sum(size for _, _, size, _ in signature)
        self._texts.put(dir_path, (signature, texts), size_bytes)
        return texts

    def _find(self, dir_path: str) -> tuple[Path, Path]:
        """The real directory, and the real root it must not leave."""
        if self.root is None:
            raise ValueError(f'cannot read "{dir_path}": no directory is allowed')
        root = self.root.resolve()
        try:
            directory = (root / dir_path).resolve()
            # One answer for outside and for absent: an input must not be able to probe for paths.
            is_readable = directory.is_relative_to(root) and directory.is_dir()
        except (OSError, ValueError) as error:
            shown = cut(dir_path, _MAX_SHOWN_BYTES)
            raise ValueError(f'cannot read "{shown}": {_cause(error)}') from error
        if not is_readable:
            raise ValueError(f'cannot find directory "{dir_path}" below the program root')
        return directory, root


@cache
def files_below(root: str | None) -> Files:
    """The one Files of a process for a root, for it remembers what it has read."""
    return Files(None if root is None else Path(root))


def _walk(
    directory: Path, root: Path, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, int, int, int]]:
    if depth > _MAX_DEPTH:
        raise ValueError(f'cannot read "{prefix}": deeper than {_MAX_DEPTH} directories')
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError as error:
        raise ValueError(f'cannot read directory "{prefix or "."}": {_cause(error)}') from error
    for name in names:
        if not name.startswith("."):
            yield from _entry(directory / name, root, prefix + name, depth)


def _entry(path: Path, root: Path, name: str, depth: int) -> Iterator[tuple[str, int, int, int]]:
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        raise ValueError(f'cannot read "{name}": it leads outside of the program root')
    try:
        found = path.stat()
    except OSError as error:
        raise ValueError(f'cannot read "{name}": {_cause(error)}') from error
    if stat.S_ISDIR(found.st_mode):
        yield from _walk(path, root, f"{name}/", depth + 1)
    elif stat.S_ISREG(found.st_mode):
        yield name, found.st_ino, found.st_size, found.st_mtime_ns


def _check_size(dir_path: str, signature: Signature) -> None:
    if len(signature) > _MAX_FILES:
        raise ValueError(f'cannot read "{dir_path}": more than {_MAX_FILES:,} files')
    if sum(size for _, _, size, _ in signature) > _MAX_BYTES:
        raise ValueError(f'cannot read "{dir_path}": more than {_MAX_BYTES >> 20} MiB')


def _text(directory: Path, name: str) -> str:
    try:
        return (directory / name).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f'cannot read "{name}": it is not UTF-8 text') from error
    except OSError as error:
        raise ValueError(f'cannot read "{name}": {_cause(error)}') from error


def _cause(error: Exception) -> str:
    """The system's words without the absolute path, which is the operator's business."""
    strerror = getattr(error, "strerror", None)
    return str(strerror or error).lower()

"""Programs in directories below a root that the operator allows (``source: FileSystem``).

A directory is read again only when it changed. Kubernetes mounts a ConfigMap as links into a
hidden directory: links are followed as long as they stay below the root, and hidden names are
skipped.
"""

import stat
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

from function_script.inputs import beneath
from function_script.request.cache import ByteLruCache
from function_script.texts.diagnostics import cut
from function_script.texts.errors import cause_of

_MAX_FILES = 1_000
_MAX_BYTES = 8 << 20
_MAX_DEPTH = 10
_MAX_SHOWN_BYTES = 200
_MAX_READS = 3
_CACHE_BYTES = 64 << 20
_MAX_CACHED_DIRECTORIES = 64
_OUTSIDE = "it leads outside of the program root"

# Path, inode, size, and the times of modification and of change of each file. A copy over a file
# may leave it all but the last one, which Windows does not have.
_State = tuple[str, int, int, int, int]
Signature = tuple[_State, ...]


class Files:
    """Directories below ``root``, which may be a link that moves; without a root none is read."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._cache: ByteLruCache[str, tuple[Signature, Mapping[str, str]]] = ByteLruCache(
            _CACHE_BYTES, max_entries=_MAX_CACHED_DIRECTORIES
        )

    def read(self, dir_path: str, top: str = ".") -> Mapping[str, str]:
        """Return every file's text below ``dir_path`` by its relative path, in walk order.

        ``top`` is the directory's name in an error about its list of files. Raises ValueError
        "cannot …" when it is outside, absent, too large, or holds something else than UTF-8 text.
        """
        directory, inside = self._find(dir_path)
        for _ in range(_MAX_READS):
            # One file more than allowed is enough to refuse a directory of any size.
            signature = tuple(islice(_walk(directory, inside, top), _MAX_FILES + 1))
            cached = self._cache.get(dir_path)
            if cached is not None and cached[0] == signature:
                return cached[1]
            _check_size(dir_path, signature)
            texts = {name: _read_text(directory, inside, name) for name, *_ in signature}
            # Old files beside new ones are a program that nobody wrote: it may lack a resource.
            if signature == tuple(islice(_walk(directory, inside, top), _MAX_FILES + 1)):
                size_bytes = sum(size for _, _, size, *_ in signature)
                self._cache.put(dir_path, (signature, texts), size_bytes)
                return texts
        raise ValueError(f'cannot read "{dir_path}": its files change while they are read')

    def _find(self, dir_path: str) -> tuple[Path, Path]:
        """Return the directory without links, and the root that it is below."""
        if self.root is None:
            raise ValueError(f'cannot read "{dir_path}": no directory is allowed')
        try:
            root = beneath.resolve(self.root)
            directory = find_directory(root, dir_path)
        except (OSError, ValueError) as error:
            name = cut(dir_path, _MAX_SHOWN_BYTES)
            raise ValueError(f'cannot read "{name}": {cause_of(error)}') from error
        if directory is None:
            # The same error for outside and absent: an input must not probe for paths.
            raise ValueError(f'cannot find directory "{dir_path}" below the program root')
        return beneath.resolve(directory), root


def find_directory(root: Path, dir_path: str) -> Path | None:
    """Return a directory below ``root``, a path without links; None: it is absent or outside.

    An absolute path is the place of a mount, or begins at the root: a mount of a pod is another
    directory where an author keeps the programs.
    """
    for place in (root / dir_path, root / dir_path.lstrip("/")):
        directory = beneath.resolve(place)
        if directory.is_relative_to(root) and directory.is_dir():
            return place
    return None


@cache
def files_below(root: str | None) -> Files:
    """Return the process's one Files for a root, with its cache."""
    return Files(None if root is None else Path(root))


def _walk(
    directory: Path, root: Path, top: str, prefix: str = "", depth: int = 0
) -> Iterator[_State]:
    if depth > _MAX_DEPTH:
        raise ValueError(f'cannot read "{prefix}": deeper than {_MAX_DEPTH} directories')
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError as error:
        raise ValueError(f'cannot read directory "{prefix or top}": {cause_of(error)}') from error
    for path in (directory / name for name in names if not name.startswith(".")):
        name = prefix + path.name
        if path.is_symlink() and not beneath.resolve(path).is_relative_to(root):
            raise ValueError(f'cannot read "{name}": {_OUTSIDE}')
        try:
            status = path.stat()
        except OSError as error:
            raise ValueError(f'cannot read "{name}": {cause_of(error)}') from error
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(path, root, top, f"{name}/", depth + 1)
        elif stat.S_ISREG(status.st_mode):
            yield name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _check_size(dir_path: str, signature: Signature) -> None:
    if len(signature) > _MAX_FILES:
        raise ValueError(f'cannot read "{dir_path}": more than {_MAX_FILES:,} files')
    if sum(size for _, _, size, *_ in signature) > _MAX_BYTES:
        raise ValueError(f'cannot read "{dir_path}": more than {_MAX_BYTES >> 20} MiB')


def _read_text(directory: Path, root: Path, name: str) -> str:
    try:
        return beneath.read((root,), directory / name).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f'cannot read "{name}": it is not UTF-8 text') from error
    except beneath.OutsideError as error:
        raise ValueError(f'cannot read "{name}": {_OUTSIDE}') from error
    except OSError as error:
        raise ValueError(f'cannot read "{name}": {cause_of(error)}') from error

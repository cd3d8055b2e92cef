"""Saving of a file of the page: atomic, and never over a version that the page has not seen."""

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from function_script.errors import InputError
from function_script.tools.playground import folders

_NEW_FILE_MODE: Final = 0o644
_MAX_QUOTED: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The file has another version on disk than the page has seen; None: it was deleted."""

    current: folders.File | None


class Saver:
    """Writes files of folders at and below ``root``, and no others."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lock = threading.Lock()

    def save(
        self, folder: folders.Folder, name: str, text: str, digest: str | None
    ) -> str | Conflict:
        """Write a file and return its digest, if its digest on disk is ``digest``.

        ``digest`` None: the file must not exist. Raises InputError for a file that is not the
        folder's, and when it cannot be written.
        """
        with self._lock:
            target = self._find_target(folder, name)
            try:
                current = folders.File.of(target.read_bytes()) if target.exists() else None
                if (None if current is None else current.digest) != digest:
                    return Conflict(current=current)
                data = text.encode() if current is None else current.encode(text)
                _replace(target, data)
            except folders.UnfitError as error:
                raise InputError.of(f'cannot save "{name}": {error}') from error
            except OSError as error:
                cause = (error.strerror or str(error)).lower()
                raise InputError.of(f'cannot save "{name}": {cause}') from error
        return folders.to_digest(data)

    def _find_target(self, folder: folders.Folder, name: str) -> Path:
        """Return the file behind a name, which may be a link to another file below the root."""
        if folder.directory is None:
            raise InputError.of(
                f'cannot save "{name}": a starter is no folder on disk',
                hint="make a project of it: function-script init my-project",
            )
        if name not in folders.ADDABLE and name not in folder.opened_names:
            raise InputError.of(f'cannot save "{name[:_MAX_QUOTED]}": the page has not opened it')
        target = (folder.directory / name).resolve()
        if not target.is_relative_to(self._root):
            raise InputError.of(
                f'cannot save "{name}": it is a link to a file outside {self._root}'
            )
        return target


def _replace(target: Path, data: bytes) -> None:
    """Write a file beside the target and put it in its place, with the same permissions."""
    mode = target.stat().st_mode & 0o7777 if target.exists() else _NEW_FILE_MODE
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "the file is read-only")
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

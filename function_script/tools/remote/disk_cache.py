"""Contents on disk, each in a file named by its reference and the scope of its credentials.

A file has the digest of its content, so that a broken one is fetched again. Whoever can write into
the directory can write programs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from function_script.remote.store import FetchKey

_MAX_BYTES: Final = 256 << 20
_HASH_BYTES: Final = 32
# A name must not tell a weak password: of each guess, the hash takes a twentieth of a second.
_SCRYPT_COST: Final = 1 << 14


class DiskCache:
    """The contents below ``directory``, the least recently used ones removed beyond a bound."""

    def __init__(self, directory: Path, max_bytes: int = _MAX_BYTES) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def find(self, key: FetchKey) -> bytes | None:
        """Return encoded content; None for one that is not there or is broken."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        payload = data[_HASH_BYTES:]
        if hashlib.sha256(payload).digest() != data[:_HASH_BYTES]:
            return None
        with suppress(OSError):
            os.utime(path)
        return payload

    def put(self, key: FetchKey, payload: bytes) -> None:
        """Store content; without room on the disk it is not stored."""
        path = self._path(key)
        part = ""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, part = tempfile.mkstemp(prefix=".part-", dir=path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            Path(part).replace(path)
            self._evict()
        except OSError:
            with suppress(OSError):
                Path(part).unlink(missing_ok=True)

    def _path(self, key: FetchKey) -> Path:
        name = key.reference.key
        if key.scope:
            name = hashlib.scrypt(
                key.scope.encode(), salt=name.encode(), n=_SCRYPT_COST, r=8, p=1, dklen=_HASH_BYTES
            ).hex()
        return self._directory / name

    def _evict(self) -> None:
        files = [(path.stat(), path) for path in self._directory.iterdir() if path.is_file()]
        files.sort(key=lambda item: item[0].st_mtime)
        excess = sum(status.st_size for status, _ in files) - self._max_bytes
        for status, path in files:
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= status.st_size

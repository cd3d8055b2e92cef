"""The operator's salt: a secret from which the random functions of each XR get a seed of their own.

The file is read again when it changes. A worker only gets the seed of the XR whose request it has,
so that no program can compute the values of another one.
"""

import hmac
import logging
import os
import time
from pathlib import Path
from typing import Final

from function_script import wire
from function_script.request.renewal import RenewedFiles
from function_script.texts.errors import InputError, cause_of

_LOG = logging.getLogger(__name__)
_MIN_BYTES: Final = 16
_MAX_BYTES: Final = 64 * 1024
_CHECK_SECONDS: Final = 1.0
# Another use of the same Secret must not give the same keys.
_PURPOSE: Final = b"function-script seed v1\0"


class SaltFile:
    """The newest valid content of a file; for one thread.

    The constructor raises InputError if the file has no valid content.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next_check = time.monotonic() + _CHECK_SECONDS
        self._file = RenewedFiles("salt", self._read_version, self._read)
        self._salt = self._file.read_newest()

    def derive_seed(self, data: bytes) -> bytes:
        """Return the seed of a request's XR; it says nothing of the salt or of another seed."""
        now = time.monotonic()
        if now >= self._next_check:
            self._next_check = now + _CHECK_SECONDS
            former, self._salt = self._salt, self._file.read_newest()
            if self._salt != former:
                _LOG.info("using a new salt: random values change")
        uid = wire.read_identity(data).uid
        return hmac.digest(self._salt, _PURPOSE + uid.encode(), "sha256")

    def _read_version(self) -> tuple[int, int]:
        try:
            state = self._path.stat()
        except OSError as error:
            raise self._error(cause_of(error)) from error
        return state.st_ino, state.st_mtime_ns

    def _read(self) -> bytes:
        try:
            # A pipe would block the server.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                content = file.read(_MAX_BYTES + 1) or b""
        except OSError as error:
            raise self._error(cause_of(error)) from error
        salt = content.rstrip(b"\r\n")
        if not _MIN_BYTES <= len(salt) <= _MAX_BYTES:
            hint = "`openssl rand -base64 32` makes one"
            reason = f"its length must be from {_MIN_BYTES} to {_MAX_BYTES} bytes"
            raise self._error(reason, hint)
        return salt

    def _error(self, reason: str, hint: str | None = None) -> InputError:
        return InputError.of(f'cannot read the salt "{self._path}": {reason}', hint=hint)

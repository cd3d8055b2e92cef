"""Certificates for mutual TLS: read from a directory, checked, and read again when they change.

Crossplane mounts tls.crt, tls.key and ca.crt of a secret there. Kubernetes renews a mounted
secret by swapping a symbolic link, so all three change at once.
"""

from __future__ import annotations

import logging
import ssl
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from function_script.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)
_FILES = ("tls.crt", "tls.key", "ca.crt")
_State: TypeAlias = tuple[tuple[int, int], ...]


class Content(NamedTuple):
    """What was in the three files, in PEM form."""

    certificate: bytes
    key: bytes
    authority: bytes


class Certificates:
    """A directory's certificates, as they are now; the last good ones when those are not.

    Raises InputError when there are none to begin with.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._state: _State = ()
        self._content = self._read()

    @property
    def content(self) -> Content:
        """What was read last."""
        return self._content

    def renew(self) -> bool:
        """Read what is new, and say whether that was all right. Called for each connection."""
        try:
            if self._look() == self._state:
                return False
            self._content = self._read()
        except (InputError, OSError) as error:
            _LOG.warning("keeping the old certificates: %s", error)
            return False
        _LOG.info("using renewed certificates")
        return True

    def _read(self) -> Content:
        missing = [name for name in _FILES if not (self._directory / name).is_file()]
        if missing:
            raise InputError.of(
                f'cannot read TLS certificates: "{self._directory}" lacks {", ".join(missing)}',
                hint=f"mutual TLS needs {', '.join(_FILES)}; --insecure serves in plain text",
            )
        try:
            self._state = self._look()
            self._check()
            certificate, key, authority = [(self._directory / name).read_bytes() for name in _FILES]
        except (OSError, ValueError) as error:
            raise InputError.of(
                f'cannot read TLS certificates: "{self._directory}": {error}',
                hint="tls.key must belong to tls.crt, and all three must be in PEM form",
            ) from error
        return Content(certificate, key, authority)

    def _look(self) -> _State:
        states = [(self._directory / name).stat() for name in _FILES]
        return tuple((state.st_ino, state.st_mtime_ns) for state in states)

    def _check(self) -> None:
        """Have OpenSSL complain now, not in each handshake. Raises SSLError."""
        certificate, key, authority = (str(self._directory / name) for name in _FILES)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(authority)

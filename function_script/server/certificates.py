"""The certificate files for mutual TLS: read from a directory, checked, and reloaded on change.

Crossplane mounts tls.crt, tls.key and ca.crt of a secret there. Kubernetes renews a mounted
secret by swapping a symbolic link, so all three change at once.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from function_script.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

_LOG = logging.getLogger(__name__)
_FILES = ("tls.crt", "tls.key", "ca.crt")
_Versions: TypeAlias = tuple[tuple[int, int], ...]


class Content(NamedTuple):
    """The PEM texts of the three files, and the end of the server's certificate (Unix time)."""

    certificate: bytes
    key: bytes
    authority: bytes
    not_after: float


class CertificateFiles:
    """The newest valid content of a directory. Thread-safe.

    Raises InputError when the directory has no valid content to begin with.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._last_warning = ""
        self._versions = self._read_versions()
        self._content = self._read()

    @property
    def content(self) -> Content:
        """The content that was read last."""
        return self._content

    def reload_if_changed(self) -> bool:
        """Read the files again if they have changed; return whether there is new valid content."""
        with self._lock:
            try:
                versions = self._read_versions()
                if versions == self._versions:
                    return False
                # Broken files are read once, not again for each connection.
                self._versions = versions
                self._content = self._read()
            except InputError as error:
                self._warn(str(error))
                return False
            self._last_warning = ""
        _LOG.info("using renewed certificates")
        return True

    def _warn(self, text: str) -> None:
        """Log a reason once, however many connections meet it."""
        if text != self._last_warning:
            self._last_warning = text
            _LOG.warning("keeping the old certificates: %s", text)

    def _read_versions(self) -> _Versions:
        missing = [name for name in _FILES if not (self._directory / name).is_file()]
        if missing:
            raise InputError.of(
                f'cannot read TLS certificates: "{self._directory}" lacks {", ".join(missing)}',
                hint=f"mutual TLS needs {', '.join(_FILES)}; --insecure serves in plain text",
            )
        states = [(self._directory / name).stat() for name in _FILES]
        return tuple((state.st_ino, state.st_mtime_ns) for state in states)

    def _read(self) -> Content:
        certificate, key, authority = [self._read_file(name) for name in _FILES]
        own = self._parse_certificates("tls.crt", certificate)[0]
        self._parse_certificates("ca.crt", authority)
        if _encode(self._parse_key(key)) != _encode(own.public_key()):
            hint = "tls.key must belong to tls.crt"
            raise self._error("tls.key", "it is the key of another certificate", hint)
        return Content(certificate, key, authority, own.not_valid_after_utc.timestamp())

    def _read_file(self, name: str) -> bytes:
        try:
            return (self._directory / name).read_bytes()
        except PermissionError as error:
            text = f"user {os.geteuid()} has no permission to read it"
            hint = "a secret's volume needs fsGroup or defaultMode for this user"
            raise self._error(name, text, hint) from error
        except OSError as error:
            raise self._error(name, error.strerror or str(error), None) from error

    def _parse_certificates(self, name: str, pem: bytes) -> list[x509.Certificate]:
        try:
            return x509.load_pem_x509_certificates(pem)
        except ValueError as error:
            hint = "the file must hold certificates in PEM form"
            raise self._error(name, "it holds no certificate that can be read", hint) from error

    def _parse_key(self, pem: bytes) -> PublicKeyTypes:
        try:
            return load_pem_private_key(pem, None).public_key()
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            hint = "the file must hold a private key in PEM form, without a password"
            raise self._error("tls.key", "it holds no key that can be read", hint) from error

    def _error(self, name: str, reason: str, hint: str | None) -> InputError:
        path = self._directory / name
        return InputError.of(f'cannot read TLS certificates: "{path}": {reason}', hint=hint)


def _encode(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

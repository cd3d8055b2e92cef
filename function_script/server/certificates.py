"""The certificate files for mutual TLS: read from a directory, checked, and reloaded on change.

Crossplane mounts tls.crt, tls.key and ca.crt of a Secret there. Kubernetes renews a mounted
Secret by swapping a symbolic link, so all three change at once.
"""

import datetime as dt
import logging
import os
import stat
from pathlib import Path
from typing import NamedTuple, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

from function_script.request.renewal import RenewedFiles
from function_script.texts.errors import InputError, cause_of

_LOG = logging.getLogger(__name__)
_FILES = ("tls.crt", "tls.key", "ca.crt")
# BoringSSL fails handshakes with other curves and kinds of keys, and reports no reason.
_CURVES = (ec.SECP256R1, ec.SECP384R1)
_Versions: TypeAlias = tuple[tuple[int, int], ...]


class Content(NamedTuple):
    """The three files as PEM, and the end of the server's certificate (Unix time).

    The PEM is encoded from the parsed certificates and key, so gRPC reads only data that was
    checked.
    """

    certificate: bytes
    key: bytes
    authority: bytes
    not_after: float


class CertificateFiles:
    """The newest valid content of a directory. Thread-safe.

    The constructor raises InputError if the directory has no valid content.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        files = RenewedFiles("certificates", self._read_versions, self._read)
        self.read_newest = files.read_newest
        """Return the content, another object after the files have changed."""

    def _read_versions(self) -> _Versions:
        states = {name: self._stat(name) for name in _FILES}
        files = [state for state in states.values() if state and stat.S_ISREG(state.st_mode)]
        if len(files) < len(_FILES):
            missing = [name for name, state in states.items() if state not in files]
            raise InputError.of(
                f'cannot read TLS certificates: "{self._directory}" lacks {", ".join(missing)}',
                hint=f"mutual TLS needs {', '.join(_FILES)}; --insecure serves in plain text",
            )
        return tuple((state.st_ino, state.st_mtime_ns) for state in files)

    def _stat(self, name: str) -> os.stat_result | None:
        """Return the status of a file, None if it does not exist."""
        try:
            return (self._directory / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._access_error(name, error) from error

    def _read(self) -> Content:
        certificate, key, authority = [self._read_file(name) for name in _FILES]
        chain = self._parse_certificates("tls.crt", certificate)
        authorities = self._parse_certificates("ca.crt", authority)
        private_key = self._parse_key(key)
        own = chain[0]
        try:
            is_own = _encode(private_key.public_key()) == _encode(own.public_key())
        except (ValueError, UnsupportedAlgorithm):
            # The certificate's key is of a kind that tls.key is not.
            is_own = False
        # With another key every handshake would fail, for no reason that the library tells.
        if not is_own:
            hint = "tls.key must belong to tls.crt"
            raise self._error("tls.key", "it is the key of another certificate", hint)
        self._check_dates("tls.crt", [own])
        self._check_dates("ca.crt", authorities)
        return Content(
            certificate=_to_pem(chain),
            key=private_key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
            authority=_to_pem(authorities),
            not_after=own.not_valid_after_utc.timestamp(),
        )

    def _check_dates(self, name: str, certificates: list[x509.Certificate]) -> None:
        """Warn if no certificate is valid now. Not an error: a renewed one may come soon."""
        now = dt.datetime.now(dt.UTC)
        spans = [(each.not_valid_before_utc, each.not_valid_after_utc) for each in certificates]
        if any(start <= now <= end for start, end in spans):
            return
        dates = ", ".join(f"{start:%FT%TZ} to {end:%FT%TZ}" for start, end in spans)
        path = self._directory / name
        _LOG.warning('"%s" is not valid now, so that handshakes fail: it is from %s', path, dates)

    def _read_file(self, name: str) -> bytes:
        try:
            return (self._directory / name).read_bytes()
        except OSError as error:
            raise self._access_error(name, error) from error

    def _access_error(self, name: str, error: OSError) -> InputError:
        if not isinstance(error, PermissionError):
            return self._error(name, cause_of(error), None)
        user = f"user {os.geteuid()} of group {os.getegid()}"
        hint = (
            "in a Pod the secret's volume needs defaultMode 0444, or 0440 and the fsGroup of a "
            "group of this user"
        )
        return self._error(name, f"{user} may not read it: {self._describe_access(name)}", hint)

    def _describe_access(self, name: str) -> str:
        """Describe why a file cannot be read: its mode, or a directory above it."""
        try:
            state = (self._directory / name).stat()
        except OSError:
            return "a directory above it may not be looked into"
        mode = stat.S_IMODE(state.st_mode)
        return f"its mode is {mode:04o}, of user {state.st_uid} and group {state.st_gid}"

    def _parse_certificates(self, name: str, pem: bytes) -> list[x509.Certificate]:
        try:
            return x509.load_pem_x509_certificates(pem)
        except ValueError as error:
            hint = "the file must hold certificates in PEM form"
            raise self._error(name, "it holds no certificate that can be read", hint) from error

    def _parse_key(self, pem: bytes) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
        try:
            key = serialization.load_pem_private_key(pem, None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            hint = "the file must hold a private key in PEM form, without a password"
            raise self._error("tls.key", "it holds no key that can be read", hint) from error
        if isinstance(key, rsa.RSAPrivateKey) or (
            isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, _CURVES)
        ):
            return key
        hint = "keys of RSA and of the curves P-256 and P-384 are used"
        raise self._error("tls.key", "a key of this kind cannot be used", hint)

    def _error(self, name: str, reason: str, hint: str | None) -> InputError:
        path = self._directory / name
        return InputError.of(f'cannot read TLS certificates: "{path}": {reason}', hint=hint)


def _encode(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _to_pem(certificates: list[x509.Certificate]) -> bytes:
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)

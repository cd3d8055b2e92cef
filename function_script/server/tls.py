"""Certificates for mutual TLS: read from a directory, checked, and read again when they change.

Crossplane mounts tls.crt, tls.key and ca.crt of a secret there. Kubernetes renews a mounted
secret by swapping a symbolic link, so all three change at once.
"""

from __future__ import annotations

import logging
import ssl
from typing import TYPE_CHECKING, TypeAlias

import grpc

from function_script.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)
_FILES = ("tls.crt", "tls.key", "ca.crt")
_State: TypeAlias = tuple[tuple[int, int], ...]


def credentials(directory: Path) -> grpc.ServerCredentials:
    """Credentials that demand a client certificate signed by ca.crt; raises InputError.

    Renewed files are used for the next connection. Unusable ones are logged, and the last good
    ones stay in use.
    """
    certificates = _Certificates(directory)
    return grpc.dynamic_ssl_server_credentials(
        certificates.read(),
        certificates.read_if_renewed,  # type: ignore[arg-type] # may return None, whatever the stubs say
        require_client_authentication=True,
    )


class _Certificates:
    """The three files; remembers which state of them was looked at last."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._state: _State = ()

    def read(self) -> grpc.ServerCertificateConfiguration:
        """The files' content, checked; raises InputError."""
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
        return grpc.ssl_server_certificate_configuration([(key, certificate)], authority)

    def read_if_renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """New content, or None: nothing new, or nothing usable. Called for each connection."""
        try:
            if self._look() == self._state:
                return None
            renewed = self.read()
        except (InputError, OSError) as error:
            _LOG.warning("keeping the old certificates: %s", error)
            return None
        _LOG.info("using renewed certificates")
        return renewed

    def _look(self) -> _State:
        states = [(self._directory / name).stat() for name in _FILES]
        return tuple((state.st_ino, state.st_mtime_ns) for state in states)

    def _check(self) -> None:
        """Have OpenSSL complain now: gRPC would only fail each handshake. Raises SSLError."""
        certificate, key, authority = (str(self._directory / name) for name in _FILES)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(authority)

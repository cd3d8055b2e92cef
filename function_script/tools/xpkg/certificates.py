"""TLS certificates of registries: trust, and explanations of failures."""

import socket
import ssl
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from function_script.texts.errors import InputError, cause_of

_HANDSHAKE_SECONDS: Final = 10.0
_HTTPS_PORT: Final = 443
# By X509_V_ERR_… of OpenSSL: what is wrong with a certificate, and a hint.
_WRONG_NAME: Final = {62, 64}
_FAULTS: Final = {
    9: ("is not valid yet", "compare the clocks of both machines"),
    10: ("has expired", None),
    **dict.fromkeys(
        (2, 18, 19, 20, 21),
        (
            "is signed by an authority that is not trusted here",
            "set the variable SSL_CERT_FILE to a file with its certificate",
        ),
    ),
}
_REASONS_WITHOUT_TLS: Final = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"}
_REASONS_WITHOUT_CERTIFICATE: Final = {"TLSV13_ALERT_CERTIFICATE_REQUIRED"}


def build_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities and those of a file.

    OpenSSL reads the system's from SSL_CERT_FILE and SSL_CERT_DIR if they are set. Raises
    InputError.
    """
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:
            is_other = isinstance(error, ssl.SSLError)
            cause = "it holds no certificate in PEM form" if is_other else cause_of(error)
            raise InputError.of(f'cannot read "{ca_file}": {cause}') from error
    return context


def speaks_tls(host: str) -> bool:
    """Report whether a server such as ``localhost:5000`` answers a TLS handshake.

    Its certificate is not verified, and no data is sent.
    """
    url = urlsplit(f"//{host}")
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    address = url.hostname or "", url.port or _HTTPS_PORT
    try:
        with (
            socket.create_connection(address, timeout=_HANDSHAKE_SECONDS) as plain,
            unverified.wrap_socket(plain, server_hostname=url.hostname),
        ):
            return True
    except OSError:
        return False


def is_answer_without_tls(error: object) -> bool:
    """Report whether a TLS connection failed because the server speaks something else."""
    return isinstance(error, ssl.SSLError) and error.reason in _REASONS_WITHOUT_TLS


def explain(error: ssl.SSLError, host: str) -> tuple[str, str | None]:
    """Return the cause of a failed TLS connection, and a hint."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        reason = error.reason or str(error)
        if is_answer_without_tls(error):
            return f"{host} does not speak TLS", None
        if reason in _REASONS_WITHOUT_CERTIFICATE:
            return f"{host} asks for a certificate of the client, which is not supported", None
        return f"no TLS connection to {host}: {reason.lower().replace('_', ' ')}", None
    if error.verify_code in _WRONG_NAME:
        text = f"the certificate is not for {host}: {error.verify_message}"
        return text, "use a name that the certificate has"
    other = (f"is not accepted: {error.verify_message}", None)
    fault, hint = _FAULTS.get(error.verify_code, other)
    return f"the certificate of {host} {fault}", hint

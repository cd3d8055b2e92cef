"""TLS between a socket and a connection.

Not the standard library's: Crossplane gives all of its certificates one and the same subject, so
OpenSSL takes a client's for self-signed, and only a verification of one's own can put that right.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from OpenSSL import SSL, crypto

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from function_script.server.tls import Content

_HANDSHAKE_SECONDS: Final = 10.0
# All of a record, and of what OpenSSL has to send at a time.
_READ_BYTES: Final = 64 * 1024
_SEND_BYTES: Final = 256 * 1024
# X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT
_SELF_SIGNED: Final = 18


def context(content: Content) -> SSL.Context:
    """A server's side, which demands a client certificate signed by the authority."""
    made = SSL.Context(SSL.TLS_SERVER_METHOD)
    made.set_min_proto_version(SSL.TLS1_2_VERSION)
    # Connections last for days: nobody needs to come back sooner, by a ticket or a session.
    made.set_options(SSL.OP_NO_TICKET)
    made.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    own, *chain = x509.load_pem_x509_certificates(content.certificate)
    made.use_certificate(own)
    for certificate in chain:
        made.add_extra_chain_cert(certificate)
    made.use_privatekey(cast("RSAPrivateKey", load_pem_private_key(content.key, None)))
    authorities = x509.load_pem_x509_certificates(content.authority)
    store = made.get_cert_store()
    if store is not None:
        for authority in authorities:
            store.add_cert(crypto.X509.from_cryptography(authority))
    made.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, _verification(authorities))
    made.set_alpn_select_callback(_choose)
    return made


def _verification(
    authorities: Sequence[x509.Certificate],
) -> Callable[[SSL.Connection, crypto.X509, int, int, int], bool]:
    """OpenSSL's own, but for certificates that look self-signed and are not.

    It goes on to check dates and purpose of what is let through here.
    """

    def verify(_: SSL.Connection, shown: crypto.X509, error: int, depth: int, is_good: int) -> bool:
        if is_good or error != _SELF_SIGNED or depth:
            return bool(is_good)
        certificate = shown.to_cryptography()
        return any(_is_issued_by(certificate, authority) for authority in authorities)

    return verify


def _is_issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _choose(_: SSL.Connection, offered: list[bytes]) -> bytes:
    # Who does not speak HTTP/2 finds out at once; there is nothing else to agree on.
    return b"h2" if b"h2" in offered else offered[0]


class Secure(asyncio.Protocol):
    """To the socket a protocol, to the connection the transport it writes to."""

    def __init__(
        self, inner: asyncio.Protocol, made: SSL.Context, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._inner = inner
        self._tls: SSL.Connection | None = SSL.Connection(made, None)
        self._tls.set_accept_state()
        self._is_open = False
        self._transport: asyncio.Transport
        self._limit = loop.call_later(_HANDSHAKE_SECONDS, self.abort)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the client's hello."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes | memoryview) -> None:
        """Decrypt; whatever breaks TLS ends the connection."""
        tls = self._tls
        if tls is None:
            return
        try:
            tls.bio_write(data)
            if self._is_open or self._shake_hands(tls):
                self._read(tls)
            self._push(tls)
        except SSL.Error:
            # Tell the client what was wrong with it, if there is something to tell.
            self._push(tls)
            self._transport.close()

    def take_rest(self) -> bytes:
        """Nothing: what is left of a record is kept below."""
        return b""

    def connection_lost(self, error: Exception | None) -> None:
        """Pass it on."""
        # OpenSSL keeps 70 KB for each, and we are part of a cycle that is collected much later.
        self._tls = None
        self._limit.cancel()
        if self._is_open:
            self._inner.connection_lost(error)

    def pause_writing(self) -> None:
        """Pass it on."""
        if self._is_open:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        if self._is_open:
            self._inner.resume_writing()

    # What the connection calls.

    def set_write_buffer_limits(self, high: int) -> None:
        """When to pause it."""
        self._transport.set_write_buffer_limits(high=high)

    def write(self, data: bytes) -> None:
        """Encrypt and send, while there is somebody to send it to."""
        if self._tls is not None:
            self._tls.sendall(data)
            self._push(self._tls)

    def close(self) -> None:
        """End when all is sent."""
        if self._tls is None:
            return
        # The client may have ended it already.
        with suppress(SSL.Error):
            self._tls.shutdown()
        self._push(self._tls)
        self._transport.close()

    def abort(self) -> None:
        """End now."""
        self._transport.abort()

    def _shake_hands(self, tls: SSL.Connection) -> bool:
        try:
            tls.do_handshake()
        except SSL.WantReadError:
            return False
        self._limit.cancel()
        self._is_open = True
        self._inner.connection_made(cast("asyncio.BaseTransport", self))
        return True

    def _read(self, tls: SSL.Connection) -> None:
        pieces = []
        try:
            while True:
                pieces.append(tls.recv(_READ_BYTES))
        except SSL.WantReadError:
            pass
        except SSL.ZeroReturnError:
            self._transport.close()
        if pieces:
            self._inner.data_received(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _push(self, tls: SSL.Connection) -> None:
        try:
            while True:
                self._transport.write(tls.bio_read(_SEND_BYTES))
        except SSL.WantReadError:
            return

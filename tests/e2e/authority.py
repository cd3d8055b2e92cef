"""A throw-away certificate authority, shaped like Crossplane's."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Crossplane")])
_DAY = dt.timedelta(days=1)


def _usage(*allowed: str) -> x509.KeyUsage:
    """The uses that a certificate allows, and no others."""
    every = (
        *("digital_signature", "key_encipherment", "key_cert_sign", "content_commitment"),
        *("data_encipherment", "key_agreement", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**{name: name in allowed for name in every})


_USAGE = _usage("digital_signature", "key_encipherment")
_SIGNING = _usage("key_cert_sign", "crl_sign")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A certificate with its key, and the authority that signed it; all in PEM form."""

    certificate: bytes
    key: bytes
    authority: bytes

    def credentials(self) -> grpc.ChannelCredentials:
        """Return the channel credentials of a client with this identity."""
        return grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)

    def write(self, directory: Path) -> Path:
        """Write the three files as Crossplane's Secret has them; return the directory."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "tls.crt").write_bytes(self.certificate)
        (directory / "tls.key").write_bytes(self.key)
        (directory / "ca.crt").write_bytes(self.authority)
        return directory


class Authority:
    """Signs identities: as Crossplane does, or for ``subject`` as public authorities do.

    Crossplane's have the authority's own name and no identifiers of keys, which OpenSSL refuses.
    """

    def __init__(self, subject: str = "") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = subject
        builder = _builder(self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        if subject:
            identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
            builder = builder.add_extension(identifier, critical=False)
            builder = builder.add_extension(_SIGNING, critical=True)
        self._certificate = builder.sign(self._key, hashes.SHA256())

    def server(
        self,
        *names: str,
        age: dt.timedelta = dt.timedelta(),
        curve: ec.EllipticCurve | None = None,
    ) -> Identity:
        """Return an identity for a server of those names or addresses, valid for a day."""
        return self._issue(ExtendedKeyUsageOID.SERVER_AUTH, names, age, curve)

    def client(self, *, age: dt.timedelta = dt.timedelta()) -> Identity:
        """Return an identity for Crossplane, issued ``age`` ago, valid for a day."""
        return self._issue(ExtendedKeyUsageOID.CLIENT_AUTH, ("crossplane",), age)

    def _issue(
        self,
        usage: x509.ObjectIdentifier,
        names: tuple[str, ...],
        age: dt.timedelta = dt.timedelta(),
        curve: ec.EllipticCurve | None = None,
    ) -> Identity:
        key = ec.generate_private_key(curve or ec.SECP256R1())
        builder = _builder(key, age)
        if self._subject:
            name = x509.NameAttribute(NameOID.COMMON_NAME, self._subject)
            issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            builder = _builder(key, age, x509.Name([name])).add_extension(issuer, critical=False)
        certificate = (
            builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            # Signs no certificates: else OpenSSL takes one of its issuer's name for self-signed.
            .add_extension(_USAGE, critical=True)
            .add_extension(
                x509.SubjectAlternativeName([_general_name(name) for name in names]),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        return Identity(
            certificate=certificate.public_bytes(pem),
            key=key.private_bytes(
                pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
            authority=self._certificate.public_bytes(pem),
        )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    key: ec.EllipticCurvePrivateKey,
    age: dt.timedelta = dt.timedelta(),
    subject: x509.Name = _NAME,
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC) - age
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_NAME)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )

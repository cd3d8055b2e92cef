"""sprig's AES and certificates: what only the extra ``crypto`` can do, and without it."""

import base64
import datetime as dt
import sys

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from support import programs

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.request.limits import Limits

KEY = ec.generate_private_key(ec.SECP256R1())
FORMATS = {
    "EC": serialization.PrivateFormat.TraditionalOpenSSL,
    "PKCS#8": serialization.PrivateFormat.PKCS8,
}


def encoded(pem: bytes) -> str:
    """In base64, as the function takes it."""
    return base64.b64encode(pem).decode()


def certificate() -> bytes:
    """One that signed itself."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder(
        name, name, KEY.public_key(), 1, start, start + dt.timedelta(1)
    ).sign(KEY, hashes.SHA256())
    return builder.public_bytes(serialization.Encoding.PEM)


def key(form: str) -> bytes:
    """The key of the certificate."""
    plain = serialization.NoEncryption()
    return KEY.private_bytes(serialization.Encoding.PEM, FORMATS[form], plain)


def fail(text: str, data: dict[str, str]) -> str:
    """What Go says of a call, without the place."""
    with pytest.raises(GoFailure) as caught:
        render_text(text, {**data})
    return caught.value.text.rpartition(">: ")[2]


def refusal(text: str, *, crypto: bool) -> str:
    """The hint to a template that is refused."""
    return str(programs.refusal(gotemplate, programs.program(text, crypto=crypto)).hint)


def test_decrypt_reverses_encrypt() -> None:
    """For texts and passwords of any length: 32 bytes of a password count."""
    text = '{{ decryptAES (repeat 32 "pö") (encryptAES (repeat 40 "pö") (repeat 33 "é")) }}'
    assert render_text(text, {}) == "é" * 33


@pytest.mark.parametrize("form", FORMATS)
def test_certificate_and_key_are_decoded(form: str) -> None:
    """If both are valid."""
    text = "{{ $c := buildCustomCert .c .k }}{{ typeOf $c }} {{ $c.Cert }} {{ $c.Key }}"
    pair = {"c": encoded(certificate()), "k": encoded(key(form))}
    expected = f"sprig.certificate {certificate().decode()} {key(form).decode()}"
    assert render_text(text, {**pair}).partition(" -")[0] == expected.partition(" -")[0]
    assert render_text(text, {**pair}).endswith(key(form).decode())


def pem(kind: str, body: str = "AAAA") -> str:
    """A block of nothing, in base64."""
    return encoded(f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n".encode())


BAD = [
    pytest.param(pem("CERTIFICATE"), "", "error parsing certificate: ", id="certificate"),
    pytest.param(pem("CERTIFICATE", "?"), "", "error parsing certificate: ", id="not-base64"),
    pytest.param("", "!", "unable to decode base64 private key", id="key-not-base64"),
    pytest.param(None, "", "error parsing private key: ", id="no-key"),
    pytest.param(None, pem("PUBLIC KEY"), "error parsing private key: ", id="public-key"),
    pytest.param(None, pem("A PRIVATE KEY"), "error parsing private key: ", id="other-key"),
    pytest.param(None, pem("PRIVATE KEY"), "error parsing private key: ", id="bad-key"),
]


@pytest.mark.parametrize(("cert", "secret", "message"), BAD)
def test_invalid_certificate_or_key_is_an_error(
    cert: str | None, secret: str, message: str
) -> None:
    pair = {"c": encoded(certificate()) if cert is None else cert, "k": secret}
    assert message in fail("{{ buildCustomCert .c .k }}", pair)


def test_error_names_the_option() -> None:
    assert "options.crypto: true" in refusal('{{ decryptAES "k" "" }}', crypto=False)


def test_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    registry.func_map.cache_clear()
    try:
        hint = refusal('{{/* without */}}{{ decryptAES "k" "" }}', crypto=True)
    finally:
        registry.func_map.cache_clear()
    assert "install function-script[crypto]" in hint


def test_encryption_is_stable_for_one_xr() -> None:
    """The initial block is derived from the XR's uid."""
    program = programs.program('{{ encryptAES "k" "text" }}', crypto=True)

    def render(seed: str) -> str:
        return gotemplate.evaluate(program, programs.scope(seed=seed), Limits()).text

    assert render("a") == render("a") != render("b")

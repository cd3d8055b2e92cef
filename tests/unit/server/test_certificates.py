"""The certificate files: valid contents, errors with the file's name, and reloading."""

import datetime as dt
import logging
import os
import ssl
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from e2e.authority import Authority

from function_script.server.certificates import CertificateFiles
from function_script.texts.errors import InputError

NAME = "function-script.crossplane-system"
BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


@pytest.fixture(scope="module")
def authority() -> Authority:
    """Crossplane's authority."""
    return Authority()


@pytest.fixture
def directory(authority: Authority, tmp_path: Path) -> Path:
    """The files of a server."""
    return authority.server(NAME).write(tmp_path / "tls")


def test_end_of_the_servers_certificate_is_read(authority: Authority, directory: Path) -> None:
    """It is that of the first certificate in a chain."""
    chain = authority.server(NAME)
    (directory / "tls.key").write_bytes(chain.key)
    (directory / "tls.crt").write_bytes(chain.certificate + authority.client().certificate)
    seconds = CertificateFiles(directory).read_newest().not_after - time.time()
    assert 0 < seconds < 2 * 24 * 3600


ERRORS = [
    pytest.param("tls.crt", BROKEN, 'tls.crt": it holds no certificate', id="certificate"),
    pytest.param("ca.crt", "", 'ca.crt": it holds no certificate', id="authority"),
    pytest.param("tls.key", "nonsense", 'tls.key": it holds no key', id="key"),
    pytest.param("tls.key", "\0" * 5_000, 'tls.key": it holds no key', id="zeros"),
]


@pytest.mark.parametrize(("name", "text", "message"), ERRORS)
def test_error_names_the_file(directory: Path, name: str, text: str, message: str) -> None:
    (directory / name).write_text(text)
    with pytest.raises(InputError, match=message):
        CertificateFiles(directory)


def test_path_that_is_no_file_is_missing(directory: Path) -> None:
    """Kubernetes mounts a directory for a key that the Secret lacks; or a link is broken."""
    (directory / "tls.key").unlink()
    (directory / "tls.key").mkdir()
    (directory / "ca.crt").unlink()
    (directory / "ca.crt").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"lacks tls\.key, ca\.crt"):
        CertificateFiles(directory)


@pytest.mark.parametrize("curve", [ec.SECP256K1(), ec.SECP521R1()], ids=lambda curve: curve.name)
def test_key_that_no_handshake_could_use_is_an_error(
    authority: Authority, directory: Path, curve: ec.EllipticCurve
) -> None:
    authority.server(NAME, curve=curve).write(directory)
    with pytest.raises(InputError, match="of this kind cannot be used") as error:
        CertificateFiles(directory)
    assert "RSA" in str(error.value.diagnostics[0].hint)


def test_certificate_whose_key_is_of_an_unknown_kind_is_not_used(directory: Path) -> None:
    """A renewal with it must not end the server, nor may it fail each handshake."""
    files = CertificateFiles(directory)
    before = files.read_newest()
    der = ssl.PEM_cert_to_DER_cert((directory / "tls.crt").read_text())
    kind, unknown = bytes.fromhex("2a8648ce3d0201"), bytes.fromhex("2a8648ce3d0263")
    (directory / "tls.crt").write_text(ssl.DER_cert_to_PEM_cert(der.replace(kind, unknown)))
    assert files.read_newest() is before
    with pytest.raises(InputError, match="the key of another certificate"):
        CertificateFiles(directory)


def test_certificates_in_use_are_those_that_were_checked(directory: Path) -> None:
    """Libraries differ in how they treat bytes around the certificates, so these are removed."""
    plain = CertificateFiles(directory).read_newest()
    for name in ("tls.crt", "tls.key", "ca.crt"):
        pem = (directory / name).read_bytes()
        (directory / name).write_bytes(b"\xef\xbb\xbfnotes\n" + pem + b"\0more\n")
    assert CertificateFiles(directory).read_newest() == plain


@pytest.mark.parametrize("days", [-3, 3])
def test_certificates_of_another_day_are_warned_of(
    authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture, days: int
) -> None:
    """They are used, because renewed ones may come while the server runs."""
    identity = authority.server(NAME, age=dt.timedelta(days=days))
    CertificateFiles(identity.write(tmp_path))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f'"{tmp_path / "tls.crt"}" is not valid now' in record.getMessage()


def test_broken_files_are_reported_once(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each connection checks the files, and would log a line otherwise."""
    files = CertificateFiles(directory)
    before = files.read_newest()
    with caplog.at_level(logging.INFO):
        (directory / "tls.key").write_text("broken")
        assert files.read_newest() is before
        os.utime(directory / "tls.key", (1, 1))
        assert files.read_newest() is before
        (directory / "tls.key").unlink()
        assert all(files.read_newest() is before for _ in range(50))
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]

"""Certificates, and registries without TLS."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from e2e.authority import Authority
from e2e.scripted_registry import (
    BASIC,
    ELSEWHERE,
    PACKAGE,
    Registry,
    require,
    run_package,
    serving,
    status,
    uploads_at,
)

pytestmark = pytest.mark.usefixtures("docker_config")


def test_registry_with_tls_on_this_machine_works(
    start: Callable[..., Registry], ca_file: Path, package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The client tries both TLS and plain text."""
    registry = start()
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert (code, len(registry.manifests)) == (0, 1), err


def test_unknown_authority_is_named_with_what_to_do(
    start: Callable[..., Registry],
    ca_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The flag does the same."""
    registry = start(ELSEWHERE)
    registry.put_package(PACKAGE)
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1")
    assert code == 1
    assert (
        f"the certificate of {registry.name} is signed by an authority that is not trusted" in err
    )
    assert "hint: set the variable SSL_CERT_FILE to a file with its certificate" in err
    assert run_package(capsys, "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file) == (0, "")
    monkeypatch.setenv("SSL_CERT_FILE", str(ca_file))
    assert run_package(capsys, "inspect", f"{registry.name}/a:v1") == (0, "")


def test_certificate_of_another_name(
    authority: Authority, tmp_path: Path, ca_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An expired certificate is an error as well."""
    for names, age, message in (
        ("other.example.org", timedelta(), "the certificate is not for localhost:"),
        ("localhost", timedelta(days=9), "has expired"),
        ("localhost", timedelta(days=-9), "is not valid yet"),
    ):
        identity = authority.server(names, age=age)
        with serving("localhost", identity, tmp_path / "tls") as registry:
            code, err = run_package(
                capsys, "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file
            )
        assert code == 1
        assert message in err


def test_http_elsewhere_needs_a_flag(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    package: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without it nothing is sent; with it credentials are sent, too."""
    registry = start(ELSEWHERE, tls=False)
    docker_config(registry.name)
    require(registry, 'Basic realm="x"', BASIC)
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package)
    assert code == 1
    assert f"{registry.name} does not speak TLS" in err
    assert "hint: --plain-http" in err
    assert registry.seen == []
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package, "--plain-http")
    assert (code, len(registry.manifests)) == (0, 1), err


@pytest.mark.parametrize("content", [None, b"", b"hello"], ids=["absent", "empty", "text"])
def test_file_without_certificates(
    start: Callable[..., Registry],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
) -> None:
    """The error names it."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    code, err = run_package(capsys, "inspect", f"{start().name}/a:v1", "--ca-file", path)
    assert code == 1
    assert f'cannot read "{path}": ' in err


@pytest.mark.parametrize("location", ["", "http://[", "ftp://x/", "//x:y/", "http://x\x7f/"])
def test_odd_upload_addresses(
    start: Callable[..., Registry], package: str, capsys: pytest.CaptureFixture[str], location: str
) -> None:
    registry = start(tls=False)
    registry.hook("POST", "", uploads_at(location))
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package)
    assert code == 1
    assert "our mistake" not in err


def test_flag_too_many_is_told(
    start: Callable[..., Registry], capsys: pytest.CaptureFixture[str]
) -> None:
    """A server with TLS answers plain text with an error, or closes the connection."""
    registry = start(tls=False)
    registry.hook("*", "", status(400, b"Client sent an HTTP request to an HTTPS server.\n"))
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1", "--plain-http")
    assert code == 1
    assert "the registry speaks TLS" in err
    assert "hint: leave out --plain-http" in err

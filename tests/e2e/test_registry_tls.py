"""Certificates, and registries without TLS."""

from datetime import timedelta
from pathlib import Path

import pytest
from e2e.authority import Authority
from e2e.scripted_registry import (
    BASIC,
    ELSEWHERE,
    PACKAGE,
    Login,
    Start,
    require,
    serving,
    status,
)
from support.commands import Run

pytestmark = pytest.mark.usefixtures("docker_config")


def test_registry_with_tls_on_this_machine_works(
    start: Start, ca_file: Path, package: str, run: Run
) -> None:
    registry = start()
    run("package", "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert len(registry.manifests) == 1


def test_unknown_authority_is_named_with_what_to_do(
    start: Start, ca_file: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = start(ELSEWHERE)
    registry.put_package(PACKAGE)
    err = run("package", "inspect", f"{registry.name}/a:v1", code=1).err
    assert (
        f"the certificate of {registry.name} is signed by an authority that is not trusted" in err
    )
    assert "hint: set the variable SSL_CERT_FILE to a file with its certificate" in err
    assert run("package", "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file).err == ""
    monkeypatch.setenv("SSL_CERT_FILE", str(ca_file))
    assert run("package", "inspect", f"{registry.name}/a:v1").err == ""


def test_certificate_of_another_name(
    authority: Authority, tmp_path: Path, ca_file: Path, run: Run
) -> None:
    for names, age, message in (
        ("other.example.org", timedelta(), "the certificate is not for localhost:"),
        ("localhost", timedelta(days=9), "has expired"),
        ("localhost", timedelta(days=-9), "is not valid yet"),
    ):
        identity = authority.server(names, age=age)
        with serving("localhost", identity, tmp_path / "tls") as registry:
            err = run(
                "package", "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file, code=1
            ).err
        assert message in err


def test_http_elsewhere_needs_a_flag(
    start: Start, docker_config: Login, package: str, run: Run
) -> None:
    registry = start(ELSEWHERE, tls=False)
    docker_config(registry.name)
    require(registry, 'Basic realm="x"', BASIC)
    err = run("package", "push", f"{registry.name}/a:v1", package, code=1).err
    assert f"{registry.name} does not speak TLS" in err
    assert "hint: --plain-http" in err
    assert registry.seen == []
    run("package", "push", f"{registry.name}/a:v1", package, "--plain-http")
    assert len(registry.manifests) == 1


@pytest.mark.parametrize("content", [None, b"", b"hello"], ids=["absent", "empty", "text"])
def test_file_without_certificates(
    start: Start, tmp_path: Path, run: Run, content: bytes | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    err = run("package", "inspect", f"{start().name}/a:v1", "--ca-file", path, code=1).err
    assert f'cannot read "{path}": ' in err


@pytest.mark.parametrize("location", ["", "http://[", "ftp://x/", "//x:y/", "http://x\x7f/"])
def test_odd_upload_addresses(start: Start, package: str, run: Run, location: str) -> None:
    registry = start(tls=False)
    registry.hook("POST", "", status(202, Location=location))
    err = run("package", "push", f"{registry.name}/a:v1", package, code=1).err
    assert "our mistake" not in err


def test_flag_too_many_is_told(start: Start, run: Run) -> None:
    """A server with TLS answers plain text with an error, or closes the connection."""
    registry = start(tls=False)
    registry.hook("*", "", status(400, b"Client sent an HTTP request to an HTTPS server.\n"))
    err = run("package", "inspect", f"{registry.name}/a:v1", "--plain-http", code=1).err
    assert "the registry speaks TLS" in err
    assert "hint: leave out --plain-http" in err

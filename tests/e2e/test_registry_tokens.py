"""Credentials and tokens are sent only to the registry that they are for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.scripted_registry import (
    BASIC,
    PACKAGE,
    Registry,
    require,
    run_package,
    status,
    uploads_at,
)

pytestmark = pytest.mark.usefixtures("docker_config")


def test_token_never_goes_where_tls_ends(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    ca_file: Path,
    package: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An upload address without TLS is an error, and receives nothing."""
    registry, plain = start(), start(tls=False)
    docker_config(registry.name)
    registry.hook("POST", "uploads", uploads_at(f"{plain.url}/v2/upload"))
    require(registry, 'Basic realm="x"', BASIC)
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert code == 1
    assert "it names an address for uploads that is not HTTPS" in err
    assert "X-Forwarded-Proto" in err
    assert plain.seen == []


@pytest.mark.parametrize(
    "challenge",
    [
        'Basic realm="x", Bearer realm="{}/token"',
        'Bearer realm="{}/token",service="x",Basic realm="x"',
    ],
)
def test_token_challenge_is_preferred_to_others(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    challenge: str,
) -> None:
    """They are in one header, in either order."""
    registry = start(tls=False)
    registry.put_package(PACKAGE)
    docker_config(registry.name)
    require(registry, challenge.format(registry.url), "Bearer abc")
    registry.hook("GET", "^/token", status(200, b'{"token": "abc"}'))
    assert run_package(capsys, "inspect", f"{registry.name}/a:v1") == (0, "")
    assert registry.authorizations("GET", "/token") == {BASIC}
    assert registry.authorizations("GET", "/blobs/") == {"Bearer abc"}


def test_another_origin_gets_the_upload_and_no_token(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    ca_file: Path,
    package: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Storage services accept blobs by a signed address."""
    registry, storage = start(), start()
    docker_config(registry.name)
    registry.hook("POST", "uploads", uploads_at(f"{storage.url}/uploads/1?key=2"))
    require(registry, 'Basic realm="x"', BASIC)
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert (code, len(storage.blobs)) == (0, 2), err
    assert storage.authorizations("PUT") == {""}
    assert all("key=2&digest=sha256" in one.path for one in storage.seen)
    assert BASIC in registry.authorizations("PUT")


def test_another_origin_cannot_ask_for_credentials(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    ca_file: Path,
    package: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A challenge of the storage cannot name a token service for the registry's credentials."""
    registry, storage = start(), start()
    docker_config(registry.name)
    storage.hook(
        "*", "^/uploads", status(401, WWW_Authenticate=f'Bearer realm="{storage.url}/token"')
    )
    registry.hook(
        "POST", "uploads", lambda h: (h.body(), h.send(202, Location=f"{storage.url}/uploads/1"))[1]
    )
    code, err = run_package(capsys, "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert code == 1
    assert "HTTP 401" in err
    assert {one.method for one in storage.seen} == {"PUT"}
    assert storage.authorizations("PUT") == {""}


def test_redirect_takes_no_token_along(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    ca_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A redirect from HTTPS to HTTP is an error."""
    registry, storage, plain = start(), start(), start(tls=False)
    docker_config(registry.name)
    registry.put_package(PACKAGE)
    storage.blobs = plain.blobs = dict(registry.blobs)
    require(registry, 'Basic realm="x"', BASIC)
    target = storage
    registry.hook("GET", "/blobs/", lambda h: h.send(307, Location=f"{target.url}{h.path}"))
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file)
    assert (code, err) == (0, "")
    assert storage.authorizations("GET", "/blobs/") == {""}
    target = plain
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file)
    assert code == 1
    assert "it redirects from HTTPS to 'http://" in err
    assert plain.seen == []


@pytest.mark.parametrize("tls", [True, False], ids=["TLS", "loopback"])
@pytest.mark.parametrize("realm", ["http://0.0.0.0:1/token", "ftp://x/y", "", "//x", "https://"])
def test_credentials_go_to_token_services_with_tls_only(
    start: Callable[..., Registry],
    docker_config: Callable[[str], None],
    ca_file: Path,
    capsys: pytest.CaptureFixture[str],
    realm: str,
    *,
    tls: bool,
) -> None:
    """This holds for a registry on this machine, unless the service is there as well."""
    registry = start(tls=tls)
    docker_config(registry.name)
    registry.hook("*", "", status(401, WWW_Authenticate=f'Bearer realm="{realm}"'))
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file)
    assert code == 1
    assert f'it names "{realm}" as its token service, which is not HTTPS' in err


TOKENS = [
    pytest.param(b'{"token": "a\\r\\nX: y"}', "its token service gives no token", id="header"),
    pytest.param(b"{}", "its token service gives no token", id="none"),
    pytest.param(b"[" * 100_000, "its token service gives no token", id="nested"),
    pytest.param(b"x" * (2 << 20), "its answer has more than 1,048,576 bytes", id="large"),
]


@pytest.mark.parametrize(("answer", "message"), TOKENS)
def test_odd_answers_of_token_services(
    start: Callable[..., Registry],
    capsys: pytest.CaptureFixture[str],
    answer: bytes,
    message: str,
) -> None:
    """They are bounded, and do not become headers."""
    registry = start(tls=False)
    challenge = f'Bearer realm="{registry.url}/token",service="x"'
    registry.hook("*", "^/v2/", status(401, WWW_Authenticate=challenge))
    registry.hook("GET", "^/token", status(200, answer))
    code, err = run_package(capsys, "inspect", f"{registry.name}/a:v1")
    assert code == 1
    assert message in err

"""Credentials and tokens are sent only to the registry that they are for."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from e2e.scripted_registry import (
    BASIC,
    PACKAGE,
    Login,
    Start,
    require,
    status,
)
from support.commands import Run

pytestmark = pytest.mark.usefixtures("docker_config")


def test_token_never_goes_where_tls_ends(
    start: Start, docker_config: Login, ca_file: Path, package: str, run: Run
) -> None:
    """An upload address without TLS is an error, and receives nothing."""
    registry, plain = start(), start(tls=False)
    docker_config(registry.name)
    registry.hook("POST", "uploads", status(202, Location=f"{plain.url}/v2/upload"))
    require(registry, 'Basic realm="x"', BASIC)
    err = run("package", "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file, code=1).err
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
    start: Start, docker_config: Login, run: Run, challenge: str
) -> None:
    registry = start(tls=False)
    registry.put_package(PACKAGE)
    docker_config(registry.name)
    require(registry, challenge.format(registry.url), "Bearer abc")
    registry.hook("GET", "^/token", status(200, b'{"token": "abc"}'))
    assert run("package", "inspect", f"{registry.name}/a:v1").err == ""
    assert registry.authorizations("GET", "/token") == {BASIC}
    assert registry.authorizations("GET", "/blobs/") == {"Bearer abc"}


def test_token_is_asked_for_with_its_scope(
    start: Start, docker_config: Login, package: str, run: Run
) -> None:
    """Without credentials it is a token for reading, and a refusal is told."""
    registry = start(tls=False)
    name = f"{registry.name}/team/apps:v1"
    realm = f'Bearer realm="{registry.url}/token",service="x"'
    require(registry, realm, "Bearer abc")
    registry.hook("GET", "^/token", status(200, b'{"token": "abc"}'))
    registry.hook(
        "GET",
        "^/token.*push",
        lambda handler: not handler.headers["Authorization"] and status(401)(handler),
    )
    refused = run("package", "push", name, package, code=1).err
    assert "its token service refuses (HTTP 401" in refused
    docker_config(registry.name)
    registry.seen.clear()
    run("package", "push", name, package)
    (asked,) = [one for one in registry.seen if one.path.startswith("/token")]
    assert parse_qs(urlsplit(asked.path).query)["scope"] == ["repository:team/apps:pull,push"]
    assert asked.authorization == BASIC


def test_another_origin_gets_the_upload_and_no_token(
    start: Start, docker_config: Login, ca_file: Path, package: str, run: Run
) -> None:
    """Storage services accept blobs by a signed address."""
    registry, storage = start(), start()
    docker_config(registry.name)
    registry.hook("POST", "uploads", status(202, Location=f"{storage.url}/uploads/1?key=2"))
    require(registry, 'Basic realm="x"', BASIC)
    run("package", "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file)
    assert len(storage.blobs) == 2
    assert storage.authorizations("PUT") == {""}
    assert all("key=2&digest=sha256" in one.path for one in storage.seen)
    assert BASIC in registry.authorizations("PUT")


def test_another_origin_cannot_ask_for_credentials(
    start: Start, docker_config: Login, ca_file: Path, package: str, run: Run
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
    err = run("package", "push", f"{registry.name}/a:v1", package, "--ca-file", ca_file, code=1).err
    assert "HTTP 401" in err
    assert {one.method for one in storage.seen} == {"PUT"}
    assert storage.authorizations("PUT") == {""}


def test_redirect_takes_no_token_along(
    start: Start, docker_config: Login, ca_file: Path, run: Run
) -> None:
    registry, storage, plain = start(), start(), start(tls=False)
    docker_config(registry.name)
    registry.put_package(PACKAGE)
    storage.blobs = plain.blobs = dict(registry.blobs)
    require(registry, 'Basic realm="x"', BASIC)
    target = storage
    registry.hook("GET", "/blobs/", lambda h: h.send(307, Location=f"{target.url}{h.path}"))
    assert run("package", "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file).err == ""
    assert storage.authorizations("GET", "/blobs/") == {""}
    target = plain
    err = run("package", "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file, code=1).err
    assert "it redirects from HTTPS to 'http://" in err
    assert plain.seen == []


@pytest.mark.parametrize("tls", [True, False], ids=["TLS", "loopback"])
@pytest.mark.parametrize("realm", ["http://0.0.0.0:1/token", "ftp://x/y", "", "//x", "https://"])
def test_credentials_go_to_token_services_with_tls_only(
    start: Start, docker_config: Login, ca_file: Path, run: Run, realm: str, *, tls: bool
) -> None:
    """This holds for a registry on this machine, unless the service is there as well."""
    registry = start(tls=tls)
    docker_config(registry.name)
    registry.hook("*", "", status(401, WWW_Authenticate=f'Bearer realm="{realm}"'))
    err = run("package", "inspect", f"{registry.name}/a:v1", "--ca-file", ca_file, code=1).err
    assert f'it names "{realm}" as its token service, which is not HTTPS' in err


@pytest.mark.parametrize("challenge", ['Basic realm="x"', 'Bearer realm="{}/token"'])
def test_secrets_that_a_registry_repeats_are_not_printed(
    start: Start, docker_config: Login, run: Run, challenge: str
) -> None:
    registry = start(tls=False)
    docker_config(registry.name)
    message = f"{BASIC},\nerror: Bearer abc"
    body = json.dumps({"errors": [{"message": message}]}).encode()
    registry.hook("*", "^/v2/", status(401, body, WWW_Authenticate=challenge.format(registry.url)))
    registry.hook("GET", "^/token", status(200, b'{"token": "abc"}'))
    first, *_ = run("package", "inspect", f"{registry.name}/a:v1", code=1).err.splitlines()
    assert "HTTP 401: Basic ***, error: Bearer " in first
    assert first.count("***") == 1 + challenge.startswith("Bearer")


TOKENS = [
    pytest.param(b'{"token": "a\\r\\nX: y"}', "its token service gives no token", id="header"),
    pytest.param(b"{}", "its token service gives no token", id="none"),
    pytest.param(b"[" * 100_000, "its token service gives no token", id="nested"),
    pytest.param(b"x" * (2 << 20), "its answer has more than 1,048,576 bytes", id="large"),
]


@pytest.mark.parametrize(("answer", "message"), TOKENS)
def test_odd_answers_of_token_services(start: Start, run: Run, answer: bytes, message: str) -> None:
    """They are bounded, and do not become headers."""
    registry = start(tls=False)
    challenge = f'Bearer realm="{registry.url}/token",service="x"'
    registry.hook("*", "^/v2/", status(401, WWW_Authenticate=challenge))
    registry.hook("GET", "^/token", status(200, answer))
    err = run("package", "inspect", f"{registry.name}/a:v1", code=1).err
    assert message in err

"""Registries that tests start, their authorities, a server that tests leave as it is, a channel."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority
from e2e.scripted_registry import META, Registry, serving
from e2e.serving import Server

from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import build


@pytest.fixture(scope="session")
def plain_server() -> Iterator[Server]:
    """A server with default flags, of which tests count only what they add."""
    with Server("--insecure") as server:
        yield server


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    """A connection to the server of a module."""
    with server.channel() as channel:
        yield channel


@pytest.fixture(scope="module")
def authority() -> Authority:
    """An authority that is not in the system's trust store."""
    return Authority("registry")


@pytest.fixture
def ca_file(authority: Authority, tmp_path: Path) -> Path:
    """The certificate of the authority."""
    path = tmp_path / "own-ca.pem"
    path.write_bytes(authority.server("x").authority)
    return path


@pytest.fixture
def start(authority: Authority, tmp_path: Path) -> Iterator[Callable[..., Registry]]:
    """Start registries, which end with the test: ``start(host, tls=True)``."""
    with ExitStack() as stack:

        def begin(host: str = "localhost", *, tls: bool = True) -> Registry:
            identity = authority.server(host) if tls else None
            directory = tmp_path / f"tls-{time.monotonic_ns()}"
            return stack.enter_context(serving(host, identity, directory))

        yield begin


@pytest.fixture
def docker_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Log in to a registry, or write a whole configuration; before that there is none."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)

    def login(to: object) -> None:
        account = {"username": "me", "password": "secret"}
        config = {"auths": {to: account}} if isinstance(to, str) else to
        (tmp_path / "config.json").write_text(json.dumps(config))

    return login


@pytest.fixture
def package(tmp_path: Path) -> str:
    """A package file."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "crossplane.yaml").write_bytes(META)
    contents = Contents(package_root=tmp_path / "project")
    (built,) = build(contents, output=tmp_path / "apps.xpkg")
    return str(built.path)

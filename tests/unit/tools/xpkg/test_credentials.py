"""Docker's credentials, and configurations that are odd."""

import json
import os
import pwd
from pathlib import Path

import pytest

from function_script.request.remote.login import Login
from function_script.texts.errors import InputError
from function_script.tools.xpkg import credentials

NAME = "registry.example.org"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Docker's configuration, with helpers beside it."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "config.json"


def write_helper(config: Path, script: str) -> None:
    """A helper called ``test`` that a configuration names."""
    path = config.with_name("docker-credential-test")
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    config.write_text(json.dumps({"credsStore": "test"}))


ODD = [
    pytest.param(b"\xff", "it is not UTF-8 text", id="bytes"),
    pytest.param(b"{", "it is not JSON", id="text"),
    pytest.param(b"[" * 100_000, "nested more than 200 levels", id="nested"),
]


@pytest.mark.parametrize(("data", "message"), ODD)
def test_odd_configuration_is_named(config: Path, data: bytes, message: str) -> None:
    config.write_bytes(data)
    with pytest.raises(InputError, match=f'cannot read credentials from "{config}": .*{message}'):
        credentials.find(NAME)


@pytest.mark.parametrize(
    "data", [b"[]", b"3", b'{"auths": 3}', b'{"auths": {"%s": 3}}' % NAME.encode()]
)
def test_config_without_credentials_holds_none(config: Path, data: bytes) -> None:
    config.write_bytes(data)
    assert credentials.find(NAME) is None


@pytest.mark.parametrize(
    "script", ["echo []", "echo {", "printf '\\377'", "yes '[' | head -c 200000"]
)
def test_odd_helper_is_named(config: Path, script: str) -> None:
    """Its answer is no object in JSON."""
    write_helper(config, script)
    with pytest.raises(InputError, match=r'from "docker-credential-test"'):
        credentials.find(NAME)


@pytest.mark.parametrize("script", ["exit 1", "echo '{}'", "echo '{\"Username\": 3}'"])
def test_helper_that_knows_nothing(config: Path, script: str) -> None:
    """There are no credentials then."""
    write_helper(config, script)
    assert credentials.find(NAME) is None


@pytest.mark.parametrize("helper", ["../evil", "/bin/sh", "a b", "-x", "a/../../b"])
def test_helper_is_a_name_and_no_path(config: Path, helper: str) -> None:
    """Nothing below the working directory is run."""
    config.write_text(json.dumps({"credHelpers": {NAME: helper}}))
    with pytest.raises(InputError, match="is not the name of a credential helper"):
        credentials.find(NAME)


@pytest.mark.parametrize("host", ["docker.io", "index.docker.io"])
def test_credentials_of_docker_hub_have_their_own_name(config: Path, host: str) -> None:
    """`docker login` without a registry keeps them there."""
    name = "https://index.docker.io/v1/"
    config.write_text(json.dumps({"auths": {name: {"username": "me", "password": "secret"}}}))
    assert credentials.find(host) == Login(user="me", password="secret")  # noqa: S106 - a test's
    write_helper(config, f'test "$(cat)" = {name} && echo \'{{"Username": "x", "Secret": "y"}}\'')
    assert credentials.find(host) == Login(user="x", password="y")  # noqa: S106 - a test's


def test_credentials_without_a_home_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user of a container may have no entry in /etc/passwd."""

    def nobody(_: int) -> None:
        raise KeyError

    for variable in ("DOCKER_CONFIG", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert credentials.find(NAME) is None

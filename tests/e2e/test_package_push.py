"""Packages in a real registry: pushed, read back, for several platforms, with credentials."""

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from e2e.registries import free_port, needs_registry, serve
from e2e.scripted_registry import Login
from support.commands import Run

from function_script.tools.xpkg import archives, images
from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import Built, build

pytestmark = needs_registry

# The password is "secret".
ACCOUNTS = "me:$2y$05$ZiIifypBjEO.gOvz5pP3OO6nrCNsImqgDm93.rlh6b51xCYw/ycy6\n"
META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata: {name: function-test}
"""
MANIFESTS = "application/vnd.docker.distribution.manifest.v2+json"
INDICES = "application/vnd.oci.image.index.v1+json"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry without authorization."""
    yield from serve(tmp_path_factory.mktemp("open") / "registry")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry that requires credentials."""
    base = tmp_path_factory.mktemp("guarded")
    (base / "accounts").write_text(ACCOUNTS)
    auth = f"auth: {{htpasswd: {{realm: test, path: {base}/accounts}}}}\n"
    yield from serve(base / "registry", auth)


def runtime(path: Path, architecture: str) -> Path:
    """Return an image for a platform."""
    config = {**images.EMPTY.config, "architecture": architecture}
    image = images.with_layer(images.Image(config=config), archives.tar({"app": b"x"}), "other")
    path.write_bytes(images.to_docker_archive(image))
    return path


@pytest.fixture
def packages(tmp_path: Path) -> list[Built]:
    """Return a package for each of two platforms."""
    for name in ("package", "crds"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "crossplane.yaml").write_text(META)
    contents = Contents(package_root=tmp_path / "package", input_crds=tmp_path / "crds")
    runtimes = [runtime(tmp_path / f"{name}.tar", name) for name in ("amd64", "arm64")]
    return build(contents, output=tmp_path / "test.xpkg", runtime_images=runtimes)


def pull(registry: str, path: str, accept: str) -> tuple[bytes, str]:
    """Return a manifest from the registry, and the digest in its header."""
    request = Request(f"http://{registry}/v2/{path}", headers={"Accept": accept})
    with urlopen(request) as response:  # noqa: S310 - a registry of this test
        return response.read(), response.headers["Docker-Content-Digest"]


def test_package_has_the_digest_that_the_build_said(
    registry: str, packages: list[Built], run: Run
) -> None:
    """Its layers are annotated, by which Crossplane finds package.yaml."""
    first, _ = packages
    output = run("package", "push", f"{registry}/team/one:v1", first.path)
    assert output.out == f"{registry}/team/one:v1 {first.digest}\n"
    assert output.err.count(": pushing\n") == 3
    data, digest = pull(registry, "team/one/manifests/v1", MANIFESTS)
    assert digest == first.digest
    base = json.loads(data)["layers"][-1]
    assert base["annotations"] == {"io.crossplane.xpkg": "base"}
    blob, _ = pull(registry, f"team/one/blobs/{base['digest']}", "*/*")
    assert META.encode() in blob


def test_blob_in_the_registry_is_not_sent_again(
    registry: str, packages: list[Built], run: Run
) -> None:
    run("package", "push", f"{registry}/team/twice:v1", packages[0].path)
    err = run("package", "push", f"{registry}/team/twice:v2", packages[0].path).err
    assert (err.count("there already"), err.count("pushing")) == (3, 0)


def test_terminal_shows_how_much_is_sent(registry: str, packages: list[Built]) -> None:
    reader, writer = os.openpty()
    name, path = f"{registry}/team/shown:v1", str(packages[0].path)
    command = [sys.executable, "-m", "function_script.cli", "package", "push", name, path]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=writer, check=True)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        lines = os.read(pipe.fileno(), 4096).decode().rstrip().split("\r\n")
    assert len(lines) == 3
    assert all(line.endswith(": pushing 100 %") for line in lines)


def test_several_platforms_are_one_package(registry: str, packages: list[Built], run: Run) -> None:
    assert [package.path.name for package in packages] == [
        "test-linux-amd64.xpkg",
        "test-linux-arm64.xpkg",
    ]
    run("package", "push", f"{registry}/team/many:v1", *(package.path for package in packages))
    data, digest = pull(registry, "team/many/manifests/v1", INDICES)
    entries = {
        entry["platform"]["architecture"]: entry["digest"]
        for entry in json.loads(data)["manifests"]
    }
    assert entries == dict(
        zip(("amd64", "arm64"), (package.digest for package in packages), strict=True)
    )
    report = json.loads(run("package", "inspect", f"{registry}/team/many:v1", "-o", "json").out)
    assert report["digest"] == digest
    assert [part["platform"] for part in report["platforms"]] == ["linux/amd64", "linux/arm64"]
    assert report["meta"]["metadata"]["name"] == "function-test"


def test_file_and_registry_say_the_same(registry: str, packages: list[Built], run: Run) -> None:
    """`inspect` prints the same for a file and for its image in the registry."""
    (package, _), name = packages, f"{registry}/team/same"
    run("package", "push", f"{name}:v1", package.path)
    places = (package.path, f"{name}@{package.digest}")
    texts = [run("package", "inspect", place, "--output", "json").out for place in places]
    assert texts[0] == texts[1]


def entry(user: str, password: str) -> dict[str, str]:
    """Return an entry of `docker login`."""
    return {"auth": b64encode(f"{user}:{password}".encode()).decode()}


def test_credentials_of_docker_login_are_used(
    guarded: str, packages: list[Built], docker_config: Login, run: Run
) -> None:
    docker_config(
        {"auths": {"other.example.org": {}, f"https://{guarded}/v1/": entry("me", "secret")}}
    )
    run("package", "push", f"{guarded}/team/one:v1", packages[0].path)


def test_credential_helper_is_asked(
    guarded: str,
    packages: list[Built],
    docker_config: Login,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Docker's protocol is the registry on stdin, and an answer in JSON."""
    helper = tmp_path / "docker-credential-test"
    helper.write_text(
        f'#!/bin/sh\n[ "$1 $(cat)" = "get {guarded}" ] || exit 1\n'
        'echo \'{"Username": "me", "Secret": "secret"}\'\n'
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    docker_config({"credHelpers": {guarded: "test"}})
    run("package", "push", f"{guarded}/team/helped:v1", packages[0].path)


REFUSED = [
    pytest.param({}, "the registry does not let us (HTTP 401", id="nobody"),
    pytest.param(entry("me", "wrong"), "refuses the credentials (HTTP 401", id="wrong"),
    pytest.param({"auth": "%"}, "is no base64 of USER:PASSWORD", id="broken"),
]


@pytest.mark.parametrize(("account", "message"), REFUSED)
def test_push_without_rights_is_an_error(
    guarded: str,
    packages: list[Built],
    docker_config: Login,
    run: Run,
    account: dict[str, str],
    message: str,
) -> None:
    docker_config({"auths": {guarded: account}})
    err = run("package", "push", f"{guarded}/team/refused:v1", packages[0].path, code=1).err
    assert message in err
    assert f"docker login {guarded}" in err


def test_missing_repository_is_named(registry: str, run: Run) -> None:
    assert (
        f'cannot read "{registry}/team/none:v1": HTTP 404: '
        in run("package", "inspect", f"{registry}/team/none:v1", code=1).err
    )


def test_unreachable_registry_is_named(packages: list[Built], run: Run) -> None:
    """It may be the wrong port."""
    name = f"127.0.0.1:{free_port()}/team/one:v1"
    err = run("package", "push", name, packages[0].path, code=1).err
    assert f'cannot push to "{name}": {name.partition("/")[0]}: connection refused' in err

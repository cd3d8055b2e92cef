"""The command git, when servers and repositories mean harm."""

from __future__ import annotations

import os
import re
import tempfile
import time
from typing import TYPE_CHECKING

import pytest
import yaml
from e2e.remote_sources import commit, git, make_repository, needs_git, serving_git
from support.paths import ROOT

from function_script.request.remote.login import Login
from function_script.request.remote.reference import RemoteReference
from function_script.tools.remote import git as client
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg.credentials import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.remote_sources import GitServer

pytestmark = needs_git
TRUST = Trust(find_login=lambda _: None)


def reference(url: str, version: str, path: str = "") -> RemoteReference:
    return RemoteReference(transport="git", location=url, version=version, path=path)


def fetch(server: GitServer, revision: str, trust: Trust = TRUST) -> dict[str, str]:
    return client.fetch(reference(f"{server.url}/lib.git", revision), trust).texts


def test_silent_server_ends_at_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_SECONDS", 1.0)
    with serving_git(tmp_path) as server:
        server.is_silent.set()
        start = time.monotonic()
        with pytest.raises(FetchError, match="did not arrive within 1 s"):
            fetch(server, "0" * 40)
        assert time.monotonic() - start < 30


def test_large_pack_ends_at_the_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path)
    path = tmp_path / "work/noise"
    with open("/dev/urandom", "rb") as noise:  # noqa: PTH123 - a device
        path.write_bytes(noise.read(3 << 20))
    revision = commit(tmp_path)
    monkeypatch.setattr(client, "_LIMITS", 'ulimit -f 2048; exec "$@"')
    with serving_git(tmp_path) as server, pytest.raises(FetchError, match="more than 64 MiB"):
        fetch(server, revision)


def test_configuration_and_hooks_of_the_user_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = make_repository(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    trap = tmp_path / "trap"
    (home / ".gitconfig").write_text(
        f'[credential]\n helper = "!touch {trap}; true"\n[core]\n sshCommand = touch {trap}\n'
        f'[url "file://{tmp_path}/"]\n insteadOf = http://\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    with serving_git(tmp_path) as server:
        assert fetch(server, revision)
        server.authorization = "Basic x"
        with pytest.raises(FetchError, match="refuses access"):
            fetch(server, revision)
    assert not trap.exists()


@pytest.mark.parametrize("url", ["file:///etc", "ext::sh -c id", "ssh://a.org/b", "git://a.org/b"])
def test_other_protocols_are_refused_by_git_itself(url: str) -> None:
    with pytest.raises(FetchError, match="not allowed"):
        client.fetch(reference(url, "0" * 40), TRUST)


def test_submodules_are_left_out(tmp_path: Path) -> None:
    make_repository(tmp_path)
    work = tmp_path / "work"
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    (work / ".gitmodules").write_text('[submodule "sub"]\n path = sub\n url = https://a.org/b\n')
    revision = commit(tmp_path)
    with serving_git(tmp_path) as server:
        texts = fetch(server, revision)
    assert set(texts) == {"main.star", "lib/names.star"}


def test_name_that_no_archive_may_have_is_refused_where_it_is_asked_for(tmp_path: Path) -> None:
    """Units of systemd have such names."""
    files = {"lib/a.star": "a = 1\n", "units/dev-a\\x2db.mount": "[Mount]\n"}
    revision = make_repository(tmp_path, files)
    with serving_git(tmp_path) as server:
        url = f"{server.url}/lib.git"
        assert set(client.fetch(reference(url, revision, "lib"), TRUST).texts) == {"a.star"}
        with pytest.raises(FetchError, match="outside of it"):
            client.fetch(reference(url, revision, "units"), TRUST)


def test_login_without_tls_is_not_sent(tmp_path: Path) -> None:
    revision = make_repository(tmp_path)
    login = Login(user="me", password="secret")  # noqa: S106 - a test's
    with serving_git(tmp_path) as server:
        with pytest.raises(FetchError, match="over TLS only"):
            fetch(server, revision, Trust(find_login=lambda _: login))
        assert server.seen == []


def test_secret_that_a_server_repeats_is_masked() -> None:
    login = Login(user="me", password="secret")  # noqa: S106 - a test's
    url = "https://git.example.org/lib.git"
    with (
        pytest.raises(FetchError, match=r"^you sent Basic \*\*\*, \*\*\*$"),
        client._open(url, Trust(find_login=lambda _: login)),
    ):
        raise FetchError(f"you sent {login.basic}, secret")


def test_tag_and_branch_are_resolved(tmp_path: Path) -> None:
    first = make_repository(tmp_path)
    git(tmp_path / "work", "tag", "--annotate", "--message=x", "v1")
    (tmp_path / "work/new").write_text("new")
    second = commit(tmp_path)
    with serving_git(tmp_path) as server:
        url = f"{server.url}/lib.git"
        assert client.resolve(url, "v1", TRUST) == first
        assert client.resolve(url, "main", TRUST) == second
        with pytest.raises(FetchError, match="no branch and no tag"):
            client.resolve(url, "--upload-pack=id", TRUST)


MISSING = {
    "git": ("PATH", "git is not installed", "make an image with git"),
    "directory": ("TMPDIR", "git needs a directory for", "mount an emptyDir at /tmp"),
}


@pytest.mark.parametrize(("variable", "message", "hint"), MISSING.values(), ids=MISSING)
def test_missing_need_of_git_is_named_with_its_page(
    variable: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/nowhere")
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [os.environ.get("TMPDIR")])
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(FetchError, match=message) as caught:
        client.fetch(reference("https://git.example.org/lib.git", "0" * 40), TRUST)
    assert hint in caught.value.hint
    assert "docs/how-to/share-modules.md" in caught.value.hint


def test_temporary_directory_of_the_page_is_the_one_that_the_error_names() -> None:
    blocks = (ROOT / "docs/how-to/share-modules.md").read_text().split("```yaml\n")[1:]
    (config,) = (
        yaml.safe_load(block.partition("```")[0])
        for block in blocks
        if "kind: DeploymentRuntimeConfig" in block
    )
    pod = config["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]
    (volume,) = pod["volumes"]
    assert "emptyDir" in volume
    mount = {"name": volume["name"], "mountPath": "/tmp"}  # noqa: S108 - of a container
    assert pod["containers"][0]["volumeMounts"] == [mount]
    assert f"an emptyDir at {mount['mountPath']} " in client._NO_DIRECTORY_HINT


def test_recipe_of_an_image_with_git_fits_the_image() -> None:
    """The page that the error names ends with the user that the image has."""
    page = re.search(r"docs/\S+\.md", client._NO_GIT_HINT)
    text = (ROOT / page[0]).read_text()
    recipe = text[text.index("FROM ") : text.index("```", text.index("FROM "))].splitlines()
    dockerfile = (ROOT / "package" / "Dockerfile").read_text()
    assert [line.split()[0] for line in recipe] == ["FROM", "USER", "RUN", "USER"]
    assert "apt-get install --yes --no-install-recommends git " in recipe[2]
    assert recipe[1] == "USER root"
    assert f"\n{recipe[3]}\n" in dockerfile
    # The page sends to the base that has Debian's package manager, which the recipe uses.
    assert "../../package/README.md#a-base-with-a-shell" in text
    _, _, other = (ROOT / "package" / "README.md").read_text().partition("### A base with a shell")
    image = recipe[0].removeprefix("FROM ")
    assert f" -t {image} " in other
    assert "RUNTIME_BASE=docker.io/library/python:3.13-slim" in other

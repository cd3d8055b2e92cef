"""The image with git that a page describes: it fetches a commit, locked down as our own is."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import yaml
from e2e.remote_sources import GitServer, make_repository, serving_git
from e2e.serving import call
from image import build, served
from image.container import Mount, Settings
from image.stages import Image
from support import builders
from support.paths import ROOT
from support.timing import wait_until

MIB = 2**20
PAGE = ROOT / "docs" / "how-to" / "share-modules.md"
DIRECTORY = "/tmp"  # noqa: S108 - of a container
TEMPORARY = Mount(target=DIRECTORY, is_writable=True, size_bytes=128 * MIB)


@pytest.fixture(scope="module")
def git_image() -> Image:
    """The image of the page."""
    return build.read_image("git-image")


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[GitServer, str]]:
    """A git server, and the commit of its repository."""
    tmp_path.chmod(0o755)
    (tmp_path / "git" / "work").mkdir(parents=True)
    commit = make_repository(tmp_path / "git")
    with serving_git(tmp_path / "git") as server:
        yield server, commit


def fetch(
    image: Image, repository: tuple[GitServer, str], directory: Path, *mounts: Mount
) -> tuple[list[str], list[str]]:
    """Call a server in a container until the fetch has ended; messages and composed resources."""
    source, commit = repository
    described = Settings(
        arguments=("--insecure", "--remote-allow", source.name), mounts=tuple(mounts)
    )
    remote = {"git": {"url": f"{source.url}/lib.git", "commit": commit}}
    request = builders.request(
        {
            "apiVersion": builders.API_VERSION,
            "kind": "StarlarkScript",
            "source": "Remote",
            "remote": remote,  # type: ignore[dict-item] # plain values only
        }
    )
    with (
        served.serving(image, directory, described),
        grpc.insecure_channel(served.ADDRESS) as channel,
    ):
        responses = [call(channel, request)]

        def has_ended() -> bool:
            responses.append(call(channel, request))
            return not any("waiting for" in each.message for each in responses[-1].results)

        wait_until(has_ended)
        response = responses[-1]
        return [each.message for each in response.results], [*response.desired.resources]


def test_commit_is_fetched(
    git_image: Image, repository: tuple[GitServer, str], tmp_path: Path
) -> None:
    messages, resources = fetch(git_image, repository, tmp_path, TEMPORARY)
    assert messages == []
    assert len(resources) == 5


def test_missing_temporary_directory_is_told(
    git_image: Image, repository: tuple[GitServer, str], tmp_path: Path
) -> None:
    """The message names what the page mounts."""
    (message,), resources = fetch(git_image, repository, tmp_path)
    assert "git needs a directory for temporary files" in message
    assert "mount an emptyDir at /tmp" in message
    assert resources == []
    blocks = PAGE.read_text().split("```yaml\n")[1:]
    (config,) = (
        yaml.safe_load(block.partition("```")[0])
        for block in blocks
        if "kind: DeploymentRuntimeConfig" in block
    )
    pod = config["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]
    (volume,) = pod["volumes"]
    assert pod["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "mountPath": DIRECTORY}
    ]


def test_missing_git_is_told_with_the_page(
    image: Image, repository: tuple[GitServer, str], tmp_path: Path
) -> None:
    (message,), _ = fetch(image, repository, tmp_path)
    assert "docs/how-to/share-modules.md" in message


def test_image_with_git_is_ours_otherwise(git_image: Image) -> None:
    """Users, entry point, labels and ports of the base are as they were."""
    image = build.read_image("slim-image")
    for name in ("user", "entrypoint", "labels", "ports", "environment", "directory"):
        assert getattr(git_image, name) == getattr(image, name)

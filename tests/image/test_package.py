"""The image becomes Crossplane's package: the same bytes every time, from every layout."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from image import build
from image.stages import Image

CRDS = 3


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image without a shell as an OCI layout, written by umoci as a builder would."""
    image = build.read_image("bare-image")
    directory = tmp_path_factory.mktemp("layout") / "oci"
    name = f"{directory}:image"
    run("umoci", "init", "--layout", str(directory))
    run("umoci", "new", "--image", name)
    run("umoci", "insert", "--image", name, str(image.root), "/")
    run("umoci", "config", "--image", name, *settings(image))
    return directory


def settings(image: Image) -> list[str]:
    """Spell what the image says about its containers as arguments of umoci."""
    flags = ["--architecture", "amd64", "--os", "linux", "--config.user", image.user]
    flags += [word for part in image.entrypoint for word in ("--config.entrypoint", part)]
    flags += [word for port in image.ports for word in ("--config.exposedports", port)]
    for name, value in image.labels.items():
        flags += ["--config.label", f"{name}={value}"]
    return flags


def run(*command: str) -> str:
    """Run a command and return its output."""
    result = subprocess.run([*command], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def function_script(*arguments: str) -> str:
    """Run the command line of this checkout."""
    return run(sys.executable, "-m", "function_script.cli", *arguments)


def pack(runtime: Path, output: Path) -> bytes:
    """Build the package of the checkout's own metadata with a runtime image."""
    arguments = ("--runtime-image", str(runtime), "-o", str(output))
    function_script("package", "build", *arguments)
    return output.read_bytes()


def test_builds_of_one_image_are_the_same_bytes(layout: Path, tmp_path: Path) -> None:
    """Also of a layout in an archive, and of what `docker save` writes."""
    directory = pack(layout, tmp_path / "a.xpkg")
    assert pack(layout, tmp_path / "b.xpkg") == directory
    archive = tmp_path / "oci.tar"
    run("tar", "--create", "--file", str(archive), "--directory", str(layout), ".")
    assert pack(archive, tmp_path / "c.xpkg") == directory


def test_image_that_was_saved_is_the_same_package_every_time(layout: Path, tmp_path: Path) -> None:
    """Its layers are not compressed in there, and are compressed alike."""
    saved = tmp_path / "image.tar"
    run("skopeo", "copy", "--quiet", f"oci:{layout}:image", f"docker-archive:{saved}:image:tag")
    assert pack(saved, tmp_path / "a.xpkg") == pack(saved, tmp_path / "b.xpkg")


def test_package_holds_what_the_image_says(layout: Path, tmp_path: Path) -> None:
    """Entry point, user and labels; the metadata and the CRDs of the inputs."""
    pack(layout, tmp_path / "a.xpkg")
    report = json.loads(
        function_script("package", "inspect", str(tmp_path / "a.xpkg"), "--output", "json")
    )
    assert [entry["kind"] for entry in report["objects"]].count("CustomResourceDefinition") == CRDS
    assert [entry["platform"] for entry in report["platforms"]] == ["linux/amd64"]
    image = build.read_image("bare-image")
    config = json.loads(run("skopeo", "inspect", "--config", f"docker-archive:{tmp_path}/a.xpkg"))
    assert config["config"]["User"] == image.user
    assert config["config"]["Entrypoint"] == image.entrypoint
    assert config["config"]["Labels"].items() >= image.labels.items()

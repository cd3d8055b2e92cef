"""Progress of `package`: what stands on stderr while it lasts, on a terminal and elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from function_script.tools.xpkg import NullProgress, archives, images
from function_script.tools.xpkg.transport import Body

META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata: {name: function-test}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A function with the image it runs as."""
    for name in ("package", "input_crds"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "crossplane.yaml").write_text(META)
    base = images.Image(config={**images.EMPTY.config, "architecture": "arm64"})
    image = images.with_layer(base, archives.tar({"app": b"x"}), "other")
    (tmp_path / "image.tar").write_bytes(images.to_docker_archive(image))
    return tmp_path


def build(project: Path, *flags: str, on_terminal: bool = False) -> str:
    """What `package build` writes to stderr, which may be a terminal."""
    command = [sys.executable, "-m", "function_script.cli", "package", "build", *flags]
    reader, writer = os.openpty() if on_terminal else os.pipe()
    try:
        subprocess.run(command, cwd=project, stdout=subprocess.DEVNULL, stderr=writer, check=True)
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        # The end of a terminal is an error; all of this fits into its buffer.
        return os.read(stream.fileno(), 4096).decode()


@pytest.mark.parametrize("on_terminal", [False, True])
def test_line_for_each_image_and_each_platform(project: Path, on_terminal: bool) -> None:
    """Reading and writing hundreds of megabytes takes its time."""
    text = build(project, "--runtime-image", "image.tar", on_terminal=on_terminal)
    assert text.splitlines() == ["reading image.tar", "building linux/arm64"]


def test_quiet_is_quiet(project: Path) -> None:
    """Nothing but results and problems."""
    assert build(project, "--runtime-image", "image.tar", "--quiet") == ""


def test_quick_work_is_not_reported(project: Path) -> None:
    """A package without an image is written at once."""
    assert build(project) == ""


class Shares(NullProgress):
    """Remembers them."""

    def __init__(self) -> None:
        self.parts: list[float] = []

    def share(self, part: float) -> None:
        self.parts.append(part)


def test_body_tells_how_much_of_it_is_read() -> None:
    """Also when it is sent again, as registries may ask for."""
    shares = Shares()
    body = Body(b"abcd", shares)
    assert [body.read(3), body.read(3), body.read(3)] == [b"abc", b"d", b""]
    body.seek(0)
    body.read(1)
    assert shares.parts == [0.75, 1.0, 1.0, 0.25]


def test_empty_body_is_sent_at_once() -> None:
    """Nothing of nothing is everything."""
    shares = Shares()
    assert Body(b"", shares).read(1) == b""
    assert shares.parts == [1.0]

"""Progress of `package`: what stands on stderr while it lasts, on a terminal and elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import Run

from function_script.tools.progress import Progress
from function_script.tools.xpkg import archives, images
from function_script.tools.xpkg.transport import Body

META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata: {name: function-test}
"""


@pytest.fixture(autouse=True)
def _project(here: Path) -> None:
    """A function with the image it runs as, in the current directory."""
    for name in ("package", "input_crds"):
        (here / name).mkdir()
    (here / "package" / "crossplane.yaml").write_text(META)
    base = images.Image(config={**images.EMPTY.config, "architecture": "arm64"})
    image = images.with_layer(base, archives.tar({"app": b"x"}), "other")
    (here / "image.tar").write_bytes(images.to_docker_archive(image))


BUILD = ("package", "build", "--runtime-image", "image.tar")
LINES = ["reading image.tar", "building linux/arm64"]


def test_line_for_each_image_and_each_platform(run: Run) -> None:
    """Reading and writing hundreds of megabytes takes its time."""
    assert run(*BUILD).err.splitlines() == LINES


def test_terminal_has_the_same_lines() -> None:
    reader, writer = os.openpty()
    command = [sys.executable, "-m", "function_script.cli", *BUILD]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=writer, check=True)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        # The end of a terminal is an error; all of this fits into its buffer.
        assert os.read(stream.fileno(), 4096).decode().splitlines() == LINES


def test_quiet_is_quiet(run: Run) -> None:
    """Nothing but results and problems."""
    assert run(*BUILD, "--quiet").err == ""


def test_quick_work_is_not_reported(run: Run) -> None:
    """A package without an image is written at once."""
    assert run("package", "build").err == ""


class Shares(Progress):
    """Remembers them."""

    def __init__(self) -> None:
        self.parts: list[float] = []

    def share(self, part: float) -> None:
        self.parts.append(part)


def test_body_tells_how_much_of_it_is_read() -> None:
    """Registries may ask for it again."""
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

"""The tutorial from its first line, on a machine where nothing is prepared."""

import shutil
from pathlib import Path

import pytest
from install.machine import build_sdist, check_out, environment, run, unpack
from support import walk

PAGE = Path("docs/tutorial/first-composition.md")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(params=["checkout", "sdist"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A clean clone, or an sdist of it that somebody has unpacked."""
    checkout = check_out(tmp_path / "checkout")
    if request.param == "checkout":
        return checkout
    (tmp_path / "dist").mkdir()
    unpacked = unpack(build_sdist(checkout, tmp_path / "dist"), tmp_path / "unpacked")
    shutil.rmtree(checkout)
    return unpacked


def test_newcomer_gets_through(sources: Path, tmp_path: Path) -> None:
    """The page installs the command without a compiler, and every later step works."""
    home = tmp_path / "home"
    walker = walk.Walk(sources, home=home, environment=environment(home, CC="false"))
    walker.follow(sources / PAGE)
    command = home / "function-script" / "bin" / "function-script"
    version = run([str(command), "version"], tmp_path, environment(home))
    assert version.strip().endswith(", plain Python)")

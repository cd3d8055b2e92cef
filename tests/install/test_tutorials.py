"""The tutorial from its first line, on a machine where nothing is prepared."""

import shutil
from pathlib import Path

import pytest
from install.machine import build_sdist, check_out, environment, quick_compiler, run, unpack
from support import walk

PAGE = Path("docs/tutorial/first-composition.md")
FAILED = "plain Python: the C compiler failed: false ended with exit status 1"

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


@pytest.mark.parametrize("compiles", [True, False], ids=["compiler", "failing-compiler"])
def test_newcomer_gets_through(*, compiles: bool, sources: Path, tmp_path: Path) -> None:
    """The page installs the command and every later step works, from nothing but the sources."""
    variables = {} if compiles else {"CC": "false"}
    if compiles and sources.parent != tmp_path:
        variables["CC"] = quick_compiler(tmp_path)
    code = "compiled" if compiles else FAILED
    home = tmp_path / "home"
    walker = walk.Walk(sources, home=home, environment=environment(home, **variables))
    walker.follow(sources / PAGE)
    command = home / "function-script" / "bin" / "function-script"
    assert run([str(command), "version"], tmp_path, environment(home)).strip().endswith(f"{code})")

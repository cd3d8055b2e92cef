"""The tutorial from its first line, on a machine where nothing is prepared."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import test_tutorial
from machine import build_sdist, check_out, environment, quick_compiler, run, unpack

PAGE = Path("docs/tutorial/first-composition.md")
INSTALL = re.compile(r"^## Install\n.*?^```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
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
def test_a_newcomer_gets_through(*, compiles: bool, sources: Path, tmp_path: Path) -> None:
    """The commands of the first section install, and every later step of the page works."""
    variables = {} if compiles else {"CC": "false"}
    if compiles and sources.parent != tmp_path:
        variables["CC"] = quick_compiler(tmp_path)
    code = "compiled" if compiles else FAILED
    env = environment(tmp_path / "home", **variables)
    page = (sources / PAGE).read_text()
    (block,) = INSTALL.findall(page)
    commands = re.sub(r"^\$ ", "", block, flags=re.MULTILINE)
    # The shell in which they are typed is the one of the later steps.
    state = tmp_path / "state"
    run(["sh", "-euc", f'{commands}\nprintf "%s\\n" "$PWD" "$PATH" > {state}'], sources, env)
    directory, path = state.read_text().splitlines()
    env["PATH"] = path
    assert run(["function-script", "version"], tmp_path, env).strip().endswith(f"{code})")
    reader = test_tutorial.Reader(Path(directory), env)
    for kind, text in test_tutorial.BLOCK.findall(page):
        reader.follow(kind, text)

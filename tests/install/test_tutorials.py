"""The tutorial from its first line, on a machine where nothing is prepared."""

from pathlib import Path

import pytest
from install.machine import check_out, environment, run
from support import walk

PAGE = Path("docs/tutorial/first-composition.md")

pytestmark = pytest.mark.timeout(900)


def test_newcomer_gets_through(tmp_path: Path) -> None:
    """The page installs the command without a compiler, and every later step works."""
    home, checkout = tmp_path / "home", check_out(tmp_path / "checkout")
    walker = walk.Walk(checkout, home=home, environment=environment(home, CC="false"))
    walker.follow(checkout / PAGE)
    command = home / "function-script" / "bin" / "function-script"
    version = run([str(command), "version"], tmp_path, environment(home))
    assert version.strip().endswith(", plain Python)")

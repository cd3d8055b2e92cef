"""What the run on other systems leaves out is what is there, and no more."""

import re

import pytest
from support import linux_only
from support.paths import ROOT

TESTS = ROOT / "tests"
NAMES = [path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")]


@pytest.mark.parametrize("pattern", linux_only.FILES)
def test_pattern_matches_a_file(pattern: str) -> None:
    """A file that is gone takes its entry with it."""
    assert list(TESTS.glob(pattern))


@pytest.mark.parametrize(
    "word", ["render", "cases", "check", "validate", "template", "playground", "init", "editor"]
)
def test_tools_are_never_left_out(word: str) -> None:
    """Their tests run everywhere."""
    pattern = re.compile(f"^(unit|browser).*[/_]{word}")
    paths = [name for name in NAMES if pattern.search(name)]
    assert paths
    assert not any(map(linux_only.is_left_out, paths))

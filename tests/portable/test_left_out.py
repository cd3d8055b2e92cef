"""What the run on other systems leaves out is what is there, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import linux_only

TESTS = Path(__file__).resolve().parents[1]
NAMES = [path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")]


@pytest.mark.parametrize("pattern", linux_only.FILES)
def test_a_pattern_matches_a_file(pattern: str) -> None:
    """A file that is gone takes its entry with it."""
    assert list(TESTS.glob(pattern))


@pytest.mark.parametrize(
    "word", ["render", "cases", "check", "validate", "template", "playground", "init", "editor"]
)
def test_no_tool_is_left_out(word: str) -> None:
    """Their tests run everywhere."""
    pattern = re.compile(f"^(unit|browser).*[/_]{word}")
    paths = [name for name in NAMES if pattern.search(name)]
    assert paths
    assert not any(map(linux_only.is_left_out, paths))

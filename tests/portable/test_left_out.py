"""What the run on other systems leaves out is there."""

import pytest
from support import linux_only
from support.paths import ROOT

TESTS = ROOT / "tests"


@pytest.mark.parametrize("pattern", linux_only.FILES)
def test_pattern_matches_a_file(pattern: str) -> None:
    """A file that is gone takes its entry with it."""
    assert list(TESTS.glob(pattern))

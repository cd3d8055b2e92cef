"""The page of the specification names tests that exist, for every rule."""

import re

from support.paths import ROOT

RULES = 22


def test_rule_has_a_test_that_exists() -> None:
    """A rule without a test, or with one that is gone, would be a promise only."""
    page = (ROOT / "docs/reference/specification.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\| (?!-|rule|what \|)", line)]
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len([row for row in rows if re.match(r"\| (MUST|SHOULD)", row)]) == RULES
    for row in rows:
        tests = re.findall(r"`(test_\w+)`", row)
        assert tests, row
        assert [name for name in tests if f"def {name}(" not in sources] == []

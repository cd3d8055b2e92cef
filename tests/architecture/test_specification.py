"""The page of the specification names tests that exist, for every rule."""

import re
from collections import Counter

from support.paths import ROOT

# The sentences of Crossplane's specification by their keyword.
SENTENCES = {"MUST": 15, "MUST NOT": 7, "SHOULD": 9, "SHOULD NOT": 1, "MAY": 3}


def test_sentence_of_the_specification_has_a_row() -> None:
    page = (ROOT / "docs/contributing/specification.md").read_text()
    keywords = re.findall(r"^\| ([A-Z ]+) \|", page, re.MULTILINE)
    assert Counter(keywords) == SENTENCES


def test_rule_has_a_test_that_exists() -> None:
    """A rule without a test, or with one that is gone, would be a promise only."""
    page = (ROOT / "docs/contributing/specification.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\| (?!-|rule|design)", line)]
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(rows) > sum(SENTENCES.values())
    for row in rows:
        tests = re.findall(r"`(test_\w+)`", row)
        assert tests, row
        assert [name for name in tests if f"def {name}(" not in sources] == []

"""The page of the specification names tests that exist, for every rule."""

import re
from collections import Counter

import pytest
from support.paths import ROOT

# The sentences of Crossplane's specification by their keyword.
SENTENCES = {"MUST": 15, "MUST NOT": 7, "SHOULD": 9, "SHOULD NOT": 1, "MAY": 3}


def test_sentence_of_the_specification_has_a_row() -> None:
    page = (ROOT / "docs/contributing/specification.md").read_text()
    keywords = re.findall(r"^\| ([A-Z ]+) \|", page, re.MULTILINE)
    assert Counter(keywords) == SENTENCES


def test_rule_has_a_test() -> None:
    """A rule without a test would be a promise only."""
    page = (ROOT / "docs/contributing/specification.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\| (?!-|rule|design)", line)]
    assert len(rows) > sum(SENTENCES.values())
    assert [row for row in rows if not re.search(r"`test_\w+`", row)] == []


@pytest.mark.parametrize(
    "page", ["docs/contributing/specification.md", "docs/reference/crossplane-versions.md"]
)
def test_tests_that_a_page_names_exist(page: str) -> None:
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    names = re.findall(r"`(test_\w+)`", (ROOT / page).read_text())
    assert len(names) >= 5
    assert [name for name in names if f"def {name}(" not in sources] == []

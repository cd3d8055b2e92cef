"""The changelog has each section once, a line for each change, and nothing twice."""

import itertools
import re

from support.paths import ROOT

LINES = (ROOT / "CHANGELOG.md").read_text().splitlines()
HEADINGS = [line for line in LINES if line.startswith("#")]
CHANGES = [line for line in LINES if line.startswith("- ")]
# Of two lines that say the same in other words, the shorter one has most of its words in the other.
MOST = 0.8
# Words that every line has.
COMMON = 3


def words(line: str) -> set[str]:
    return {word for word in re.findall(r"[\w-]+", line.lower()) if len(word) > COMMON}


def test_section_is_there_once() -> None:
    """Also under another level."""
    assert len(HEADINGS) == len({heading.strip("# ") for heading in HEADINGS})


def test_change_is_one_line() -> None:
    """So that two people who add one each have no conflict, and a search shows all of it."""
    prose = [line for line in LINES if line and not line.startswith(("#", "- "))]
    first = LINES.index(next(line for line in LINES if line.startswith("### ")))
    assert [line for line in prose if LINES.index(line) > first] == []
    assert len(CHANGES) == len(set(CHANGES))


def test_change_is_told_once() -> None:
    """Not in other words in another section, either."""
    pairs = itertools.combinations([(line, words(line)) for line in CHANGES], 2)
    repeated = [
        (one, other)
        for (one, of_one), (other, of_other) in pairs
        if len(of_one & of_other) > MOST * min(len(of_one), len(of_other))
    ]
    assert repeated == []


def test_breaking_changes_are_marked_alike_and_come_first() -> None:
    """In each section: whoever upgrades reads them and skips the rest."""
    for section in "\n".join(LINES).split("\n### ")[1:]:
        marks = [line.startswith("- **Breaking:** ") for line in section.splitlines()[1:] if line]
        assert marks == sorted(marks, reverse=True), section.splitlines()[0]
    assert not [
        line for line in CHANGES if re.search(r"\bbreaking\b(?!:\*\*)", line, re.IGNORECASE)
    ]

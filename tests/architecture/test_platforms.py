"""The page of platforms is about the versions that are locked."""

import re

from support.paths import ROOT

PAGE = (ROOT / "docs" / "reference" / "platforms.md").read_text()
LOCKED = dict(
    re.findall(
        r"^([a-z0-9-]+)==([^\s;\\]+)",
        (ROOT / "requirements" / "runtime.txt").read_text(),
        re.MULTILINE,
    )
)
GAPS = {"**no**", "**not for 3.14**"}
# What builds an editable installation, and is no dependency of the command.
BUILDING = {"setuptools", "wheel", "packaging"}


def test_tables_have_the_locked_versions() -> None:
    """Each dependency is in the table or in a sentence below it, once, by its locked version."""
    rows = re.findall(r"^\| ([a-z0-9-]+) ([0-9][\w.]*) \|", PAGE, re.MULTILINE)
    sentences = re.findall(
        r"^(?:These have wheels|The others are pure).*?: (.*?)\.\n\n",
        PAGE,
        re.DOTALL | re.MULTILINE,
    )
    everywhere = [tuple(each.split()) for each in re.split(r",\s", ", ".join(sentences))]
    listed = [*rows, *everywhere]
    expected = {name: version for name, version in LOCKED.items() if name not in BUILDING}
    assert dict(listed) == expected
    assert len(listed) == len(expected)


def test_row_says_where_there_are_wheels() -> None:
    """By one word for each of the systems in the table's head."""
    (head,) = re.findall(r"^\| dependency \|.*$", PAGE, re.MULTILINE)
    for row in re.findall(r"^\| [a-z0-9-]+ [0-9][\w.]* \|.*$", PAGE, re.MULTILINE):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == head.count("|") - 1
        assert set(cells[1:]) <= {"yes", "not used", *GAPS}


def test_gap_has_a_consequence() -> None:
    """What is not "yes" is named for that system in the second table, and nothing else is."""
    lines = PAGE.splitlines()
    head = next(line for line in lines if line.startswith("| dependency |"))
    systems = [cell.strip() for cell in head.strip("|").split("|")][1:]
    for line in lines:
        row = [cell.strip() for cell in line.strip("|").split("|")]
        name = row[0].split()[0] if row[0] else ""
        if name in LOCKED and len(row) == len(systems) + 1:
            for system, cell in zip(systems, row[1:], strict=True):
                (consequence,) = [each for each in lines if each.startswith(f"| {system} | 3.")]
                assert (name in consequence) == (cell in GAPS), (name, system)


def test_readme_leads_to_the_page() -> None:
    """It names no systems itself."""
    assert "[these systems](docs/reference/platforms.md)" in (ROOT / "README.md").read_text()

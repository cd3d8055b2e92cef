"""The page about readiness has the table that the code has."""

from __future__ import annotations

from pathlib import Path

from function_script.readiness import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "readiness.md"


def test_the_table_is_fresh(update_goldens: bool) -> None:
    """docs/reference/readiness.md says what the table of kinds says."""
    before, _, rest = PAGE.read_text().partition(reference.BEGIN)
    after = rest.partition(reference.END)[2]
    if update_goldens:
        PAGE.write_text(f"{before}{reference.section()}{after}")
    assert PAGE.read_text() == f"{before}{reference.section()}{after}"
    assert before
    assert after

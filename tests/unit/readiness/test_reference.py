"""The page about readiness has the table that the code has."""

from __future__ import annotations

from pathlib import Path

from function_script.reference_pages import readiness_page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "readiness.md"


def test_the_table_is_fresh(update_goldens: bool) -> None:
    """docs/reference/readiness.md says what the table of kinds says."""
    before, _, rest = PAGE.read_text().partition(readiness_page.BEGIN)
    after = rest.partition(readiness_page.END)[2]
    if update_goldens:
        PAGE.write_text(f"{before}{readiness_page.section()}{after}")
    assert PAGE.read_text() == f"{before}{readiness_page.section()}{after}"
    assert before
    assert after

"""The page about readiness has the table that the code has."""

from generate import parts, readiness_page
from support import generated
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "readiness.md"


def test_table_is_fresh(update_goldens: bool) -> None:
    """docs/reference/readiness.md says what the table of kinds says."""
    page = parts.fill(PAGE, readiness_page.section())
    generated.check(PAGE, page, update=update_goldens)

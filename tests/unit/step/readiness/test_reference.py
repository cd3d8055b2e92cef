"""The page about readiness has the table that the code has."""

from generate import readiness_page
from support import generated
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "readiness.md"


def test_table_is_fresh(update_goldens: bool) -> None:
    """docs/reference/readiness.md says what the table of kinds says."""
    before, _, rest = PAGE.read_text().partition(readiness_page.BEGIN)
    after = rest.partition(readiness_page.END)[2]
    generated.check(PAGE, f"{before}{readiness_page.section()}{after}", update=update_goldens)
    assert before
    assert after

"""The page about `check` has the table of rules."""

from generate import check_page
from support import generated
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "check.md"


def test_table_of_rules_is_fresh(*, update_goldens: bool) -> None:
    before, _, rest = PAGE.read_text().partition(check_page.BEGIN)
    after = rest.partition(check_page.END)[2]
    generated.check(PAGE, f"{before}{check_page.section()}{after}", update=update_goldens)
    assert before
    assert after

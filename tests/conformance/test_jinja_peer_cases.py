"""The described cases of function-go-templating as Jinja templates, through the main path."""

from pathlib import Path

import pytest
import yaml
from support import builders, gotemplating
from support.gotemplating import Case

from function_script.request.values import Object

TABLE = Path(__file__).parent / "jinja_peer" / "cases.yaml"
ROWS: list[Object] = yaml.load(TABLE.read_text(), yaml.CSafeLoader)["cases"]
HEAD: Object = {"apiVersion": builders.API_VERSION, "kind": "JinjaTemplate"}
CASES = [
    gotemplating.to_case(row, {**HEAD, **({"inline": row["inline"]} if "inline" in row else {})})
    for row in ROWS
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, tmp_path: Path) -> None:
    gotemplating.check(case, tmp_path)


def test_table_is_whole() -> None:
    """It has the cases of the other spelling, in their order."""
    assert [case.name for case in CASES] == [case.name for case in gotemplating.load()]


def test_differences_are_few_and_said() -> None:
    """Most cases are the same in both languages; each that is not says why."""
    assert len([row for row in ROWS if row.get("differs")]) <= 13

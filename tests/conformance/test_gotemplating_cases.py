"""The described cases of function-go-templating, in its own apiVersion, through the main path."""

from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
from support import gotemplating
from support.gotemplating import Case

from function_script.request.objects import find_path

CASES = gotemplating.load()


@cache
def load(head: str) -> dict[str, Case]:
    """Load the cases by name, with the head of a name in their inputs, once for all tests."""
    return {case.name: case for case in gotemplating.load(gotemplating.HEADS[head])}


# Each case has two heads of an input: that function's own, and one of the others in turn.
OWN, *OTHERS = gotemplating.HEADS
HEADED = [
    pytest.param(case.name, head, id=f"{case.name}, {head}")
    for case, other in zip(CASES, cycle(OTHERS), strict=False)
    for head in (OWN, other)
]


@pytest.mark.parametrize(("name", "head"), HEADED)
def test_case(name: str, head: str, tmp_path: Path) -> None:
    """The head of an input makes no difference: neither apiVersion nor kind is read there."""
    gotemplating.check(load(head)[name], tmp_path)


def test_table_has_49_different_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 49


MISSING = [case for case in CASES if "missingkey=error" in str((case.request, case.defaults))]


@pytest.mark.parametrize("case", MISSING, ids=lambda case: case.name)
def test_missing_key_is_reported_with_line_and_column(case: Case, tmp_path: Path) -> None:
    """The other function counts bytes from 0, this one characters from 1."""
    (result,) = gotemplating.run(case, tmp_path).results
    column = str(find_path(case.request, "input.inline.template")).index(".missing") + 1
    assert result.message.startswith(f"inline.template:1:{column}: ")

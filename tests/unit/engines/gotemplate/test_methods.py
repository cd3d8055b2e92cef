"""The table of methods: the reference lists it, and hints list nothing else."""

import re
from pathlib import Path

import pytest
from support import programs
from support.paths import ROOT

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate.methods import METHODS

PAGE = Path(ROOT, "docs", "reference", "gotemplate-compatibility.md")
TIME = '(toDate "2006" "2024")'
CONDITION = '(getResourceCondition "Ready" nil)'


def test_reference_lists_the_methods() -> None:
    """A row names another type whose methods it shares."""
    section = PAGE.read_text().partition("## Methods of values\n")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < len(("", "type", "made by", "methods", "")) or "`" not in cells[1]:
            continue
        names = set(re.findall(r"`(\w+)`", cells[3]))
        shared = re.match(r"those of `([\w.]+)`", cells[3])
        methods = set(METHODS[cells[1].strip("`")])
        if shared is None:
            assert methods == names
        elif " but " in cells[3]:
            assert methods == METHODS[shared[1]].keys() - names
        else:
            assert methods == METHODS[shared[1]].keys() | names


FIELDS = [
    pytest.param(f"{TIME}.Hours", "did you mean", ("Hour",), id="near"),
    pytest.param(f"{TIME}.wall", "it has", METHODS["time.Time"], id="time"),
    pytest.param(f"({TIME}.Sub {TIME}).x", "it has", METHODS["time.Duration"], id="duration"),
    pytest.param(f"{TIME}.Month.Number", "it has", ("String",), id="month"),
    pytest.param('(semver "1").numbers', "it has", METHODS["*semver.Version"], id="version"),
    pytest.param(
        f"{CONDITION}.x",
        "it has",
        ("Type", "Status", "LastTransitionTime", "Reason", "Message", "ObservedGeneration"),
        id="condition",
    ),
]


@pytest.mark.parametrize(("expression", "start", "names"), FIELDS)
def test_hint_lists_what_a_template_can_read(
    expression: str, start: str, names: tuple[str, ...]
) -> None:
    """No name of it is an internal one."""
    program = programs.program(f"{{{{ {expression} }}}}", missingkey="default")
    hint = programs.problem(gotemplate, program).hint or ""
    assert hint.startswith(start)
    assert set(re.findall(r"\w+", hint.removeprefix(start))) <= set(names)

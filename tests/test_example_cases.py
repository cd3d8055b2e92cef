"""The cases of the examples pass, as the readers of their README are told."""

from pathlib import Path

import pytest
from support.commands import Run
from support.paths import ROOT

EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/tests"))


def test_cases_of_examples_pass(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(ROOT)
    run("test", "--ci", "examples")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_readmes_name_the_command(example: Path) -> None:
    """Who reads about an example learns how it is tested."""
    assert f"function-script test examples/{example.name}" in (example / "README.md").read_text()

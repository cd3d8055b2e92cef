"""The project of the tests of plans."""

from pathlib import Path

import pytest
from support.commands import Run
from support.plans import Plan


@pytest.fixture
def plan(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A project in the current directory."""
    monkeypatch.chdir(tmp_path)
    return Plan(run, tmp_path)

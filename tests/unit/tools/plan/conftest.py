"""The project of the tests of plans."""

from pathlib import Path

import pytest
from support.commands import Run
from support.plans import Plan


@pytest.fixture
def plan(here: Path, run: Run) -> Plan:
    """A project in the current directory."""
    return Plan(run, here)

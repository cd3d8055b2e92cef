"""The checks that every change must pass, run as their own commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

CHECKS = {
    "style": ["ruff", "check", "."],
    "layout": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "floors": ["lint-imports", "--no-cache"],
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CHECKS)
def test_check_passes(name: str) -> None:
    """The command finds nothing to complain about."""
    command, *arguments = CHECKS[name]
    done = subprocess.run(
        [BIN / command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr

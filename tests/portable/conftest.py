"""These tests are about interpreters that look like another system, which Linux can play."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from portable import interpreter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without what Windows has not."""
    return interpreter.build(tmp_path_factory.mktemp("windows") / "python", "win32")


@pytest.fixture
def darwin() -> None:
    """Skip where this interpreter does not look like macOS: `make test-portable` makes it so."""
    if sys.platform != "darwin":
        pytest.skip("this interpreter has all that Linux has")

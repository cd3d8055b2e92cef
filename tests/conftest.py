"""Options of the whole test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are written anew by a flag, and reviewed as behaviour."""
    parser.addoption(
        "--update-goldens", action="store_true", help="write golden files from the actual results"
    )


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written."""
    return bool(request.config.getoption("--update-goldens"))

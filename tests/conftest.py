"""What every test may use."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are rewritten on request only; their difference is reviewed as behaviour."""
    parser.addoption("--update-goldens", action="store_true", help="write golden files anew")


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--update-goldens"))

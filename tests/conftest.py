"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from example_counts import load_profile
from scoreboard import Scoreboard

from function_script import wire

# Before test modules are imported: their own settings are derived from the profile's.
load_profile()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are written anew by a flag, and reviewed as behaviour."""
    parser.addoption(
        "--update-goldens", action="store_true", help="write golden files from the actual results"
    )
    parser.addoption(
        "--compiled", action="store_true", help="refuse to run with the codec in plain Python"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tables of scores are printed at the end; what --compiled shows, compiled code must show."""
    if config.getoption("--compiled") and not wire.is_compiled():
        raise pytest.UsageError("the codec is not compiled")
    config.pluginmanager.register(Scoreboard(), "scoreboard")


@pytest.fixture(scope="session")
def scoreboard(request: pytest.FixtureRequest) -> Scoreboard:
    """Where tests leave tables for the end of the run."""
    found = request.config.pluginmanager.get_plugin("scoreboard")
    assert isinstance(found, Scoreboard)
    return found


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written."""
    return bool(request.config.getoption("--update-goldens"))

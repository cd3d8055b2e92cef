"""Interpreters that look like those of other systems, which Linux can play."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from portable import interpreter
from support.paths import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A Python of another system, or of this one."""

    python: Path

    def run(self, *arguments: str, directory: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Run this Python with the arguments, and wait for its end."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=directory,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def call(self, *arguments: str, directory: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return self.run("-m", "function_script", *arguments, directory=directory)


@pytest.fixture(scope="session")
def here() -> System:
    """The Python that runs the tests."""
    return System(python=Path(sys.executable))


@pytest.fixture(scope="session")
def darwin(here: System, tmp_path_factory: pytest.TempPathFactory) -> System:
    """A Python without what macOS has not: this one on a Mac."""
    if sys.platform == "darwin":
        return here
    directory = tmp_path_factory.mktemp("darwin") / "python"
    return System(python=interpreter.build(directory, "darwin"))


@pytest.fixture(scope="session")
def windows(tmp_path_factory: pytest.TempPathFactory) -> System:
    """A Python without what Windows has not."""
    directory = tmp_path_factory.mktemp("windows") / "python"
    return System(python=interpreter.build(directory, "win32"))

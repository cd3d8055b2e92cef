"""Install this checkout elsewhere: a wheel of it, and environments that do not have it yet."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Final

from support.paths import ROOT

_BUILT: Final = shutil.ignore_patterns("*.egg-info", "__pycache__", "*.so", "*.xpkg")
_LEFT_OUT: Final = shutil.ignore_patterns(".*", "build", "dist", "tests")


def copy_checkout(target: Path) -> Path:
    """Copy what a build needs of this checkout, without what was built in it."""

    def ignored(directory: str, names: list[str]) -> set[str]:
        is_root = Path(directory) == ROOT
        return _BUILT(directory, names) | (_LEFT_OUT(directory, names) if is_root else set())

    shutil.copytree(ROOT, target, symlinks=True, ignore=ignored)
    return target


def build_wheel(directory: Path) -> Path:
    """Build a wheel of this checkout in plain Python, with the build tools that are installed."""
    sources = copy_checkout(directory / "sources")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", directory / "dist", sources], check=True)
    (wheel,) = (directory / "dist").glob("*.whl")
    return wheel


def create_venv(directory: Path, *, with_dependencies: bool) -> Path:
    """Create a virtual environment with pip and without this project; returns its bin directory.

    With dependencies, it sees those of the running environment, so that nothing is fetched.
    """
    venv.create(directory, with_pip=True)
    if with_dependencies:
        shared = directory / "dependencies"
        shared.mkdir()
        for path in Path(sysconfig.get_path("purelib")).iterdir():
            if "function_script" not in path.name and path.suffix != ".pth":
                (shared / path.name).symlink_to(path)
        (site,) = directory.glob("lib/python*/site-packages")
        (site / "dependencies.pth").write_text(f"{shared}\n")
    return directory / "bin"


def environment_of(bin_directory: Path, **variables: str) -> dict[str, str]:
    """Return the variables of a shell in which the environment is activated."""
    passed = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = f"{bin_directory}{os.pathsep}{os.environ['PATH']}"
    return {**passed, "NO_COLOR": "1", "PATH": path, "PIP_ROOT_USER_ACTION": "ignore", **variables}

"""A user's machine: a checkout, an empty home, the Pythons and the compiler that are there."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from support.paths import ROOT

OLDEST = (3, 11)
SHOWN_LINES = 60
# Nothing that a user's shell has not: neither the environment of the tests nor their settings.
_OWN = ("PYTHON", "FUNCTION_SCRIPT_", "VIRTUAL_ENV", "MAKE", "MFLAGS", "CC", "PYTEST_", "COV_")


class Python(NamedTuple):
    """An interpreter of the machine."""

    path: str
    version: tuple[int, int]

    @property
    def name(self) -> str:
        """The version as pip and people write it."""
        return ".".join(map(str, self.version))


def files_of(root: Path = ROOT) -> list[str]:
    """List the files of a clone of the repository, or of an unpacked sdist."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = run(command, root).splitlines()
    else:
        (sources,) = root.glob("*.egg-info/SOURCES.txt")
        listed = sources.read_text().splitlines()
    return [name for name in listed if (root / name).is_symlink() or (root / name).is_file()]


def check_out(target: Path) -> Path:
    """Copy the repository's files into a new directory, as a clone has them."""
    for name in files_of():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    return target


def build_sdist(checkout: Path, target: Path) -> Path:
    """Build an sdist as a release has it, with what is installed."""
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation"]
    run([*command, "--outdir", target, "."], checkout)
    (archive,) = target.glob("*.tar.gz")
    return archive


def unpack(archive: Path, target: Path) -> Path:
    """Unpack an sdist; returns the directory that it holds."""
    with tarfile.open(archive) as opened:
        opened.extractall(target, filter="data")
    (directory,) = target.iterdir()
    return directory


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Return the variables of a user with an empty home, who has pip's cache."""
    home.mkdir(parents=True, exist_ok=True)
    cache = run([sys.executable, "-m", "pip", "cache", "dir"], ROOT).strip()
    clean = {name: text for name, text in os.environ.items() if not name.startswith(_OWN)}
    here = str(Path(sys.executable).parent)
    path = [part for part in clean["PATH"].split(os.pathsep) if part != here]
    return {
        **clean,
        "PATH": os.pathsep.join(path),
        "HOME": str(home),
        "PIP_CACHE_DIR": cache,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NO_COLOR": "1",
        **variables,
    }


def write_script(path: Path, text: str) -> str:
    """Write an executable shell script; returns its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def quick_compiler(directory: Path) -> str:
    """Write a C compiler that optimises nothing, and so takes a tenth of the time."""
    return write_script(directory / "quick-cc", 'exec cc "$@" -O0')


def run(
    command: list[str | Path], cwd: Path, env: Mapping[str, str] | None = None, code: int = 0
) -> str:
    """Run a command to its end, which must be this exit code; returns what it printed."""
    result = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    end = "\n".join(result.stdout.splitlines()[-SHOWN_LINES:])
    assert result.returncode == code, f"{command} ended with {result.returncode}:\n{end}"
    return result.stdout


def _interpreters() -> Iterator[str]:
    for minor in range(8, 16):
        yield f"python3.{minor}"
    yield "python3"
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from map(str, sorted(versions.glob("*/bin/python3")))


def _pythons() -> list[Python]:
    """Find one working interpreter of each version."""
    program = "import sys, ensurepip, venv; print(sys.executable, *sys.version_info[:2])"
    pythons = {}
    for name in _interpreters():
        if shutil.which(name) is None:
            continue
        result = subprocess.run(
            [name, "-c", program], capture_output=True, text=True, check=False, cwd="/"
        )
        if result.returncode == 0:
            path, major, minor = result.stdout.rsplit(maxsplit=2)
            version = (int(major), int(minor))
            pythons.setdefault(version, Python(path, version))
    return sorted(pythons.values(), key=lambda python: python.version)


ALL = _pythons()
PYTHONS = [python for python in ALL if python.version >= OLDEST]
TOO_OLD = [python for python in ALL if python.version < OLDEST]

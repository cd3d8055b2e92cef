"""What works on a Python without what Windows has not; it is as much of Windows as Linux can play.

Programs are not run there: the commands that do it say so.
"""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from portable.conftest import System
from support.paths import ROOT

import function_script

pytestmark = pytest.mark.linux

# What runs programs, and what serves.
OTHERS = (
    "function_script.sandbox",
    "function_script.server",
    "function_script.testing.plugin",
    "function_script.tools.processes",
    "function_script.tools.remote.process",
)
GONE = """\
import os, signal, socket
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty"):
    try:
        exec(f"import {name}")
    except ImportError:
        continue
    print("there is", name)
for owner, names in ((os, "fork getuid sysconf mkfifo"), (signal, "SIGKILL SIGALRM setitimer")):
    print([name for name in names.split() if hasattr(owner, name)])
print(hasattr(socket, "AF_UNIX"))
"""
SENTENCE = """\
error: cannot run programs: this system has no os.fork
  = hint: programs are not run on Windows; use WSL or the image
"""


def test_names_are_gone(windows: System) -> None:
    """Those that Windows has not, and its modules."""
    assert windows.run("-I", "-S", "-c", GONE).stdout == "[]\n[]\nFalse\n"


def test_module_of_the_tools_can_be_imported(windows: System) -> None:
    """None of them takes a name of one system for granted."""
    modules = [
        module.name
        for module in pkgutil.walk_packages(function_script.__path__, "function_script.")
        if not module.name.startswith(OTHERS) and not module.name.endswith("__main__")
    ]
    assert len(modules) > 200
    code = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    result = windows.run("-c", code, *modules)
    assert result.returncode == 0, result.stderr


def here(*arguments: str, directory: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command line on this system."""
    return subprocess.run(
        [sys.executable, "-m", "function_script", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


COMMANDS = [
    ("check", "examples/starlark-robots"),
    ("check", "examples/error-starlark", "--output", "json"),
    ("validate", "input_crds", "examples/starlark-robots"),
    ("docs", "indent"),
    ("--help",),
    ("version",),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_same_is_printed_as_on_linux(windows: System, arguments: tuple[str, ...]) -> None:
    """Result, problems and exit code."""
    there, expected = windows.call(*arguments), here(*arguments)
    assert there.stdout == expected.stdout != ""
    assert (there.returncode, there.stderr) == (expected.returncode, expected.stderr)


def test_project_is_begun_and_checked(windows: System, tmp_path: Path) -> None:
    """`init` writes the files that it writes elsewhere, and `editor` its own."""
    for name, run in (("there", windows.call), ("here", here)):
        directory = tmp_path / name
        directory.mkdir()
        for command in (("init", "project"), ("editor", "project"), ("check", "project")):
            result = run(*command, directory=directory)
            assert result.returncode == 0, result.stderr
    files = {path.relative_to(tmp_path / "here"): path for path in (tmp_path / "here").rglob("*")}
    assert len(files) > 5
    for name, path in files.items():
        assert path.is_dir() or (tmp_path / "there" / name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "examples/starlark-robots"),
        ("test", "examples"),
        ("template", "examples/jinja-robots/composition.yaml"),
        ("run", "{request}"),
        ("playground", "examples/starlark-robots", "--no-browser"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_programs_are_not_run(windows: System, arguments: tuple[str, ...], tmp_path: Path) -> None:
    """One sentence says what to use."""
    request = tmp_path / "request.json"
    request.write_text("{}")
    result = windows.call(*(argument.format(request=request) for argument in arguments))
    assert (result.stdout, result.stderr, result.returncode) == ("", SENTENCE, 1)


def test_serve_says_where_it_runs(windows: System) -> None:
    """On Linux."""
    result = windows.call("serve", "--insecure")
    assert result.returncode == 1
    assert result.stderr.startswith("error: cannot serve: `serve` runs on Linux alone")

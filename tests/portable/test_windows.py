"""What works on a Python without what Windows has not; it is as much of Windows as Linux can play.

Programs are not run there: the commands that do it say so.
"""

import pkgutil
from pathlib import Path

import pytest
from portable.conftest import System

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
SENTENCE = """\
error: cannot run programs: this system has no os.fork
  = hint: programs are not run on Windows; use WSL or the image
"""


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


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "examples/error-starlark", "--output", "json", "--variants", "0"),
        ("validate", "input_crds", "examples/starlark-robots"),
        ("docs", "indent"),
        ("--help",),
    ],
    ids=" ".join,
)
def test_same_is_printed_as_on_linux(
    windows: System, here: System, arguments: tuple[str, ...]
) -> None:
    there, expected = windows.call(*arguments), here.call(*arguments)
    assert there.stdout == expected.stdout != ""
    assert (there.returncode, there.stderr) == (expected.returncode, expected.stderr)


def test_project_is_begun_and_checked(windows: System, here: System, tmp_path: Path) -> None:
    written = []
    for system in (windows, here):
        directory = tmp_path / system.python.parent.parent.name
        directory.mkdir()
        for command in ("init", "editor", "check"):
            result = system.call(command, "project", directory=directory)
            assert result.returncode == 0, result.stderr
        files = [path for path in directory.rglob("*") if path.is_file()]
        written.append({path.relative_to(directory): path.read_bytes() for path in files})
    assert written[0] == written[1] != {}


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
    request = tmp_path / "request.json"
    request.write_text("{}")
    result = windows.call(*(argument.format(request=request) for argument in arguments))
    assert (result.stdout, result.stderr, result.returncode) == ("", SENTENCE, 1)


def test_check_looks_at_the_text_alone(windows: System) -> None:
    result = windows.call("check", "examples/starlark-robots")
    assert (result.returncode, "0 errors" in result.stdout) == (0, True)
    assert result.stderr.startswith("note: nothing runs: ")


def test_serve_says_where_it_runs(windows: System) -> None:
    result = windows.call("serve", "--insecure")
    assert result.returncode == 1
    assert result.stderr.startswith("error: cannot serve: `serve` runs on Linux alone")

"""Wheels as users build them: in isolation, from a checkout and from the sdist, or of uv."""

import re
import sys
import zipfile
from pathlib import Path

import pytest
from install.machine import (
    PYTHONS,
    Python,
    build_sdist,
    check_out,
    environment,
    files_of,
    quick_compiler,
    run,
    unpack,
)

ROBOTS = "examples/starlark-robots"
COMMAND = "function-script"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean clone."""
    return check_out(tmp_path / "checkout")


def narrow(checkout: Path) -> Path:
    """Have a checkout compile the codec alone; returns the checkout.

    `make test-compiled` and `make test-image` compile all modules.
    """
    program = checkout / "setup.py"
    codec = 'MODULES = tuple(Path("wire", name) for name in CODEC)\n'
    text, count = re.subn(r"(?ms)^MODULES = \(\n.*?^\)\n", codec, program.read_text())
    assert count == 1
    program.write_text(text)
    return checkout


def pip_of(python: str | Path) -> list[str | Path]:
    """Return the command of pip for another Python; one of its own takes seconds to install."""
    return [sys.executable, "-m", "pip", "--python", python]


def build(python: Python, source: Path, env: dict[str, str], work: Path) -> Path:
    """Build the wheels of a checkout or sdist and of all it needs; returns its own."""
    where, what = (source, ".") if source.is_dir() else (work, source)
    run([*pip_of(python.path), "wheel", "--wheel-dir", work / "dist", what], where, env)
    (wheel,) = (work / "dist").glob("function_script-*.whl")
    return wheel


def install(python: Python, wheel: Path, env: dict[str, str], work: Path) -> Path:
    """Install a wheel into an empty environment, from the wheels beside it alone."""
    run([python.path, "-m", "venv", "--without-pip", work / "empty"], work, env)
    offline = ["install", "--no-compile", "--no-index", "--find-links", wheel.parent]
    run([*pip_of(work / "empty/bin/python"), *offline, "function-script"], work, env)
    return work / "empty/bin"


def names_in(wheel: Path) -> list[str]:
    """List the files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def check(programs: Path, checkout: Path, code: str, tmp_path: Path) -> None:
    """Check that an installation says how it runs, and that it renders."""
    env = environment(tmp_path / "home")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for command in ([programs / COMMAND], [programs / "python", "-m", "function_script"]):
        assert run([*command, "version"], elsewhere, env).strip().endswith(f"{code})")
    rendered = run([programs / COMMAND, "render", checkout / ROBOTS], elsewhere, env)
    assert "color: purple" in rendered


def test_wheel_is_compiled_on_demand(checkout: Path, tmp_path: Path) -> None:
    """On the newest Python, in isolation: the build itself has the compiler installed."""
    python = PYTHONS[-1]
    env = environment(tmp_path / "home", CC=quick_compiler(tmp_path), FUNCTION_SCRIPT_COMPILE="1")
    wheel = build(python, narrow(checkout), env, tmp_path)
    tag = "cp" + python.name.replace(".", "")
    assert f"-{tag}-{tag}-" in wheel.name
    names = names_in(wheel)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert any("function_script_wire__mypyc" in name for name in names)
    check(install(python, wheel, env, tmp_path), checkout, "compiled", tmp_path)


def test_sdist_makes_a_plain_wheel(checkout: Path, tmp_path: Path) -> None:
    """For every machine, and no compiler is called."""
    env = environment(tmp_path / "home", CC="no-compiler-here")
    (tmp_path / "sdist").mkdir()
    wheel = build(PYTHONS[0], build_sdist(checkout, tmp_path / "sdist"), env, tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    names = names_in(wheel)
    assert [name for name in names if name.endswith((".so", ".c", ".h"))] == []
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    sources = [name for name in files_of() if name.startswith("function_script/")]
    assert [name for name in sources if (checkout / name).is_file() and name not in names] == []
    programs = install(PYTHONS[0], wheel, env, tmp_path)
    check(programs, checkout, "plain Python", tmp_path)
    # It has the CRDs of the inputs.
    robots = checkout / ROBOTS / "composition.yaml"
    robots.write_text(robots.read_text().replace("script:", "scripd:"))
    printed = run([programs / COMMAND, "validate", robots, robots], tmp_path, env, code=1)
    assert 'unknown field: "scripd"' in printed


FAULTS = [
    pytest.param({"CC": "no-compiler-here"}, "no C compiler (no-compiler-here)", id="no-compiler"),
    pytest.param({"CC": "false"}, "'false'", id="compiler-fails"),
    pytest.param({"FUNCTION_SCRIPT_COMPILE": "yes"}, 'is "yes": 1, 0, or not set', id="unknown"),
]


@pytest.mark.parametrize(("variables", "expected"), FAULTS)
def test_demanded_compilation_must_succeed(
    checkout: Path, tmp_path: Path, variables: dict[str, str], expected: str
) -> None:
    """FUNCTION_SCRIPT_COMPILE=1 makes a plain wheel an error that says why."""
    env = {**environment(tmp_path / "home", FUNCTION_SCRIPT_COMPILE="1"), **variables}
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "dist"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "."]
    assert expected in run(command, narrow(checkout), env, code=1)
    assert list(tmp_path.rglob("*.whl")) == []


def test_sdist_is_the_checkout(checkout: Path, tmp_path: Path) -> None:
    """It holds every file of the repository, and nothing that was made beside them."""
    expected = set(files_of())
    for name in (
        *(".venv/bin/python", ".hypothesis/x", ".mypy_cache/x", "build/lib/x.py", "dist/x.whl"),
        *("function_script/wire/decode.cpython-311-x86_64-linux-gnu.so", "benchmarks/bench.json"),
        *("function_script/__pycache__/x.pyc", "tests/.pytest_cache/x", "tests/.hypothesis/x"),
        *("examples/starlark-robots/x.xpkg", "benchmarks/.mypy_cache/3.11/x.json"),
    ):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("")
    run([sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path / "first", "."], checkout)
    (tmp_path / "sdist").mkdir()
    sdist = unpack(build_sdist(checkout, tmp_path / "sdist"), tmp_path / "unpacked")
    files = {str(path.relative_to(sdist)) for path in sdist.rglob("*") if path.is_file()}
    added = {name for name in files if name in {"PKG-INFO", "setup.cfg"} or ".egg-info/" in name}
    # The link to them becomes a directory.
    linked = {name for name in files if name.startswith("function_script/input_crds/")}
    assert files - added - linked == expected - linked - {"function_script/input_crds"}
    assert len(linked) == len(list((sdist / "input_crds").iterdir()))


def test_uv_installs_and_runs_a_path(checkout: Path, tmp_path: Path) -> None:
    """`uv tool install` and `uvx --from`."""
    env = environment(tmp_path / "home", UV_PYTHON_DOWNLOADS="never")
    uv = Path(sys.executable).with_name("uv")
    expected = ", plain Python)"
    run([uv, "tool", "install", checkout], tmp_path, env)
    installed = tmp_path / "home/.local/bin" / COMMAND
    assert run([installed, "version"], tmp_path, env).strip().endswith(expected)
    printed = run([uv.with_name("uvx"), "--from", checkout, COMMAND, "version"], tmp_path, env)
    assert printed.strip().endswith(expected)

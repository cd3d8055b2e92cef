"""`make demo` with every Python of the machine, those that cannot be used included."""

import re
from pathlib import Path

import pytest
from install.machine import (
    PYTHONS,
    TOO_OLD,
    check_out,
    environment,
    run,
    write_script,
)

pytestmark = pytest.mark.timeout(600)
RENDERED = "color: purple"
# The part of `make demo` that depends on the Python: nothing is fetched.
PREPARE = ["make", ".venv/pyvenv.cfg"]
ADVICE = r": try make demo PYTHON=python3\.\d+\n"


def wrap(directory: Path, name: str, command: str) -> Path:
    """Write a command of this name, to be found on PATH; returns its directory."""
    directory.mkdir(exist_ok=True)
    write_script(directory / name, f'{command} "$@"')
    return directory


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean clone."""
    return check_out(tmp_path / "checkout")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory to be found before the others, with a Python that can be used."""
    (best, *_) = PYTHONS
    return wrap(tmp_path / "programs", f"python{best.name}", f"exec {best.path}")


@pytest.fixture
def env(tmp_path: Path, programs: Path) -> dict[str, str]:
    """The user's variables."""
    variables = environment(tmp_path / "home")
    return {**variables, "PATH": f"{programs}:{variables['PATH']}"}


def test_demo_runs(checkout: Path, env: dict[str, str]) -> None:
    """Also where a run that was interrupted has left an environment without pip."""
    python = PYTHONS[-1]
    run([python.path, "-m", "venv", "--without-pip", ".venv"], checkout, env)
    assert RENDERED in run(["make", "demo", f"PYTHON={python.path}"], checkout, env)
    assert f"(Python {python.name}." in run([".venv/bin/function-script", "version"], checkout, env)
    # Compiled modules would go on running the old code when the source changes.
    assert [*(checkout / "function_script").rglob("*.so")] == []
    # What is complete is used as it is, whatever python3 is.
    assert RENDERED in run(["make", "demo"], checkout, env)


@pytest.mark.skipif(not TOO_OLD, reason="the machine has no Python that is too old")
def test_python_that_is_too_old_is_refused(
    checkout: Path, programs: Path, env: dict[str, str]
) -> None:
    """One line says what to do, nothing stays behind, and to do so makes an environment."""
    old = TOO_OLD[-1]
    wrap(programs, "python3", f"exec {old.path}")
    before = sorted(checkout.iterdir())
    printed = run(["make", "demo"], checkout, env, code=2)
    line = f"this needs Python 3.11 or newer, and python3 is {old.name}."
    assert re.match(re.escape(line) + r"\d+" + ADVICE + r"make: .*\n\Z", printed), printed
    assert sorted(checkout.iterdir()) == before
    advice = re.findall(r"make demo (PYTHON=\S+)", printed)
    run([*PREPARE, *advice], checkout, env)
    assert (checkout / ".venv/bin/pip").exists()


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (
            "PYTHONPATH={stubs} exec {python}",
            r"this needs a Python with venv and ensurepip \(on .*\), which python3 lacks",
        ),
        ("exit 127 #", "this needs Python 3.11 or newer, and python3 does not run"),
    ],
    ids=["no-ensurepip", "no-python"],
)
def test_python_that_cannot_be_used_is_refused(
    command: str, problem: str, checkout: Path, programs: Path, env: dict[str, str]
) -> None:
    """Before anything is made; Debian has Python and ensurepip in different packages."""
    stubs = checkout.with_name("stubs")
    stubs.mkdir()
    (stubs / "ensurepip.py").write_text("raise ImportError")
    wrap(programs, "python3", command.format(stubs=stubs, python=PYTHONS[0].path))
    printed = run(["make", "demo"], checkout, env, code=2)
    assert re.match(problem + ADVICE + r"make: .*\n\Z", printed), printed
    assert not (checkout / ".venv").exists()


def test_another_python_makes_another_environment(checkout: Path, env: dict[str, str]) -> None:
    """PYTHON is heeded although there is an environment; one that was moved is made anew."""
    first, last = PYTHONS[0], PYTHONS[-1]
    stamp = checkout / ".venv/runtime"
    run([first.path, "-m", "venv", "--without-pip", ".venv"], checkout, env)
    stamp.write_text(f"{checkout}\n")
    run([*PREPARE, f"PYTHON={first.path}"], checkout, env)
    run(PREPARE, checkout, env)
    assert stamp.exists()
    run([*PREPARE, f"PYTHON={last.path}"], checkout, env)
    assert stamp.exists() == (first == last)
    stamp.write_text(f"{checkout.parent}\n")
    run(PREPARE, checkout, env)
    assert not stamp.exists()

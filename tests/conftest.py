"""Options of the whole test suite."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import linux_only
from support.commands import Run
from support.example_counts import load_profile
from support.shared_zygotes import Zygotes

from function_script import wire
from function_script.sandbox import system

TESTS = Path(__file__).resolve().parent
# What is tested on pools here, and not the processes of pools.
SHARING_ZYGOTES = (
    *("architecture/", "behaviour/", "browser/", "conformance/", "diagnostics/"),
    *("e2e/test_rollout.py", "e2e/test_schema_packages.py", "e2e/test_vendor.py"),
    *("hostile/test_redaction_hostile.py", "hostile/test_strangers_folders.py"),
    *("hostile/test_tools_readers.py", "test_example", "unit/cli/", "unit/request/"),
    *("unit/sandbox/test_batches.py", "unit/sandbox/test_dispatcher.py"),
    "unit/sandbox/test_pool.py",
    *("unit/test_", "unit/tools/"),
)

# Before test modules are imported: their own settings are derived from the profile's.
load_profile()
# No cycles are looked for among the thousands of tests that are collected.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are written anew by a flag, and reviewed as behaviour."""
    parser.addoption(
        "--update-goldens", action="store_true", help="write golden files from the actual results"
    )
    parser.addoption(
        "--compiled", action="store_true", help="refuse to run with the codec in plain Python"
    )


def pytest_configure(config: pytest.Config) -> None:
    """A run with --compiled is about compiled code, or none."""
    if config.getoption("--compiled") and not wire.is_compiled():
        raise pytest.UsageError("the codec is not compiled")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Where the server does not run, files about it are not collected."""
    name = collection_path.relative_to(TESTS).as_posix() if collection_path != TESTS else ""
    return True if linux_only.is_left_out(name) and system.missing() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Nor are single tests with the mark ``linux`` run there; the end of a run counts them.

    With --update-goldens only those run that write something.
    """
    deselected: list[pytest.Item] = []
    if system.missing():
        deselected += [item for item in items if item.get_closest_marker("linux")]
    if config.getoption("--update-goldens"):
        deselected += [item for item in items if "update_goldens" not in _fixtures(item)]
    items[:] = [item for item in items if item not in set(deselected)]
    config.hook.pytest_deselected(items=deselected)


def pytest_collection_finish() -> None:
    """Nor are those that were collected looked through again, whenever a test collects garbage."""
    gc.enable()
    gc.freeze()


def _fixtures(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run command lines in this process."""
    return Run(capsys)


@pytest.fixture(scope="session")
def zygotes() -> Iterator[Zygotes]:
    """Zygotes that live as long as the run."""
    shared = Zygotes()
    yield shared
    shared.close()


@pytest.fixture(scope="module", autouse=True)
def _shared_processes(request: pytest.FixtureRequest, zygotes: Zygotes) -> Iterator[None]:
    """Use the processes of earlier tests where a test is not about processes."""
    if request.path.relative_to(TESTS).as_posix().startswith(SHARING_ZYGOTES):
        with zygotes.sharing():
            yield
    else:
        yield

"""The playground with a function of a package, which runs as a process."""

import os
from pathlib import Path

import pytest
from browser.browser import Browser
from browser.conftest import open_playground
from browser.pages import GOOD, choose, pane, replace
from browser.test_results import resource_names
from e2e.scripted_registry import serving
from support.function_images import find_processes, put_server
from support.timing import wait_until

from function_script.tools.processes import probe

REFUSAL = probe.find_refusal()
pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(bool(REFUSAL), reason=f"no namespaces: {REFUSAL}"),
]

STEP = """\
  - step: packaged
    functionRef:
      name: function-test
"""
FUNCTION = """\
---
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-test
spec:
  package: {}/team/function-test:v1
"""


@pytest.fixture
def mark() -> str:
    """A word in the command lines of the test's function."""
    return f"browser-{os.getpid()}"


@pytest.fixture
def packaged_root(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with starlark-status, and a step of a package after its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = root / "starlark-status"
    with (folder / "composition.yaml").open("a") as file:
        file.write(STEP)
    return root


def test_function_of_a_package_stays_until_the_playground_ends(
    window: Browser, packaged_root: Path, mark: str
) -> None:
    with serving() as registry:
        put_server(registry, mark=mark)
        with (packaged_root / "starlark-status" / "functions.yaml").open("a") as file:
            file.write(FUNCTION.format(registry.name))
        with open_playground(window, packaged_root) as page:
            choose(page, "starlark-status")
            assert resource_names(page) == ["the XR", "deployment", "service"]
            # The result of the function says what it sees: its arguments among others.
            assert f"--mark={mark}" in pane(page, "events")
            first = find_processes(mark)
            assert first
            replace(page, "8080", "9090")
            page.wait_for(GOOD)
            pane(page, "documents")
            assert page.evaluate('document.querySelector("#pane").textContent.includes("9090")')
            assert set(first) & set(find_processes(mark))
        wait_until(lambda: not find_processes(mark))

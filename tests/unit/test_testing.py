"""Cases as Python code, and case files collected by pytest for those who ask."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.case_projects import folder, project

from function_script import testing
from function_script.errors import InputError


def test_render_gives_plain_data(tmp_path: Path) -> None:
    """Everything that a case's checks can look at."""
    rendered = testing.render(project(tmp_path), patch={"spec": {"size": 5}})
    assert rendered["resources"]["database"]["spec"]["size"] == 5
    assert rendered["ready"] == {"database": False}
    assert rendered["status"]["runs"] == 1
    assert sorted(rendered["requirements"]["resources"]) == ["zones"]


def test_render_takes_the_keys_of_a_case(tmp_path: Path) -> None:
    """Objects, lists and paths below the directory."""
    (project(tmp_path) / "zone.yaml").write_text(
        "{apiVersion: v1, kind: Zone, metadata: {name: a, labels: {in: use}}}"
    )
    database = {"apiVersion": "example.org/v1", "kind": "Database", "status": {"address": "x"}}
    rendered = testing.render(tmp_path, observed={"database": database}, required=["zone.yaml"])
    assert rendered["status"]["address"] == "x"
    assert rendered["resources"]["database"]["spec"]["zones"] == ["a"]


def test_failures_are_exceptions(tmp_path: Path) -> None:
    """With the position that the command would tell."""
    with pytest.raises(testing.FatalError, match=r"composition\.yaml:.* size 10 is too much"):
        testing.render(project(tmp_path), patch={"spec": {"size": 10}})
    with pytest.raises(InputError, match='did you mean "observed"'):
        testing.render(tmp_path, observd=[])
    with pytest.raises(TypeError, match="assertions"):
        testing.render(tmp_path, expect={})


def pytest_run(path: Path, *args: str) -> str:
    """What a run of pytest prints, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    completed = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)
    return completed.stdout + completed.stderr


def test_plugin_collects_cases(tmp_path: Path) -> None:
    """Each file is a test that fails with what the command would print; nothing is written."""
    project(tmp_path, good="expect: {}", bad="expect: {ready: true}", odd="expct: {}")
    folder(tmp_path / "new", case="description: new")
    output = pytest_run(tmp_path, "-p", "function_script.testing.plugin")
    assert "3 failed, 1 passed" in output
    for text in ("expected the XR to be ready", 'did you mean "expect"?', "to compare with"):
        assert text in output
    assert "Traceback" not in output
    assert not (tmp_path / "new" / "expected.yaml").exists()


_COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: secrets}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XSecret}
  mode: Pipeline
  pipeline:
  - step: secret
    functionRef: {name: function-script}
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
      script: |
        def main(req):
            status = {"text": stable_secret("a")}
            return {"desired": {"composite": {"resource": {"status": status}}}}
"""


def _secret_project(path: Path) -> Path:
    (path / "composition.yaml").write_text(_COMPOSITION)
    (path / "xr.yaml").write_text(
        "{apiVersion: example.org/v1, kind: XSecret, metadata: {name: a}, spec: {}}"
    )
    for name in ("one", "two"):
        (path / f"{name}.salt").write_text(name * 16)
    return path


def test_render_salts_random_values_with_the_seed_file(tmp_path: Path) -> None:
    _secret_project(tmp_path)
    texts = {
        name: testing.render(tmp_path, seed_file=tmp_path / f"{name}.salt")["status"]["text"]
        for name in ("one", "two")
    }
    again = testing.render(tmp_path, seed_file=str(tmp_path / "one.salt"))["status"]["text"]
    unsalted = testing.render(tmp_path)["status"]["text"]
    assert texts["one"] == again
    assert len({*texts.values(), unsalted}) == 3
    (tmp_path / "short").write_text("x")
    with pytest.raises(InputError, match="16"):
        testing.render(tmp_path, seed_file=tmp_path / "short")


def test_plugin_salts_random_values_with_the_seed_file(tmp_path: Path) -> None:
    """The path is relative to the ini file."""
    _secret_project(tmp_path)
    salted = testing.render(tmp_path, seed_file=tmp_path / "one.salt")["status"]["text"]
    (tmp_path / "one.case.yaml").write_text(f"expect: {{status: {{text: {salted}}}}}")
    plugin = ("-p", "function_script.testing.plugin")
    assert "1 failed" in pytest_run(tmp_path, *plugin)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfunction_script_seed_file = one.salt\n")
    assert "1 passed" in pytest_run(tmp_path, *plugin)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfunction_script_seed_file = missing\n")
    assert "cannot read the salt" in pytest_run(tmp_path, *plugin)


def test_plugin_is_only_for_those_who_ask(tmp_path: Path) -> None:
    """Without it, other people's runs of pytest are what they were."""
    project(tmp_path, bad="expect: {ready: true}")
    assert "no tests ran" in pytest_run(tmp_path)

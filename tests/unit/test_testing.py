"""Cases as Python code, and case files collected by pytest for those who ask."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import one_step
from support.case_projects import folder, project
from support.paths import ROOT

from function_script import testing
from function_script.texts.errors import InputError


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
    assert testing.render(tmp_path, xr=tmp_path / "xr.yaml")["xr"]


def test_failures_are_exceptions(tmp_path: Path) -> None:
    """With the position that the command would tell."""
    with pytest.raises(testing.FatalError, match=r"composition\.yaml:.* size 10 is too much"):
        testing.render(project(tmp_path), patch={"spec": {"size": 10}})
    with pytest.raises(InputError, match='did you mean "observed"'):
        testing.render(tmp_path, observd=[])
    with pytest.raises(InputError, match="there is no such directory"):
        testing.render(tmp_path / "nowhere")
    for key in ("expect", "request"):
        with pytest.raises(TypeError, match=f"no {key}: expectations are your assertions"):
            testing.render(tmp_path, **{key: {}})


_CALLS = """
import os, sys, time
from pathlib import Path
opened = []
def hook(event, arguments):
    if event == "open" and Path(str(arguments[0])).name == "composition.yaml":
        opened.append(arguments[0])
sys.addaudithook(hook)
from function_script import testing
path = Path(sys.argv[1])
def resources():
    return sorted(testing.render(path)["resources"])
def write(old, new):
    file = path / "composition.yaml"
    file.write_text(file.read_text().replace(old, new))
    # As for a file that an editor wrote some time ago.
    os.utime(file, (time.time() - 60, time.time() - 60))
    opened.clear()
"""


def call(path: Path, program: str, *flags: str) -> list[str]:
    """The lines that calls of render() print in a process of their own, on stdout and stderr."""
    for file in path.rglob("*"):
        os.utime(file, (time.time() - 60, time.time() - 60))
    command = [sys.executable, *flags, "-c", _CALLS + program, str(path)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (completed.stdout + completed.stderr).splitlines()
    return [line for line in lines if line not in {"", "size 2"}]  # The program's own.


def test_render_reads_a_file_again_when_it_has_changed(tmp_path: Path) -> None:
    program = """
print(resources(), resources(), len(opened))
write('"database"', '"changed"')
print(resources(), resources(), len(opened))
"""
    assert call(project(tmp_path), program) == [
        "['database'] ['database'] 1",
        "['changed'] ['changed'] 1",
    ]


def test_render_sees_a_file_that_changed_a_moment_ago(tmp_path: Path) -> None:
    """Its time and size may be those of the last call, so nothing is kept of a young file."""
    files = project(tmp_path)
    composition = files / "composition.yaml"
    assert [*testing.render(files)["resources"]] == ["database"]
    stamp = composition.stat()
    composition.write_text(composition.read_text().replace('"database"', '"elsewher"'))
    os.utime(composition, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [*testing.render(files)["resources"]] == ["elsewher"]


def test_render_prints_its_notes_once(tmp_path: Path) -> None:
    """They are about the files, and say the same to each test."""
    example = ROOT / "examples" / "built-in-functions"
    lines = call(shutil.copytree(example, tmp_path / "example"), "resources(); resources()")
    assert lines
    assert len(lines) == len(set(lines))
    assert all(line.startswith("note: ") for line in lines)


@pytest.mark.linux
def test_render_leaves_nothing_at_exit(tmp_path: Path) -> None:
    """No process, and no warning of Python's about a resource."""
    program = """
resources()
for task in os.listdir("/proc/self/task"):
    print(Path(f"/proc/self/task/{task}/children").read_text(), end="")
print()
"""
    (children,) = call(project(tmp_path), program, "-X", "dev", "-W", "error::ResourceWarning")
    assert children.split()
    assert not any(Path(f"/proc/{pid}").exists() for pid in children.split())


def pytest_run(path: Path, *args: str) -> str:
    """What a run of pytest prints, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    # Plugins that are installed here are loaded only where none is asked for.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1" if args else ""}
    completed = subprocess.run(
        command, cwd=path, env=environment, capture_output=True, text=True, check=False
    )
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
    assert "exception occurred" not in output
    assert not (tmp_path / "new" / "expected.yaml").exists()


_PROGRAM = """\
def main(req):
    status = {"text": stable_secret("a")}
    return {"desired": {"composite": {"resource": {"status": status}}}}
"""


def _secret_project(path: Path) -> Path:
    text = one_step.composition("StarlarkScript", _PROGRAM, field="script")
    (path / "composition.yaml").write_text(text)
    (path / "xr.yaml").write_text(one_step.XR)
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
    (tmp_path / "pytest.ini").write_text("[pytest]\nfunction_script_seed_file = one.salt\n")
    assert "1 passed" in pytest_run(tmp_path, *plugin)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfunction_script_seed_file = missing\n")
    assert "cannot read the salt" in pytest_run(tmp_path, *plugin)


def test_plugin_is_only_for_those_who_ask(tmp_path: Path) -> None:
    """Without it, other people's runs of pytest are what they were."""
    project(tmp_path, bad="expect: {ready: true}")
    assert "no tests ran" in pytest_run(tmp_path)

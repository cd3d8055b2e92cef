"""The CI job that `init` writes works in an environment without any installation."""

import subprocess
import sys
from pathlib import Path

import pytest
from install.machine import PYTHONS, check_out, environment, run

from function_script import documents
from function_script.texts.source import Source

pytestmark = pytest.mark.timeout(900)


def begin(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `init` for the project."""
    command = [sys.executable, "-m", "function_script.cli", "init", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def job_of(project: Path) -> tuple[dict[str, str], list[str]]:
    """Return the variables and the commands of the one job in ci.yaml."""
    source = Source(name="ci.yaml", text=(project / "ci.yaml").read_text())
    (document,) = documents.read_source(source)
    (job,) = document.value["jobs"].values()
    return document.value["env"], [step["run"] for step in job["steps"] if "run" in step]


def test_step_of_the_job_succeeds(tmp_path: Path) -> None:
    """The steps go from the requirement of `init --install` to the package.

    A shell runs each as GitHub does for `run`, and ends at the first error.
    """
    python, env = PYTHONS[-1].path, environment(tmp_path / "home")
    pip = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path / "dist"]
    run([*pip, check_out(tmp_path / "checkout")], tmp_path, env)
    (wheel,) = (tmp_path / "dist").iterdir()
    run([python, "-m", "venv", tmp_path / "venv"], tmp_path, env)
    programs = tmp_path / "venv" / "bin"
    project = tmp_path / "my-app"
    begin(project, "--install", str(wheel))
    variables, commands = job_of(project)
    assert len(commands) >= 5
    env |= {**variables, "PATH": f"{programs}:{env['PATH']}"}
    # A cluster with the example.
    parts = [(project / f"{name}.yaml").read_text() for name in ("xrd", "composition", "xr")]
    dump = tmp_path / "dump.yaml"
    dump.write_text("\n---\n".join(parts))
    env |= {"CLUSTER_DUMP": str(dump), "GITHUB_STEP_SUMMARY": str(project / "summary")}
    outputs = [run(["sh", "-e", "-c", command], project, env) for command in commands]
    assert "3 passed" in "".join(outputs)
    assert "**Plan: 0 to add" in (project / "summary").read_text()
    assert (programs / "function-script").exists()
    assert (project / "myapps.xpkg").exists()


def test_job_without_a_requirement_says_what_to_set(tmp_path: Path) -> None:
    """This checkout is installed from a directory, which CI does not have."""
    project = tmp_path / "my-app"
    advice = begin(project).stderr
    assert "set FUNCTION_SCRIPT in ci.yaml" in advice
    variables, commands = job_of(project)
    assert variables == {"FUNCTION_SCRIPT": "", "CLUSTER_DUMP": ""}
    assert "REQUIRED" in (project / "ci.yaml").read_text()
    process = subprocess.run(
        ["sh", "-e", "-c", commands[0]],
        cwd=project,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode != 0
    assert "FUNCTION_SCRIPT: set it in this file to the argument of pip install" in process.stderr

"""The CI job that `init` writes works in an environment without any installation."""

import subprocess
import sys
from pathlib import Path

import pytest
from support import installations

from function_script import documents
from function_script.texts.source import Source


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    return installations.build_wheel(tmp_path_factory.mktemp("wheel"))


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


def run(command: str, project: Path, bin_directory: Path, variables: dict[str, str]) -> str:
    """Run one step as GitHub does for `run`: by a shell that ends at the first error."""
    process = subprocess.run(
        ["sh", "-e", "-c", command],
        cwd=project,
        env=installations.environment_of(bin_directory, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
    return process.stdout


def test_step_of_the_job_succeeds(wheel: Path, tmp_path: Path) -> None:
    """The steps go from the requirement of `init --install` to the package."""
    project = tmp_path / "my-app"
    begin(project, "--install", str(wheel))
    bin_directory = installations.create_venv(tmp_path / "venv", with_dependencies=True)
    assert not (bin_directory / "function-script").exists()
    variables, commands = job_of(project)
    assert len(commands) >= 4
    outputs = [run(command, project, bin_directory, variables) for command in commands]
    assert "3 passed" in "".join(outputs)
    assert (bin_directory / "function-script").exists()
    assert (project / "myapps.xpkg").exists()


def test_job_without_a_requirement_says_what_to_set(tmp_path: Path) -> None:
    """This checkout is installed from a directory, which CI does not have."""
    project = tmp_path / "my-app"
    advice = begin(project).stderr
    assert "set FUNCTION_SCRIPT in ci.yaml" in advice
    variables, commands = job_of(project)
    assert variables == {"FUNCTION_SCRIPT": ""}
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

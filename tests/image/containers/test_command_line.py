"""The image as the command line of people without Python: `docker run … IMAGE render .`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from image.container import Container, Limits, Mount, Settings
from image.stages import Image
from support.paths import ROOT

USER = "12345:12345"
# As a container engine sets it for a user without an entry in /etc/passwd.
HOME = {"HOME": "/"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty directory of the user."""
    directory = tmp_path / "project"
    directory.mkdir()
    own(directory)
    tmp_path.chmod(0o755)
    return directory


def own(directory: Path) -> None:
    """Give a directory to the user of the container."""
    subprocess.run(["chown", "--recursive", USER, directory], check=True)


def run(
    image: Image, directory: Path, *arguments: str, entrypoint: tuple[str, ...] | None = None
) -> tuple[int, str, str]:
    """Run a command in a container with a directory mounted at /w; exit code and both outputs."""
    described = Settings(
        arguments=arguments,
        environment=HOME,
        mounts=(Mount(target="/w", source=directory, is_writable=True),),
        limits=Limits(),
        user=USER,
        directory="/w",
        entrypoint=entrypoint,
    )
    with Container(image, directory.parent, described) as container:
        code = container.wait()
        return code, "".join(container.output), "".join(container.errors)


def test_line_of_the_readme_is_what_runs_here() -> None:
    """Mount, working directory, user, and a command as the only argument."""
    text = (ROOT / "README.md").read_text()
    assert re.search(
        r'docker run --rm -v "\$PWD":/w -w /w --user "\$\(id -u\):\$\(id -g\)" \S+ render \.', text
    )


@pytest.mark.parametrize("language", ["starlark", "jinja", "gotemplate"])
def test_project_from_its_beginning(image: Image, project: Path, language: str) -> None:
    """`init`, `render`, `test` and `check` in turn; the files belong to the user."""
    code, _, errors = run(image, project, "init", "--language", language, "apps")
    assert code == 0, errors
    files = [path for path in project.rglob("*") if path.is_file()]
    assert files
    assert {path.stat().st_uid for path in files} == {12345}
    (composition,) = project.rglob("composition.yaml")
    place = str(composition.parent.relative_to(project))
    code, output, errors = run(image, project, "render", place)
    assert (code, errors) == (0, "")
    assert "kind: " in output
    assert run(image, project, "test", place)[0] == 0
    assert run(image, project, "check", place)[0] == 0


@pytest.mark.parametrize("name", ["starlark-robots", "jinja-robots", "gotemplate-robots"])
def test_container_renders_as_the_installed_command(image: Image, project: Path, name: str) -> None:
    """To the byte, with the current directory as the argument."""
    shutil.copytree(ROOT / "examples" / name, project, dirs_exist_ok=True)
    own(project)
    command = [sys.executable, "-m", "function_script.cli", "render", "."]
    expected = subprocess.run(command, check=True, cwd=project, capture_output=True, text=True)
    assert run(image, project, "render", ".") == (0, expected.stdout, expected.stderr)


def test_command_needs_nothing_of_the_environment(image: Image, project: Path) -> None:
    """No HOME, no PATH, no /tmp, no place to write."""
    shutil.copytree(ROOT / "examples" / "starlark-robots", project, dirs_exist_ok=True)
    code = "import os; os.execve('/venv/bin/function-script', ['f', 'render', '.'], {})"
    python = ("/venv/bin/python", "-c", code)
    assert run(image, project, entrypoint=python)[0] == 0


def test_libraries_are_compiled_before_it_starts(image: Image, project: Path) -> None:
    """Every module of Python and of ours comes from bytecode, which names its source."""
    code = (
        "import function_script.server.lifecycle, function_script.sandbox.zygote, json; "
        "print(json.dumps.__code__.co_filename)"
    )
    python = ("/venv/bin/python", "-v", "-c", code)
    exit_code, output, errors = run(image, project, entrypoint=python)
    assert exit_code == 0
    assert re.fullmatch(r"/usr/(local/)?lib/python3\.13/json/__init__\.py\n", output)
    loaded = re.findall(r"# code object from '?([^'\n]+)", errors)
    assert len([name for name in loaded if name.endswith(".pyc")]) > 100
    assert [name for name in loaded if name.endswith(".py")] == []


def test_errors_are_told(image: Image, project: Path) -> None:
    """With the exit code of the command, and files by the user's own names."""
    code, output, errors = run(image, project, "render", ".")
    assert (code, output) == (1, "")
    assert "Traceback" not in errors
    assert "composition.yaml" in errors


def test_directory_that_cannot_be_written_is_told(image: Image, project: Path) -> None:
    """`init` names the file and the reason."""
    subprocess.run(["chown", "0:0", project], check=True)
    code, _, errors = run(image, project, "init", "apps")
    assert code == 1
    assert "permission denied" in errors.lower()
    assert "Traceback" not in errors


def test_flags_without_a_command_serve(image: Image, project: Path) -> None:
    """As Crossplane and its tools start functions: here without certificates, which is an error."""
    code, _, errors = run(image, project, "--debug")
    assert code == 1
    assert "no certificates" in errors

"""Workflows run commands that exist, and actions that cannot change, with no right too many."""

import os
import re
import runpy
import subprocess

import pytest
import yaml
from support.paths import ROOT

WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").iterdir()}
DOCUMENTS = {name: yaml.safe_load(path.read_text()) for name, path in WORKFLOWS.items()}
JOBS = DOCUMENTS["ci"]["jobs"]
ALL_RUNS = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
RUNS = [command for command in ALL_RUNS if not command.startswith("git config ")]
# Who runs on what others send in, or publishes: rights of each job, and why it may write.
WRITES = {
    ("release", "registry"): {"packages", "id-token", "attestations"},
    ("release", "index"): {"id-token"},
    ("release", "notes"): {"contents"},
    ("care", "report"): {"issues"},
}


@pytest.mark.parametrize("command", RUNS)
def test_command_exists(command: str) -> None:
    """A script of this repository that can be run, or a target of the Makefile."""
    program, *arguments = command.split()
    if program == "make":
        (target,) = arguments
        makefile = (ROOT / "Makefile").read_text()
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)
    else:
        assert not arguments
        assert os.access(ROOT / program, os.X_OK)


@pytest.mark.parametrize(
    "target", ["test-attacks", "test-browser", "test-compiled", "test-install", "test-portable"]
)
def test_target_names_tests_that_exist(target: str) -> None:
    """A file that was moved would end a run that takes half an hour, or would not be run."""
    commands = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    paths = set(re.findall(r"(?<![\w/])tests/[\w./]+", commands))
    assert paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_workflow_runs_on_the_systems_that_are_supported() -> None:
    """Linux on both architectures, and macOS; the tools' part alone there."""
    runners = {each["runner"] for each in JOBS["linux"]["strategy"]["matrix"]["include"]}
    assert runners == {"ubuntu-24.04", "ubuntu-24.04-arm"}
    assert JOBS["macos"]["runs-on"].startswith("macos-")
    assert RUNS == [".ci/run", "make test-portable", ".ci/image"]


def test_ci_has_the_system_that_it_needs() -> None:
    """`make test-image` needs root, and Debian's packages; the container's user is root."""
    assert "make test-image" in (ROOT / ".ci" / "run").read_text()
    container = JOBS["linux"]["container"]
    assert container["image"].endswith("-bookworm")
    assert "--user" not in container["options"]


def test_image_is_built_and_run_by_docker_itself() -> None:
    """On the machine of the job, for containers of a container would need its Docker."""
    assert "container" not in JOBS["image"]
    script = (ROOT / ".ci" / "image").read_text()
    assert "docker build -f package/Dockerfile" in script
    (page,) = re.findall(r"docs/how-to/[\w-]+\.md", script.partition("sed ")[2])
    assert "\nFROM function-script\n" in (ROOT / page).read_text()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_by_commit(name: str) -> None:
    """A tag can be moved; the comment says which one it was."""
    uses = re.findall(r"uses: (.+)", WORKFLOWS[name].read_text())
    assert uses
    for line in uses:
        assert re.fullmatch(r"[a-z]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_action_is_of_one_version() -> None:
    """All workflows have the same commit of an action."""
    text = "".join(path.read_text() for path in WORKFLOWS.values())
    pairs = set(re.findall(r"uses: ([a-z/-]+)@([0-9a-f]{40} # \S+)", text))
    assert len(pairs) == len({action for action, _ in pairs})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_permissions_are_all_named(name: str) -> None:
    """A job that names none would have those of the repository's settings."""
    document = DOCUMENTS[name]
    assert document["permissions"] in ({}, {"contents": "read"})
    for job, described in document["jobs"].items():
        rights = described.get("permissions", document["permissions"])
        assert rights, job
        written = {right for right, access in rights.items() if access == "write"}
        assert written == WRITES.get((name, job), set()), job
        assert set(rights.values()) <= {"read", "write"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflow_has_no_secret_but_its_own_identity(name: str) -> None:
    """Nothing is there to be stolen, or to be renewed."""
    text = WORKFLOWS[name].read_text()
    assert "secrets." not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_release_publishes_what_was_tested_and_in_an_environment() -> None:
    """A job that can write needs the tests, and what it publishes comes from jobs that cannot."""
    jobs = DOCUMENTS["release"]["jobs"]
    assert set(jobs["registry"]["needs"]) == {"test", "package"}
    assert jobs["registry"]["environment"] == "release"
    assert jobs["index"]["environment"] == "index"
    assert DOCUMENTS["release"][True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}


def test_release_runs_scripts_and_targets_that_exist() -> None:
    """The parts that it makes are those of package/release.py."""
    text = "".join(WORKFLOWS[name].read_text() for name in ("release", "care"))
    for script in set(re.findall(r"package/\w+\.sh", text)):
        assert os.access(ROOT / script, os.X_OK), script
    parts = re.findall(r"--tag \S+ ([a-z -]+)", text)
    known = runpy.run_path(str(ROOT / "package" / "release.py"))["PARTS"]
    made = {part for line in parts for part in line.split()}
    assert made == set(known) - {"compiled-wheel", "image"}

"""The workflow runs commands that exist, and actions that cannot change under it."""

import os
import re

import pytest
import yaml
from support.paths import ROOT

PATH = ROOT / ".github" / "workflows" / "ci.yaml"
JOBS = yaml.safe_load(PATH.read_text())["jobs"]
ALL_RUNS = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
RUNS = [command for command in ALL_RUNS if not command.startswith("git config ")]


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


def test_workflow_runs_on_the_systems_that_are_supported() -> None:
    """Linux on both architectures, and macOS; the tools' part alone there."""
    runners = {each["runner"] for each in JOBS["linux"]["strategy"]["matrix"]["include"]}
    assert runners == {"ubuntu-24.04", "ubuntu-24.04-arm"}
    assert JOBS["macos"]["runs-on"].startswith("macos-")
    assert RUNS == [".ci/run", "make test-portable"]


def test_ci_has_the_system_that_it_needs() -> None:
    """`make test-image` needs root, and Debian's packages; the container's user is root."""
    assert "make test-image" in (ROOT / ".ci" / "run").read_text()
    container = JOBS["linux"]["container"]
    assert container["image"].endswith("-bookworm")
    assert "--user" not in container["options"]


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved; the comment says which one it was."""
    uses = re.findall(r"uses: (.+)", PATH.read_text())
    assert uses
    for line in uses:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_documents_never_say_that_the_workflow_ran() -> None:
    """Documents say what was seen, and no run of this workflow was."""
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")):
        text = page.read_text()
        assert "tested on macOS" not in text, page
        assert "badge" not in text, page

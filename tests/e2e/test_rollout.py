"""The how-to of a rollout, with two real servers in place of two versions."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from e2e.serving import ROOT, Server
from support import walk
from support.commands import Run
from support.timing import wait_until

from function_script.cli import execute

PAGE = ROOT / "docs" / "how-to" / "roll-out-a-new-version.md"
XRS = 10
TENTH = 10


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    """The old and the new version."""
    with Server("--insecure") as old, Server("--insecure") as new:
        yield old, new


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's files, and those that its ``sed`` writes."""
    walker = walk.Walk(tmp_path, home=tmp_path / "home")
    for block in walk.blocks(PAGE):
        if block.kind == "yaml":
            walker.do(block)
    for line in commands("sed "):
        subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(start: str) -> list[str]:
    """The page's commands that begin so."""
    return [
        command.text
        for block in walk.blocks(PAGE)
        for command in walk.commands(block)
        if command.text.startswith(start)
    ]


def count_requests(server: Server) -> int:
    """How many requests the server's log has."""
    return sum("outcome" in line for line in server.log)


@pytest.mark.usefixtures("project")
def test_rollout_renders_with_both_servers(servers: tuple[Server, Server], run: Run) -> None:
    """The commands of step 3, at the addresses of these servers: the output is the same."""
    outputs = []
    lines = [line for line in commands("function-script render ") if "127.0.0.1" in line]
    for line, server in zip(lines, servers, strict=True):
        before = count_requests(server)
        arguments, _, _ = re.sub(r"127\.0\.0\.1:\d+", server.address, line).partition(" > ")
        captured = run(*arguments.split()[1:])
        outputs.append(captured.out)
        assert "selects revisions" not in captured.err
        wait_until(lambda server=server, before=before: count_requests(server) == before + 1)
    assert outputs[0].count("\nkind: Robot") == 2
    assert outputs[0] == outputs[1]


def test_rollout_moves_xrs_from_one_server_to_the_other(
    project: Path, servers: tuple[Server, Server], capsys: pytest.CaptureFixture[str]
) -> None:
    """A tenth of the XRs, chosen as in step 4, is composed by the new version; back, by none."""
    xr = yaml.safe_load((project / "xr.yaml").read_text())
    (listing,) = commands("kubectl get fleets.robots.example.org -A --no-headers")
    selection = listing.partition("| ")[2]
    names = "".join(f"workshop fleet-{number:02}\n" for number in range(XRS))
    subprocess.run(["sh", "-c", selection], input=names, text=True, cwd=project, check=True)
    moved = {line.split()[1] for line in (project / "moved.txt").read_text().splitlines()}
    assert len(moved) == XRS // TENTH

    every = [f"fleet-{number:02}" for number in range(XRS)]
    there, back = (XRS - len(moved), len(moved)), (len(moved), 0)
    for xrs, part, counts in ((every, moved, there), (sorted(moved), set(), back)):
        before = [count_requests(server) for server in servers]
        for name in xrs:
            channel = "next" if name in part else "stable"
            xr["metadata"]["name"] = name
            xr["spec"]["crossplane"]["compositionRevisionSelector"]["matchLabels"] = {
                "release-channel": channel
            }
            (project / "one.yaml").write_text(yaml.safe_dump(xr))
            composition = "composition-next.yaml" if name in part else "composition.yaml"
            flags = [
                f"--function=function-script={servers[0].address}",
                f"--function=function-script-next={servers[1].address}",
            ]
            code = execute(["render", "one.yaml", composition, "functions.yaml", *flags])
            assert code == 0
            assert "selects revisions" not in capsys.readouterr().err
        # Lines of requests are written a little later.
        wait_until(
            lambda before=before, xrs=xrs: (
                sum(map(count_requests, servers)) >= sum(before) + len(xrs)
            )
        )
        after = [count_requests(server) for server in servers]
        assert tuple(b - a for a, b in zip(before, after, strict=True)) == counts


def test_rollout_render_notes_an_xr_of_another_revision(project: Path, run: Run) -> None:
    """With the policy Manual an XR keeps its revision, so there is nothing to note."""
    assert (
        'selects revisions with label release-channel="stable"'
        in run("render", "xr.yaml", "composition-next.yaml").err
    )
    assert "selects" not in run("render", "xr.yaml", "composition-next.yaml", "--quiet").err
    text = (project / "xr.yaml").read_text()
    (project / "xr.yaml").write_text(text.replace("Automatic", "Manual"))
    assert "selects revisions" not in run("render", "xr.yaml", "composition-next.yaml").err

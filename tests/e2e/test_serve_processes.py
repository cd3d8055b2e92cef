"""A server with a low limit of processes: it does not start, or runs with fewer workers."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.serving import ENDLESS, GOOD, Server, call, method, serve_in_vain
from support import builders
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.sandbox import capacity

WORKERS = 2
SLOW = builders.starlark(ENDLESS)
BOMB = builders.starlark("def main(req):\n    x = [0] * 1000000000\n")
WRAPPER = """\
#!/bin/sh
{join}
exec {python} "$@"
"""


# Of control groups of version 1 or 2; both are for root.
PARENTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))


class Group:
    """A control group; processes that join it stay in it with their children."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def limit(self, count: int | None) -> None:
        """Set the limit of processes and threads; None: no limit."""
        (self.path / "pids.max").write_text("max" if count is None else str(count))

    def count(self) -> int:
        """Return the number of processes and threads."""
        return int((self.path / "pids.current").read_text())

    def join(self, pid: int) -> None:
        """Move a process into the group."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def shell(self) -> str:
        """Return a line with which a shell joins the group."""
        return f"echo $$ > {self.path}/cgroup.procs"


@pytest.fixture
def group() -> Iterator[Group]:
    """A control group for one test, which is skipped without the permission."""
    path = next((each for each in map(_make, PARENTS) if each is not None), None)
    if path is None:
        pytest.skip("control groups need more privileges than there are here")
    try:
        yield Group(path)
    finally:
        wait_until(lambda: not (path / "cgroup.procs").read_text())
        path.rmdir()


def _make(parent: Path) -> Path | None:
    path = parent / f"function-script-{os.getpid()}"
    try:
        path.mkdir()
    except OSError:
        return None
    if (path / "pids.max").exists():
        return path
    path.rmdir()
    return None


def wrapper(path: Path, group: Group) -> str:
    """An interpreter that runs in the group."""
    path.write_text(WRAPPER.format(join=group.shell(), python=sys.executable))
    path.chmod(0o755)
    return str(path)


def test_too_few_processes_are_refused_at_the_start(tmp_path: Path, group: Group) -> None:
    needed = capacity.needed_processes(WORKERS)
    group.limit(needed - 1)
    python = wrapper(tmp_path / "python", group)
    error = serve_in_vain("--insecure", "--workers", str(WORKERS), python=python)
    assert f"{needed - 1} processes and threads are allowed here" in error
    assert f"--workers {WORKERS} needs {needed}" in error


@pytest.mark.attack
def test_number_that_is_needed_is_enough(tmp_path: Path, group: Group) -> None:
    """It is enough for good programs and for bad ones that lose their workers, all at once."""
    group.limit(capacity.needed_processes(WORKERS))
    python = wrapper(tmp_path / "python", group)
    flags = ["--insecure", "--workers", str(WORKERS), "--timeout", "500ms"]
    with Server(*flags, python=python) as server, server.channel() as channel:
        requests = [request(kind, number) for number in range(8) for kind in (SLOW, BOMB)]
        running = [method(channel).future(each, timeout=PATIENCE_SECONDS) for each in requests]
        assert all(one.result().results for one in running)
        assert not call(channel, GOOD).results
        wait_until_nothing_runs(server)


def test_exhausted_processes_are_reported_and_survived(group: Group) -> None:
    flags = ["--insecure", "--workers", str(WORKERS), "--timeout", "500ms"]
    with Server(*flags) as server, server.channel() as channel:
        assert not call(channel, GOOD).results
        for pid in server.family():
            group.join(pid)
        group.limit(group.count())
        requests = [request(kind, number) for number in range(4) for kind in (SLOW, BOMB)]
        running = [method(channel).future(each, timeout=PATIENCE_SECONDS) for each in requests]
        texts = [one.result().results[0].message for one in running]
        group.limit(None)
        assert not call(channel, GOOD).results
        wait_until_nothing_runs(server)
    assert all("cannot start a worker" in text or "limit of" in text for text in texts), texts
    assert "can't start new thread" not in "".join(server.text)
    assert "Traceback" not in "".join(server.text)


def request(step_input: object, number: int) -> builders.pb.RunFunctionRequest:
    """Return a request of an XR of its own."""
    return builders.request(step_input, observed=builders.observed(f"xr-{number}"))


def wait_until_nothing_runs(server: Server) -> None:
    """Wait until no slot is in use."""
    states = [f'function_script_workers{{state="{state}"}} 0.0' for state in ("busy", "slow")]
    wait_until(lambda: all(state in server.fetch("/metrics")[1] for state in states))

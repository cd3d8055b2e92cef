"""A control group that limits the number of processes, of version 1 or 2; for root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.timing import wait_until

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


@contextmanager
def group() -> Iterator[Group]:
    """Create a control group; skip the test without the permission."""
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

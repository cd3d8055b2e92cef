"""The commands on a Python without what only Linux has, as on macOS.

`make test-portable` runs the tests of all tools on it; these show that its names are gone in every
process, and what is said there.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from portable.conftest import System
from support.paths import ROOT
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

EXAMPLE = "examples/starlark-robots"
NOTE = "note: programs run without a filter of system calls here, and their memory is watched"
# Names of Linux in each module that loses some, and the ways to look at /proc.
GONE = """\
import ctypes, fcntl, mmap, os, resource, select, signal, socket, sys, time
for owner, names in (
    (os, "sched_getaffinity memfd_create pidfd_open waitid eventfd pipe2 O_TMPFILE"),
    (select, "epoll"), (signal, "pidfd_send_signal SIGRTMIN"), (socket, "SO_PEERCRED"),
    (resource, "prlimit"), (fcntl, "F_ADD_SEALS"), (mmap, "MADV_REMOVE"),
    (ctypes.CDLL(None), "prctl"),
):
    print(*(name for name in names.split() if hasattr(owner, name)), end="")
print(sys.platform, os.path.exists("/proc/self/statm"), hasattr(os, "fork"))
"""
LOOP = """\
input:
  apiVersion: script.fn.crossplane.io/v1beta1
  kind: StarlarkScript
  script: |
    def main(req):
        for i in range(1000000000):
            for j in range(1000000000):
                pass
"""
played = pytest.mark.skipif(
    sys.platform == "darwin" and "_taken_away" not in sys.modules, reason="macOS has it its own way"
)


@played
@pytest.mark.parametrize("flags", [[], ["-I", "-S"]], ids=["process", "as-workers-are-started"])
def test_names_are_gone(darwin: System, flags: list[str]) -> None:
    """And what macOS has is there."""
    result = darwin.run(*flags, "-c", GONE)
    assert result.stdout == "darwin False True\n", result.stderr


@played
def test_names_are_gone_in_the_console_script(darwin: System) -> None:
    """The command that users call runs on that Python."""
    script = darwin.python.with_name("function-script")
    assert script.read_text().splitlines()[0] == f"#!{darwin.python}"


def test_command_says_once_what_is_missing(darwin: System) -> None:
    """On stderr; the result is the same as everywhere."""
    result = darwin.call("render", EXAMPLE)
    assert result.stdout == (ROOT / EXAMPLE / "expected.yaml").read_text()
    assert result.stderr.count("note: ") == 1
    assert result.stderr.startswith(NOTE)


@pytest.mark.parametrize("command", ["render", "test"])
def test_quiet_commands_say_nothing_of_it(darwin: System, command: str) -> None:
    """The flag leaves out notes."""
    assert NOTE not in darwin.call(command, EXAMPLE, "--quiet").stderr
    assert NOTE in darwin.call(command, EXAMPLE).stderr


def test_commands_that_run_nothing_say_nothing_of_it(darwin: System) -> None:
    """It is about programs."""
    assert darwin.call("check", EXAMPLE).stderr == ""


def test_serve_says_where_it_runs(darwin: System) -> None:
    """In one sentence, before anything is imported that is not there."""
    result = darwin.call("serve", "--insecure")
    assert result.returncode == 1
    assert result.stdout == ""
    first, *others = result.stderr.splitlines()
    assert first.startswith("error: cannot serve: `serve` runs on Linux alone, and this system has")
    assert others == ["  = hint: run the image"]


@pytest.mark.skipif(sys.platform != "linux", reason="it is the Linux that is compared")
def test_linux_has_no_note() -> None:
    """Nothing is missing there."""
    result = subprocess.run(
        [sys.executable, "-m", "function_script", "render", EXAMPLE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""


def test_cases_run_at_the_same_time(darwin: System) -> None:
    """Four workers, with one report in order."""
    result = darwin.call("test", "examples", "--jobs", "4")
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed in " in result.stdout.splitlines()[-1]


def test_ctrl_c_ends_the_worker(darwin: System, tmp_path: Path) -> None:
    """A loop with much time left does not outlive the command."""
    file = tmp_path / "input.yaml"
    file.write_text(LOOP)
    with subprocess.Popen(
        [darwin.python, "-m", "function_script", "run", file, "--timeout", "60s"],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as command:
        wait_until(lambda: _children(command.pid))
        time.sleep(1)
        # A program that watches its memory is younger, and has another name after its exec only.
        worker = min(_children(command.pid))
        began = time.monotonic()
        os.killpg(command.pid, signal.SIGINT)
        assert command.wait(PATIENCE_SECONDS) == 130
        assert time.monotonic() - began < SLACK_SECONDS
    assert not _is_there(worker)


def _children(pid: int) -> list[int]:
    """List the children of a process, without the programs by which it watches their memory."""
    result = subprocess.run(["ps", "-A", "-o", "ppid=,pid=,comm="], capture_output=True, check=True)
    rows = (line.split(None, 2) for line in result.stdout.splitlines())
    return [int(row[1]) for row in rows if int(row[0]) == pid and row[-1] != b"ps"]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

"""Calls of functions in processes of their own."""

import os
import pickle
import signal
import subprocess
import time
from contextlib import suppress

import pytest

from function_script.cli.plan import plan
from function_script.texts.errors import ProgramError
from function_script.tools import own_process

PLAN = "function_script.cli.plan"


def test_error_of_the_function_is_raised_with_its_traceback() -> None:
    with own_process.call(PLAN, {}, 0, 1) as wait, pytest.raises(KeyError) as caught:
        wait()
    assert "_plan_part" in caught.value.__notes__[0]


def test_lost_process_has_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        own_process.call("function_script.cli.exit_codes") as wait,
        pytest.raises(ProgramError, match="a process of this command ended with status 1"),
    ):
        wait()
    assert "ImportError" in capfd.readouterr().err


def test_process_that_nobody_waits_for_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def note(*args: object, **settings: object) -> subprocess.Popen[bytes]:
        processes.append(start(*args, **settings))
        return processes[-1]

    monkeypatch.setattr(own_process.subprocess, "Popen", note)
    with own_process.call(PLAN, {}, 0, 1):
        pass
    assert [process.returncode for process in processes] == [-signal.SIGKILL]


@pytest.mark.usefixtures("here")
def test_process_ends_with_the_one_that_started_it() -> None:
    """The process waits for a dump."""
    os.mkfifo("dump")
    flags = plan.make_context("plan", ["--cluster", "dump"]).params
    process = subprocess.Popen(own_process.command(PLAN), stdin=subprocess.PIPE)
    process.stdin.write(pickle.dumps((flags, 0, 1)))
    process.stdin.flush()
    writer = None
    while writer is None and process.poll() is None:
        # There is no reader yet.
        with suppress(OSError):
            writer = os.open("dump", os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)
    assert writer is not None
    process.stdin.close()
    assert process.wait(timeout=60) == 1
    os.close(writer)

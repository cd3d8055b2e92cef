"""The start of a server: its cost, and signals during it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from e2e.serving import ROOT, Server
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, cpu_seconds, slower, wait_until

from function_script import documents
from function_script.request import objects
from function_script.texts.source import Source

CONTAINER = "spec.deploymentTemplate.spec.template.spec.containers[0]"
# Others may be busy on the node, which may be slower than this machine.
MARGIN = 4


def container(path: str) -> object:
    """Return a value of the function's container in the DeploymentRuntimeConfig."""
    file = ROOT / "examples" / "install" / "deploymentruntimeconfig.yaml"
    (document,) = documents.read_source(Source(name=file.name, text=file.read_text()))
    return objects.find_path(document.value, f"{CONTAINER}.{path}")


@pytest.mark.serial
def test_start_fits_into_the_startup_probe_with_the_cpu_that_is_requested(tmp_path: Path) -> None:
    """There is a margin, although no module is compiled."""
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    with Server("--insecure", env=env) as server:
        cost = sum(map(cpu_seconds, server.family()))
    millis = str(container("resources.requests.cpu"))
    assert millis.endswith("m")
    needed = cost / (int(millis.removesuffix("m")) / 1000)
    period, threshold = (
        container(f"startupProbe.{name}") for name in ("periodSeconds", "failureThreshold")
    )
    assert isinstance(period, int)
    assert isinstance(threshold, int)
    assert needed * MARGIN < period * threshold * slower()


# As the console script does; in a process namespace of its own, as in a container.
ENTRY = "from function_script.__main__ import main; main()"
AS_INIT = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-P", "-c", ENTRY]
SERVE = ["--insecure", "--address", "127.0.0.1:0", "--health-address", "", "--metrics-address", ""]
SIGTERM_BIT = 1 << (signal.SIGTERM - 1)


class Init:
    """A server that is process 1 of its namespace, and has set its first handler."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [*AS_INIT, *SERVE],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: self.pid and self._catches())

    @property
    def pid(self) -> int:
        """The server's process id here; 0 before it exists."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else 0

    def _catches(self) -> bool:
        """Report whether a process has a handler for SIGTERM."""
        (caught,) = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{self.pid}/status").read_text())
        return bool(int(caught, 16) & SIGTERM_BIT)

    def end(self) -> tuple[int, str]:
        """Return the exit code and the log."""
        try:
            _, text = self.process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            self.process.kill()
        return self.process.returncode, text


def may_unshare() -> bool:
    """Report whether this user may create a process namespace."""
    probe = ["unshare", "--pid", "--fork", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


in_a_namespace = pytest.mark.skipif(not may_unshare(), reason="namespaces are not allowed here")


@in_a_namespace
@pytest.mark.parametrize("milliseconds", [0, 400])
def test_server_heeds_sigterm_from_its_first_instruction(milliseconds: int) -> None:
    """The kernel ignores SIGTERM to process 1 without a handler. The exit code is 0."""
    server = Init()
    time.sleep(milliseconds / 1000)
    began = time.monotonic()
    os.kill(server.pid, signal.SIGTERM)
    code, text = server.end()
    assert code == 0, text
    assert "Traceback" not in text
    assert time.monotonic() - began < SLACK_SECONDS


@in_a_namespace
@pytest.mark.serial
def test_first_instruction_comes_early() -> None:
    """The imports are most of the server's start, and come after it."""
    server = Init()
    first = cpu_seconds(server.pid)
    assert server.process.stderr is not None
    assert '"msg":"serving"' in server.process.stderr.readline()
    assert first < cpu_seconds(server.pid) / 2
    os.kill(server.pid, signal.SIGTERM)
    assert server.end()[0] == 0


ENDS = [
    pytest.param(["render", "--help"], signal.SIGINT, 130, id="any command, interrupted"),
    pytest.param(["docs"], signal.SIGTERM, -signal.SIGTERM, id="not process 1: the kernel's way"),
    pytest.param(["serve"], signal.SIGTERM, 0, id="a server"),
]


@pytest.mark.parametrize(("arguments", "number", "code"), ENDS)
def test_signal_during_the_imports_ends_a_command(
    arguments: list[str], number: signal.Signals, code: int
) -> None:
    """The exit code is that of the signal, and there is no traceback."""
    script = (
        "import os, sys; from function_script.__main__ import catch_signals;"
        "catch_signals(sys.argv[1:]);"
        f"os.kill(os.getpid(), {int(number)}); import time; time.sleep(60)"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", script, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert (ended.returncode, ended.stderr) == (code, "")


def test_interrupt_is_python_s_own_again_after_the_imports() -> None:
    """Commands clean up on KeyboardInterrupt."""
    script = (
        "import signal, sys; from function_script.__main__ import main;"
        "sys.argv = ['x', 'version']; sys.exit = lambda code: None; main();"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    command = [sys.executable, "-P", "-c", script]
    printed = subprocess.check_output(command, cwd=ROOT, text=True)
    assert printed.splitlines()[-1] == "True"

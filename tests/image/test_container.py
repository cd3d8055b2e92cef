"""The image in locked-down containers, as a server of Crossplane and as a command line."""

import fcntl
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority
from e2e.serving import SERVER_NAME, call, method
from image import served
from image.container import MIB, Container, Mount, Settings, read_state
from image.stages import read_image
from support import builders
from support.paths import ROOT
from support.timing import PATIENCE_SECONDS, cpu_seconds, wait_until

from function_script.proto.v1 import run_function_pb2 as pb

IMAGE = read_image()
USER = "12345:12345"
TENTH = 0.1
# Kubernetes ends what has not ended by itself for so long.
GRACE_SECONDS = 30
BOMB = """
def main(req):
    lists = []
    for i in range(1000000):
        lists.append([i] * 100000)
    return {}
"""
ENDLESS = "def main(req):\n    for i in range(1000000000):\n        pass\n"


@pytest.fixture(scope="module", autouse=True)
def network() -> None:
    """Switch the loopback device on: tests run in a new network, which containers share."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))
    assert [name for _, name in socket.if_nameindex()] == ["lo"]


@pytest.fixture(scope="module")
def authority() -> Authority:
    """Crossplane's authority."""
    return Authority()


@pytest.fixture(scope="module")
def certificates(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's certificates as a Secret is mounted; any user of a container may read them."""
    directory = tmp_path_factory.mktemp("tls") / "server"
    authority.server("function-script", SERVER_NAME).write(directory)
    for parent in (directory, *directory.parents[:2]):
        parent.chmod(0o755)
    return directory


@pytest.fixture
def server(certificates: Path, tmp_path: Path) -> Iterator[Container]:
    """A server of our manifest."""
    with served.serving(IMAGE, tmp_path, served.configure(certificates)) as container:
        yield container


@pytest.fixture
def channel(server: Container, authority: Authority) -> Iterator[grpc.Channel]:
    """Crossplane's connection."""
    assert served.is_ready(), server.text
    with served.connect(authority.client()) as channel:
        yield channel


def test_language_answers(channel: grpc.Channel) -> None:
    assert [served.count(channel, request) for request in served.REQUESTS] == ["3"] * 3


def test_confinement_is_as_demanded(server: Container, channel: grpc.Channel) -> None:
    """User 2000, no capability, no new privileges; workers filter more system calls."""
    assert served.count(channel) == "3"
    states = [read_state(pid) for pid in server.processes()]
    assert len(states) >= 4
    for lines in states:
        assert lines["Uid"].split() == lines["Gid"].split() == ["2000"] * 4
        assert lines["Groups"] in {"", "2000"}
        assert {lines[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "2")
    front, _, *workers = [int(lines["Seccomp_filters"]) for lines in states]
    assert workers == [front + 1] * len(workers)
    assert server.lines("serving")[0]["system_calls"] == "filtered"


def test_ended_processes_leave_nothing(server: Container, channel: grpc.Channel) -> None:
    """Programs that take too long are killed with their worker; their parent buries it."""
    request = builders.request(builders.starlark(ENDLESS, limits={"timeout": "200ms"}))
    for answer in [method(channel).future(request) for _ in range(6)]:
        (fatal,) = answer.result(PATIENCE_SECONDS).results
        assert "more CPU time than" in fatal.message
    assert served.count(channel) == "3"
    wait_until(lambda: not any(map(is_zombie, server.processes())))


def is_zombie(pid: int) -> bool:
    """Tell whether a process has ended and is not buried."""
    with suppress(OSError):
        return read_state(pid)["State"].startswith("Z")
    return False


def test_container_starts_with_a_tenth_of_a_cpu_before_the_probe_gives_up(
    certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """And answers, every language, at that pace; as a user that the system has no name for."""
    described = served.configure(certificates, cpus=TENTH, user="1000650000:0")
    with Container(IMAGE, tmp_path, described) as container:
        assert served.wait_until_ready(container) < served.PROBE_SECONDS
        assert read_state(container.pid)["Uid"].split()[0] == "1000650000"
        with served.connect(authority.client()) as channel:
            assert [served.count(channel, one) for one in served.REQUESTS] == ["3"] * 3


def test_memory_bomb_ends_its_worker_and_no_other(
    certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """By the kernel, when the container has no more memory."""
    flags = ("--memory-limit", "4Gi", "--timeout", "30s")
    described = served.configure(certificates, *flags, memory_bytes=256 * MIB)
    with (
        served.serving(IMAGE, tmp_path, described) as container,
        served.connect(authority.client()) as channel,
    ):
        front = container.pid
        desired = {"resources": {"a": {"resource": {"kind": "A"}}}}
        request = builders.request(builders.starlark(BOMB), desired=desired)
        response = call(channel, request)
        (fatal,) = response.results
        assert fatal.severity == pb.SEVERITY_FATAL
        assert "memory" in fatal.message
        assert response.desired == request.desired
        assert served.count(channel) == "3"
        assert served.is_ready()
        assert container.pid == front


def test_container_stops_in_time_in_the_midst_of_work(
    certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """A call that runs is answered, and the exit code is 0."""
    request = builders.request(builders.starlark(ENDLESS, limits={"timeout": "1s"}))
    with (
        served.serving(IMAGE, tmp_path, served.configure(certificates)) as container,
        served.connect(authority.client()) as channel,
    ):
        calls = [method(channel).future(request) for _ in range(2)]
        wait_until(lambda: max(map(cpu_seconds, container.processes()[1:])) > 0.5)
        began = time.monotonic()
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
        assert time.monotonic() - began < GRACE_SECONDS
        assert container.lines("stopped")
        for one in calls:
            (fatal,) = one.result(PATIENCE_SECONDS).results
            assert "more CPU time than" in fatal.message


def test_signal_is_heeded_long_before_it_serves(certificates: Path, tmp_path: Path) -> None:
    """The first process of a container ignores what it has no handler for, so that comes first."""
    with Container(IMAGE, tmp_path, served.configure(certificates, cpus=TENTH)) as container:
        wait_until(lambda: container.pid and has_handler(container.pid, signal.SIGTERM))
        assert not served.is_ready()
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
        assert not container.lines("serving")


def has_handler(pid: int, number: signal.Signals) -> bool:
    """Tell whether the server's process has a handler for a signal.

    Before it is Python, it is the runtime's, which has handlers of its own.
    """
    if not Path(f"/proc/{pid}/exe").readlink().name.startswith("python"):
        return False
    return bool(int(read_state(pid)["SigCgt"], 16) >> (number - 1) & 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory of the user with a project."""
    directory = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "starlark-robots", directory)
    subprocess.run(["chown", "--recursive", USER, directory], check=True)
    tmp_path.chmod(0o755)
    return directory


def run(
    directory: Path, *arguments: str, entrypoint: tuple[str, ...] | None = None
) -> tuple[int, str, str]:
    """Run a command in a container with a directory mounted at /w; exit code and both outputs."""
    described = Settings(
        arguments=arguments,
        mounts=(Mount(target="/w", source=directory, is_writable=True),),
        user=USER,
        directory="/w",
        entrypoint=entrypoint,
    )
    with Container(IMAGE, directory.parent, described) as container:
        return container.wait(), "".join(container.output), "".join(container.errors)


def test_command_line_works_on_a_mounted_project(project: Path) -> None:
    """`render` as here, and `init`, `test` and `check`; new files belong to the user."""
    command = [sys.executable, "-m", "function_script.cli", "render", "."]
    expected = subprocess.run(command, check=True, cwd=project, capture_output=True, text=True)
    assert run(project, "render", ".") == (0, expected.stdout, expected.stderr)
    for arguments in (("init", "apps"), ("test", "."), ("check", ".")):
        code, _, errors = run(project, *arguments)
        assert code == 0, errors
    files = [path for path in (project / "apps").rglob("*") if path.is_file()]
    assert {path.stat().st_uid for path in files} == {12345}


def test_command_needs_nothing_of_the_environment(project: Path) -> None:
    """No HOME, no PATH, no /tmp, no place to write."""
    code = "import os; os.execve('/venv/bin/function-script', ['f', 'render', '.'], {})"
    assert run(project, entrypoint=("/venv/bin/python", "-c", code))[0] == 0

"""A server in a container of its own: how it starts, what it survives, how it ends."""

import os
import re
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from e2e.authority import Authority
from e2e.serving import call, method
from image import served
from image.container import MIB, Container, Limits, Mount, state
from image.programs import BOMB, ENDLESS, REQUESTS, STARLARK, count
from image.stages import Image
from support import builders
from support.score_report import Scoreboard
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.proto.v1 import run_function_pb2 as pb

TENTH = 0.1
# Kubernetes ends what has not ended by itself for so long.
GRACE_SECONDS = 30


def test_container_starts_with_a_tenth_of_a_cpu_before_the_probe_gives_up(
    image: Image,
    certificates: Path,
    authority: Authority,
    tmp_path: Path,
    scoreboard: Scoreboard,
) -> None:
    """And answers, every language, at that pace."""
    described = served.settings(certificates, limits=Limits(cpus=TENTH))
    with Container(image, tmp_path, described) as container:
        seconds = served.wait_until_ready(container)
        assert seconds < served.probe_seconds()
        with served.channel(authority.client()) as channel:
            began = time.monotonic()
            assert [count(channel, request) for request in REQUESTS.values()] == ["3"] * 3
        answered = time.monotonic() - began
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
    lines = scoreboard.tables.setdefault("containers with a tenth of a CPU", [])
    lines.append(
        f"ready after {seconds:.1f} s of {served.probe_seconds()} s, "
        f"first answers of three languages after {answered:.1f} s more"
    )


@pytest.mark.parametrize("own_limit", ["64Mi", "4Gi"], ids=["own-limit", "container-limit"])
def test_memory_bomb_ends_its_worker_and_no_other(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path, own_limit: str
) -> None:
    """By the worker's own limit, or by the kernel when the container has no more memory."""
    described = served.settings(
        certificates,
        *("--memory-limit", own_limit, "--timeout", "30s"),
        limits=Limits(memory_bytes=256 * MIB),
    )
    with served.serving(image, tmp_path, described) as container:
        front, _, *_ = container.processes()
        with served.channel(authority.client()) as channel:
            assert count(channel) == "3"
            request = builders.request(
                builders.starlark(BOMB), desired={"resources": {"a": {"resource": {"kind": "A"}}}}
            )
            response = call(channel, request)
            (fatal,) = response.results
            assert fatal.severity == pb.SEVERITY_FATAL
            assert "memory" in fatal.message
            assert response.desired == request.desired
            assert count(channel) == "3"
            assert served.is_ready()
        assert container.pid == front


def test_container_stops_in_time_in_the_midst_of_work(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """A call that runs is answered, and the exit code is 0."""
    with (
        served.serving(image, tmp_path, served.settings(certificates)) as container,
        served.channel(authority.client()) as channel,
    ):
        calls = [
            method(channel).future(
                builders.request(builders.starlark(ENDLESS, limits={"timeout": "1s"}))
            )
            for _ in range(2)
        ]
        wait_until(lambda: max(map(cpu_seconds, container.processes()[1:])) > 0.5)
        began = time.monotonic()
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
        assert time.monotonic() - began < GRACE_SECONDS
        assert container.lines("stopped")
        for one in calls:
            (fatal,) = one.result(PATIENCE_SECONDS).results
            assert "more CPU time than" in fatal.message


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used; 0 when it has ended."""
    ticks = 0
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_signal_is_heeded_long_before_it_serves(
    image: Image, certificates: Path, tmp_path: Path, scoreboard: Scoreboard
) -> None:
    """The first process of a container ignores what it has no handler for, so that comes first."""
    described = served.settings(certificates, limits=Limits(cpus=TENTH))
    with Container(image, tmp_path, described) as container:
        began = time.monotonic()
        wait_until(lambda: container.pid and is_handled(container.pid, signal.SIGTERM))
        handled = time.monotonic() - began
        assert not served.is_ready()
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
        assert not container.lines("serving")
        ended = time.monotonic() - began
    lines = scoreboard.tables.setdefault("containers with a tenth of a CPU", [])
    lines.append(f"heeds SIGTERM after {handled:.1f} s, ended after {ended:.1f} s")


def is_handled(pid: int, number: signal.Signals) -> bool:
    """Tell whether the server's process has a handler for a signal.

    Before it is Python, it is the runtime's, which has handlers of its own.
    """
    if not Path(f"/proc/{pid}/exe").readlink().name.startswith("python"):
        return False
    return bool(int(state(pid)["SigCgt"], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("user", ["65532:65532", "1000650000:0"])
def test_container_runs_as_any_user(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path, user: str
) -> None:
    """Also one that the system has no name for, as some clusters choose them."""
    described = served.settings(certificates, user=user)
    with (
        served.serving(image, tmp_path, described) as container,
        served.channel(authority.client()) as channel,
    ):
        assert state(container.pid)["Uid"].split()[0] == user.partition(":")[0]
        assert count(channel) == "3"


def test_certificate_that_is_missing_is_named(
    image: Image, certificates: Path, tmp_path: Path
) -> None:
    """The server ends with one error, and with an exit code that restarts it."""
    directory = tmp_path / "server"
    shutil.copytree(certificates, directory)
    (directory / "tls.key").unlink()
    tmp_path.chmod(0o755)
    with Container(image, tmp_path, served.settings(directory)) as container:
        assert container.wait() == 1
        assert '"/tls/server" lacks tls.key' in container.text
        assert "Traceback" not in container.text


def test_full_disk_costs_captures_and_no_answers(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """The server says what it could not write."""
    described = served.settings(
        certificates,
        *("--capture-dir", "/captures"),
        mounts=(Mount(target="/captures", is_writable=True, size_bytes=4096),),
    )
    notes = {"script.fn.crossplane.io/capture": "true"}
    requests = [
        builders.request(STARLARK, observed={"composite": {"resource": {**builders.XR, **named}}})
        for named in [{"metadata": {"name": f"demo-{n}", "annotations": notes}} for n in range(5)]
    ]
    with (
        served.serving(image, tmp_path, described) as container,
        served.channel(authority.client()) as channel,
    ):
        assert [count(channel, request) for request in requests] == ["3"] * 5
        wait_until(lambda: re.search("no space left", container.text, re.IGNORECASE))
        assert served.is_ready()

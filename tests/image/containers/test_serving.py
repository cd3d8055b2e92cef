"""The image as a server in a locked-down container: starts, answers, refuses, survives, stops."""

from __future__ import annotations

import re
import shutil
import signal
import time
from typing import TYPE_CHECKING

import builders
import grpc
import pytest
from e2e.serving import call, method
from image import served
from image.container import MIB, Container, Limits, Mount, state
from patience import PATIENCE_SECONDS, wait_until

from function_script.proto.v1 import run_function_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.authority import Authority
    from image.stages import Image
    from scoreboard import Scoreboard

TENTH = 0.1
BOMB = """
def main(req):
    lists = []
    for i in range(1000000):
        lists.append([i] * 100000)
    return {}
"""
ENDLESS = "def main(req):\n    for i in range(1000000000):\n        pass\n"
STARLARK = builders.starlark("""
def main(req):
    spec = req["observed"]["composite"]["resource"]["spec"]
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"count": str(spec["count"] + 1)}}
    return {"desired": {"resources": {"thing": {"resource": thing}}}}
""")
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/resource-name: thing}
data: {count: "%s"}
"""
COUNT = ".observed.composite.resource.spec.count"
GO = TEMPLATE % f"{{{{ add {COUNT} 1 }}}}"
REQUESTS = {
    "StarlarkScript": builders.request(STARLARK),
    "JinjaTemplate": builders.request(builders.jinja(TEMPLATE % f"{{{{ {COUNT[1:]} + 1 }}}}")),
    "GoTemplate": builders.request(
        {
            "apiVersion": builders.API_VERSION,
            "kind": "GoTemplate",
            "source": "Inline",
            "inline": {"template": GO},
        }
    ),
}
GOOD = REQUESTS["StarlarkScript"]


@pytest.fixture(scope="module")
def server(
    image: Image, certificates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Container]:
    """A server for the tests that leave it as it was."""
    directory = tmp_path_factory.mktemp("server")
    with served.serving(image, directory, served.settings(certificates)) as container:
        yield container


@pytest.fixture
def channel(server: Container, authority: Authority) -> Iterator[grpc.Channel]:
    """Crossplane's connection."""
    assert server.is_running()
    with served.channel(authority.client()) as channel:
        yield channel


def count(channel: grpc.Channel, request: pb.RunFunctionRequest = GOOD) -> str:
    """The number in the one resource of the answer: that of the XR, and one."""
    response = call(channel, request)
    assert not response.results, response.results
    return str(response.desired.resources["thing"].resource["data"]["count"])


@pytest.mark.parametrize("kind", REQUESTS)
def test_every_language_answers(channel: grpc.Channel, kind: str) -> None:
    """With what its program computes."""
    assert count(channel, REQUESTS[kind]) == "3"


def test_it_is_as_confined_as_it_was_asked(server: Container) -> None:
    """All processes: user 2000, no capability, no new privileges, a filter of system calls."""
    processes = server.processes()
    assert len(processes) >= 4
    for pid in processes:
        lines = state(pid)
        assert lines["Uid"].split() == lines["Gid"].split() == ["2000"] * 4
        assert lines["Groups"] in {"", "2000"}
        assert {lines[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "2")


def test_workers_have_a_filter_of_their_own(server: Container) -> None:
    """On top of the container's: the log says so, and the kernel, too."""
    front, _, *workers = server.processes()
    (line,) = server.lines("serving")
    assert line["system_calls"] == "filtered"
    container = int(state(front)["Seccomp_filters"])
    assert [int(state(pid)["Seccomp_filters"]) for pid in workers] == [container + 1] * len(workers)


def test_a_client_without_a_certificate_is_refused(server: Container, authority: Authority) -> None:
    """In plain text, too; the next good one is answered."""
    trusted = grpc.ssl_channel_credentials(authority.client().authority)
    options = [("grpc.ssl_target_name_override", "function-script")]
    stranger = grpc.secure_channel(served.ADDRESS, trusted, options=options)
    for channel in (stranger, grpc.insecure_channel(served.ADDRESS)):
        with channel, pytest.raises(grpc.RpcError) as caught:
            call(channel, GOOD)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert server.is_running()
    with served.channel(authority.client()) as channel:
        assert count(channel) == "3"


def test_it_starts_with_a_tenth_of_a_cpu_before_the_probe_gives_up(
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
        f"{image.root.parent.name}: ready after {seconds:.1f} s of {served.probe_seconds()} s, "
        f"first answers of three languages after {answered:.1f} s more"
    )


@pytest.mark.parametrize("own_limit", ["64Mi", "4Gi"], ids=["own-limit", "container-limit"])
def test_a_memory_bomb_ends_its_worker_and_no_other(
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


def test_nothing_is_left_of_processes_that_ended(server: Container, channel: grpc.Channel) -> None:
    """Programs that take too long are killed with their worker; their parent buries it."""
    request = builders.request(builders.starlark(ENDLESS, limits={"timeout": "200ms"}))
    for answer in [method(channel).future(request) for _ in range(6)]:
        (fatal,) = answer.result(PATIENCE_SECONDS).results
        assert "longer than" in fatal.message
    assert count(channel) == "3"
    wait_until(lambda: not zombies(server))


def zombies(container: Container) -> list[int]:
    """List the processes of a container that have ended and are not buried."""
    ended = []
    for pid in container.processes():
        try:
            ended += [pid] if state(pid)["State"].startswith("Z") else []
        except OSError:
            continue
    return ended


def test_it_stops_in_time_in_the_midst_of_work(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """A call that runs is answered, and the exit code is 0."""
    with (
        served.serving(image, tmp_path, served.settings(certificates)) as container,
        served.channel(authority.client()) as channel,
    ):
        calls = [
            method(channel).future(builders.request(builders.starlark(ENDLESS))) for _ in range(8)
        ]
        wait_until(lambda: len(container.processes()) > 4)
        began = time.monotonic()
        container.signal(signal.SIGTERM)
        assert container.wait() == 0
        assert time.monotonic() - began < 15
        assert container.lines("stopped")
        for one in calls:
            (fatal,) = one.result(PATIENCE_SECONDS).results
            assert "longer than" in fatal.message


@pytest.mark.parametrize("user", ["65532:65532", "1000650000:0"])
def test_any_user_will_do(
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


def test_a_certificate_that_is_missing_is_named(
    image: Image, certificates: Path, tmp_path: Path
) -> None:
    """The server ends with one error, and with an exit code that restarts it."""
    directory = tmp_path / "server"
    shutil.copytree(certificates, directory)
    (directory / "tls.key").unlink()
    tmp_path.chmod(0o755)
    with Container(image, tmp_path, served.settings(directory)) as container:
        assert container.wait() == 1
        assert "/tls/server/tls.key" in container.text
        assert "Traceback" not in container.text


def test_a_full_disk_costs_captures_and_no_answers(
    image: Image, certificates: Path, authority: Authority, tmp_path: Path
) -> None:
    """The server says what it could not write."""
    described = served.settings(
        certificates,
        *("--capture-dir", "/captures"),
        mounts=(Mount(target="/captures", is_writable=True, size_bytes=4096),),
    )
    notes = {"script.fn.crossplane.io/capture": "true"}
    resource = {**builders.XR, "metadata": {"name": "demo", "annotations": notes}}
    request = builders.request(STARLARK, observed={"composite": {"resource": resource}})
    with (
        served.serving(image, tmp_path, described) as container,
        served.channel(authority.client()) as channel,
    ):
        assert [count(channel, request) for _ in range(5)] == ["3"] * 5
        wait_until(lambda: re.search("no space left", container.text, re.IGNORECASE))
        assert served.is_ready()

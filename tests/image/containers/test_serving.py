"""The image as a server in a locked-down container: what it answers, refuses and leaves."""

import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority
from e2e.serving import call, method
from image import served
from image.container import Container, state
from image.programs import ENDLESS, GOOD, REQUESTS, count
from image.stages import Image
from support import builders
from support.timing import PATIENCE_SECONDS


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


@pytest.mark.parametrize("kind", REQUESTS)
def test_language_answers(channel: grpc.Channel, kind: str) -> None:
    """With what its program computes."""
    assert count(channel, REQUESTS[kind]) == "3"


def test_confinement_is_as_demanded(server: Container) -> None:
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


def test_client_without_a_certificate_is_refused(server: Container, authority: Authority) -> None:
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


def test_ended_processes_leave_nothing(server: Container, channel: grpc.Channel) -> None:
    """Programs that take too long are killed with their worker; their parent buries it."""
    request = builders.request(builders.starlark(ENDLESS, limits={"timeout": "200ms"}))
    for answer in [method(channel).future(request) for _ in range(6)]:
        (fatal,) = answer.result(PATIENCE_SECONDS).results
        assert "more CPU time than" in fatal.message
    assert count(channel) == "3"
    end = time.monotonic() + PATIENCE_SECONDS
    while ended := zombies(server):
        assert time.monotonic() < end, (server.processes(), ended)
        time.sleep(0.1)


def zombies(container: Container) -> list[dict[str, str]]:
    """List the processes of a container that have ended and are not buried."""
    ended = []
    for pid in container.processes():
        try:
            lines = state(pid)
        except OSError:
            continue
        ended += [lines] if lines["State"].startswith("Z") else []
    return ended

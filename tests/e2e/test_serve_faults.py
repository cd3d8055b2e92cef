"""Faults of a real server: after each the next good request is answered, and nothing leaks."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from e2e.serving import ENDLESS, NOTHING, Server, call, method
from support import builders
from support.paths import ROOT
from support.timing import wait_until

BODY = "def main(req):\n"
GOOD = builders.request(
    builders.starlark(BODY + "    return {'context': {'answer': req['context']['question']}}\n"),
    context={"question": "what"},
    observed=builders.observed("good"),
)
LOOP = builders.request(builders.starlark(ENDLESS, limits={"timeout": "300ms"}))
HALF_SECOND = builders.request(builders.starlark(ENDLESS, limits={"timeout": "500ms"}))
LONG = builders.request(
    builders.starlark(ENDLESS), desired={"resources": {"earlier": {"resource": {"kind": "A"}}}}
)
FULL = """\
#!/bin/sh
exec unshare --mount sh -c '
  mount -t tmpfs -o size=4k none /tmp && mount -t tmpfs -o size=4k none /dev/shm || exit 1
  head -c 100000 /dev/zero > /tmp/full 2> /dev/null
  exec "$0" "$@"' {python} "$@"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for all faults one after another."""
    with Server("--insecure", "--timeout", "50s") as server:
        yield server


@pytest.fixture
def channel(server: Server) -> Iterator[grpc.Channel]:
    """A connection for each test, which asserts afterwards that the server still works."""
    files, processes = open_files(server), len(server.family())
    with server.channel() as channel:
        assert is_well(channel)
        yield channel
        assert is_well(channel)
    # Four descriptors for each worker; some more workers may be idle than before.
    wait_until(lambda: open_files(server) <= files + 24)
    wait_until(lambda: len(server.family()) <= processes + 5)


def is_well(channel: grpc.Channel) -> bool:
    """Report whether a good request is answered."""
    response = call(channel, GOOD)
    return not response.results and response.context["answer"] == "what"


def open_files(server: Server) -> int:
    """Return the number of the server's descriptors."""
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def zygote_and_workers(server: Server) -> tuple[int, list[int]]:
    """Return the process ids of the zygote, a child of the server, and of its workers."""
    _, zygote, *workers = server.family()
    return zygote, workers


def has_grpc(pid: int) -> bool:
    """Report whether a process has loaded gRPC's library; no when it has ended."""
    try:
        return "cygrpc" in Path(f"/proc/{pid}/maps").read_text()
    except PermissionError:
        pytest.skip("maps of other processes need more privileges than there are here")
    except OSError:
        return False


def assert_free_of_grpc(server: Server) -> None:
    """Assert that only the server has the library."""
    zygote, workers = zygote_and_workers(server)
    assert has_grpc(server.pid)
    assert workers
    assert not any(map(has_grpc, [zygote, *workers]))


def test_zygotes_and_workers_have_no_grpc(server: Server, channel: grpc.Channel) -> None:
    """No process that has loaded the library forks, at the start, for long runs or later."""
    assert_free_of_grpc(server)
    zygote, _ = zygote_and_workers(server)
    os.kill(zygote, signal.SIGKILL)
    running = [method(channel).future(HALF_SECOND) for _ in range(3)]
    for each in running:
        each.result()
    wait_until(lambda: not call(channel, GOOD).results, pause_seconds=0.03)
    assert zygote_and_workers(server)[0] != zygote
    assert_free_of_grpc(server)


@pytest.mark.parametrize("victims", ["workers", "zygote"])
def test_kill_in_mid_request_is_one_fatal(
    server: Server, channel: grpc.Channel, victims: str
) -> None:
    running = [method(channel).future(LONG) for _ in range(2)]
    server.wait_until_it_runs(2)
    zygote, workers = zygote_and_workers(server)
    for pid in workers if victims == "workers" else [zygote]:
        os.kill(pid, signal.SIGKILL)
    for one in running:
        response = one.result()
        assert "killed from outside" in response.results[0].message
        assert response.desired == LONG.desired


def test_clients_that_leave_in_mid_call_leave_nothing(
    server: Server, channel: grpc.Channel
) -> None:
    for _ in range(5):
        with server.channel() as other:
            calls = [method(other).future(LOOP) for _ in range(4)]
            time.sleep(0.05)
            for one in calls[:2]:
                one.cancel()
    assert is_well(channel)


def test_deadline_that_is_nearer_than_the_limit_is_kept(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call(channel, LONG, timeout=2)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "it was not done at the call's deadline, after 1." in str(caught.value.details())


def test_exhausted_descriptors_are_reported_and_survived(
    server: Server, channel: grpc.Channel
) -> None:
    _, workers = zygote_and_workers(server)
    before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (open_files(server), before[1]))
    try:
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        running = [method(channel).future(LOOP) for _ in range(6)]
        texts = [one.result().results[0].message for one in running]
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
    assert all("cannot start a worker" in text or "limit of 0.3 s" in text for text in texts), texts


def test_full_disk_and_no_tmp_are_not_noticed(tmp_path: Path) -> None:
    """The server writes no files, so /tmp and /dev/shm may be full."""
    if ROOT.is_relative_to("/tmp"):  # noqa: S108 - the directory that is hidden below
        pytest.skip("what is served is itself in /tmp")
    wrapper = tmp_path / "python"
    wrapper.write_text(FULL.format(python=sys.executable))
    wrapper.chmod(0o755)
    probe = subprocess.run([wrapper, "-c", ""], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("mounts need more privileges than there are here")
    with (
        Server("--insecure", python=str(wrapper)) as server,
        server.channel() as channel,
    ):
        large = builders.request(builders.starlark(NOTHING))
        large.context["x"] = "x" * 3_000_000
        assert not call(channel, large).results
        assert is_well(channel)

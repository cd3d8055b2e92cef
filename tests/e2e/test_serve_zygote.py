"""No process that has loaded gRPC's library forks, at the start or later."""

import os
import signal
from pathlib import Path

import pytest
from e2e.serving import GOOD, Server, call, method
from support import builders
from support.timing import wait_until

SLOW = builders.request(
    builders.starlark(
        "def main(req):\n    for i in range(100000000):\n        pass\n    return {}\n",
        limits={"timeout": "500ms"},
    )
)
LIBRARY = "cygrpc"


def libraries(pid: int) -> str:
    """Return the files that a process has mapped; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except PermissionError:
        pytest.skip("maps of other processes need more privileges than there are here")
    except OSError:
        return ""


def assert_free_of_grpc(server: Server) -> None:
    """Assert that only the server has the library."""
    front, zygote, *workers = server.family()
    assert LIBRARY in libraries(front)
    assert workers
    for pid in (zygote, *workers):
        assert LIBRARY not in libraries(pid)


def test_zygotes_and_workers_have_no_grpc() -> None:
    """This includes workers for long runs, and those that follow a killed zygote."""
    with Server("--insecure", "--timeout", "50s") as server, server.channel() as channel:
        call(channel, GOOD)
        assert_free_of_grpc(server)
        zygote = server.family()[1]
        os.kill(zygote, signal.SIGKILL)
        running = [method(channel).future(SLOW) for _ in range(3)]
        for each in running:
            each.result()
        wait_until(lambda: not call(channel, GOOD).results)
        assert server.family()[1] != zygote
        assert_free_of_grpc(server)

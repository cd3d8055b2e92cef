"""Functions' servers are started once, at the same time, and none is left."""

import subprocess
import sys
import threading

import pytest

from function_script.tools.render.runtimes.servers import Servers


class Server:
    """Counts its stops."""

    def __init__(self) -> None:
        self.stops = 0

    def stop(self) -> None:
        """Count."""
        self.stops += 1


def test_server_is_started_once_for_a_key() -> None:
    starts: list[Server] = []

    def start() -> Server:
        starts.append(Server())
        return starts[-1]

    with Servers() as servers:
        for _ in range(3):
            servers.start("a", start)
        assert servers.wait("a", start) is servers.wait("a", start) is starts[0]
    assert [server.stops for server in starts] == [1]


def test_servers_start_at_the_same_time() -> None:
    barrier = threading.Barrier(2, timeout=10)

    def start() -> Server:
        barrier.wait()
        return Server()

    with Servers() as servers:
        servers.start("a", start)
        servers.start("b", start)
        assert servers.wait("a", start) is not servers.wait("b", start)


def test_start_that_failed_is_tried_again() -> None:
    def fail() -> Server:
        raise ValueError("no")

    server = Server()
    with Servers() as servers:
        with pytest.raises(ValueError, match="no"):
            servers.wait("a", fail)
        assert servers.wait("a", lambda: server) is server


def test_start_that_failed_is_not_tried_again_for_the_next_of_many_xrs() -> None:
    starts: list[int] = []

    def fail() -> Server:
        starts.append(1)
        raise ValueError("no")

    with Servers(retries=False) as servers:
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                servers.wait("a", fail)
    assert starts == [1]


def test_discarded_server_is_stopped_and_started_again() -> None:
    first, second = Server(), Server()
    with Servers() as servers:
        assert servers.wait("a", lambda: first) is first
        servers.discard("a", first)
        assert first.stops == 1
        assert servers.wait("a", lambda: second) is second
    assert (first.stops, second.stops) == (1, 1)


def test_server_is_discarded_once_and_its_successor_is_not() -> None:
    """Calls of several threads fail when a server ends, and each of them discards it."""
    first, second = Server(), Server()
    with Servers() as servers:
        servers.wait("a", lambda: first)
        servers.discard("a", first)
        servers.wait("a", lambda: second)
        servers.discard("a", first)
        assert servers.wait("a", Server) is second
        assert (first.stops, second.stops) == (1, 0)


def test_server_that_nobody_waited_for_is_stopped() -> None:
    server = Server()
    servers = Servers()
    servers.start("a", lambda: server)
    servers.close()
    assert server.stops == 1


def test_servers_that_nobody_closed_are_stopped_with_the_interpreter() -> None:
    code = """
from function_script.tools.render.runtimes.servers import Servers
class Server:
    def stop(self):
        print("stopped")
servers = Servers()
servers.wait("a", Server)
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (completed.stdout, completed.stderr) == (b"stopped\n", b"")

"""Three servers behind a round-robin client: one is killed, one drained, nothing is lost."""

import json
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import grpc
from e2e.serving import Server, call
from support import builders
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.proto.v1 import run_function_pb2 as pb

SCRIPT = """
def main(req):
    name = req["observed"]["composite"]["resource"]["metadata"]["name"]
    return {"desired": {"resources": {name: {"resource": {"apiVersion": "v1", "kind": "A"}}}}}
"""
# Crossplane's own: round robin, and no retry of what was sent.
CONFIG = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": [{}], "waitForReady": True}],
    }
)
CALLERS = 6
CALLS = 100
# A reconcile that failed is queued again; this is how often one is tried here.
MAX_TRIES = 5


def request(name: str) -> pb.RunFunctionRequest:
    """Return a request whose response has the XR's name."""
    return builders.request(builders.starlark(SCRIPT), observed=builders.observed(name))


class Caller:
    """Makes calls one after the other, each with a name of its own, until ``is_over``."""

    def __init__(self, channel: grpc.Channel, is_over: Callable[[], bool]) -> None:
        self.answered = 0
        self.retried = 0
        self.lost: list[str] = []
        self._channel = channel
        self._is_over = is_over

    def work(self, number: int) -> None:
        """Make calls."""
        while not self._is_over():
            name = f"xr-{number}-{self.answered}"
            if self._reconcile(name):
                self.answered += 1
            else:
                self.lost.append(name)

    def _reconcile(self, name: str) -> bool:
        for _ in range(MAX_TRIES):
            try:
                response = call(self._channel, request(name), timeout=PATIENCE_SECONDS)
            except grpc.RpcError:
                self.retried += 1
                time.sleep(0.02)
            else:
                return list(response.desired.resources) == [name]
        return False


def wait_for_more(callers: list[Caller]) -> None:
    """Wait until many more calls are answered."""
    enough = sum(each.answered for each in callers) + CALLS
    wait_until(lambda: sum(each.answered for each in callers) >= enough)


def test_killed_and_drained_servers_lose_nothing() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(Server("--insecure", "--workers", "1")) for _ in range(3)]
        addresses = ",".join(server.address for server in servers)
        options = [("grpc.service_config", CONFIG)]
        channel = stack.enter_context(grpc.insecure_channel(f"ipv4:{addresses}", options=options))
        end = threading.Event()
        callers = [Caller(channel, end.is_set) for _ in range(CALLERS)]
        with ThreadPoolExecutor(CALLERS) as threads:
            runs = [threads.submit(each.work, number) for number, each in enumerate(callers)]
            wait_for_more(callers)
            servers[0].signal(signal.SIGKILL)
            wait_for_more(callers)
            before = sum(each.retried for each in callers)
            servers[1].signal(signal.SIGTERM)
            wait_for_more(callers)
            end.set()
            for run in runs:
                run.result()
        codes = [server.stop() for server in servers]
        shares = [len(server.lines("answered")) for server in servers]
    assert [name for each in callers for name in each.lost] == []
    assert before <= 4 * CALLERS
    # gRPC answers a call CANCELLED that was sent before its client had read of the end.
    assert sum(each.retried for each in callers) - before <= CALLERS
    assert codes[0] == -signal.SIGKILL
    assert codes[1:] == [0, 0]
    assert min(shares) > 0
    assert shares[2] > shares[0]

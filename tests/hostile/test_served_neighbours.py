"""Sound programs beside greedy ones: none of them fails because of these."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from e2e.serving import Server, call, method
from support import benchmarks, builders

from function_script.proto.v1 import run_function_pb2 as pb

# What ends such a run leaves its loops behind, beside all later tests.
pytestmark = pytest.mark.timeout(900)
# No machine may be so busy that these are not reached: what is judged is that nothing fails.
SMALL_RUN = ("--requests", "40", "--clients", "6", "--xrs", "12", "--heavy-seconds", "0.2")
SLOW = ("--limit-seconds", "600")
# Of CPU time: more than is called heavy, and far from the limit.
HEAVY_TURNS = 40_000_000
NOT_TO_BLAME = {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED}


def request(name: str, turns: str) -> pb.RunFunctionRequest:
    """Return a request of the XR with that name, whose script has a loop of this many turns."""
    lines = f"    for i in range({turns}):\n        pass\n    return {{}}\n"
    xr = {**builders.XR, "metadata": {"name": name, "namespace": "here"}, "spec": {"turns": 1}}
    script = f"def main(req):\n{lines}"
    return builders.request(builders.starlark(script), observed={"composite": {"resource": xr}})


@pytest.mark.attack
def test_sound_programs_never_fail_for_their_neighbours() -> None:
    """This is the benchmark at a small size: every response is right."""
    process = benchmarks.run("neighbours.py", *SMALL_RUN, *SLOW)
    rows = [line.split("|") for line in process.stdout.splitlines() if line.startswith("| ")][1:]
    missed = [row[1].strip() for row in rows if row[4].strip() != "yes"]
    # How quick small ones are is for a quiet machine to say.
    assert set(missed) <= {"ms of small calls, p99"}, process.stdout + process.stderr
    assert len(rows) == 5, process.stdout + process.stderr


@pytest.fixture
def server() -> Iterator[Server]:
    """A server with defaults, and a short time in which a stopped worker is noticed."""
    with Server("--insecure", "--workers", "2", "--timeout", "2s", keeps=1_000) as server:
        yield server


@contextmanager
def flooded(channel: grpc.Channel, requests: list[pb.RunFunctionRequest]) -> Iterator[None]:
    """Send these requests again and again, several of them at any time."""
    send, is_over = method(channel), False

    def flood(number: int) -> None:
        while not is_over:
            send.future(requests[number % len(requests)]).exception()

    with ThreadPoolExecutor(len(requests)) as threads:
        try:
            for number in range(len(requests)):
                threads.submit(flood, number)
            yield
        finally:
            is_over = True


@pytest.mark.attack
def test_flood_of_quick_programs_does_not_keep_a_heavy_one_from_ending(server: Server) -> None:
    """They share the CPUs."""
    with server.channel() as channel, server.channel() as other:
        quick = [request(f"quick-{number}", "1") for number in range(16)]
        with flooded(other, quick):
            for _ in range(3):
                assert not call(channel, request("heavy", f"{HEAVY_TURNS}")).results


@pytest.mark.attack
def test_endless_programs_of_many_xrs_hold_up_nobody(server: Server) -> None:
    """Quick ones are answered at once, and a heavy one gets its turn."""
    with server.channel() as channel, server.channel() as other:
        endless = [request(f"endless-{number}", "1000000000") for number in range(6)]
        with flooded(other, endless):
            for number in range(10):
                assert not call(channel, request(f"quick-{number}", "1")).results
            assert not call(channel, request("heavy", f"{HEAVY_TURNS}")).results


@pytest.mark.attack
def test_thousand_heavy_xrs_are_refused_or_answered(server: Server) -> None:
    """None is FATAL, and quick ones overtake them."""
    with server.channel() as channel, server.channel() as other:
        send = method(other)
        flood = [
            send.future(request(f"heavy-{number}", f"{HEAVY_TURNS}"), timeout=10.0)
            for number in range(1_000)
        ]
        for number in range(10):
            assert not call(channel, request(f"quick-{number}", "1")).results
        errors = [each.exception() for each in flood]
        assert {error.code() for error in errors if error is not None} <= NOT_TO_BLAME
        answers = [each.result() for each in flood if each.exception() is None]
        assert answers
        assert not any(answer.results for answer in answers)

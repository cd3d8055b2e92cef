"""One XR cannot starve the others: who waits takes turns, and a full queue says so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import builders
import grpc
import pytest
from e2e.serving import Server, call, method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.proto.v1 import run_function_pb2 as pb

FLOOD = 200
BODY = "def main(req):\n"
HEAVY = BODY + "    for i in range(2000000):\n        pass\n    return {}\n"
ENDLESS = BODY + "    for i in range(1000000000):\n        pass\n"
SHORT = BODY + "    return {}\n"


@pytest.fixture
def channel() -> Iterator[grpc.Channel]:
    """A connection to a server with default flags, but for a time that fits the test."""
    with Server("--insecure", "--workers", "2") as server, server.channel() as channel:
        yield channel


def request(name: str, script: str) -> pb.RunFunctionRequest:
    """A request of the XR with that name."""
    xr = {**builders.XR, "metadata": {"name": name, "namespace": "here"}}
    return builders.request(builders.starlark(script), observed={"composite": {"resource": xr}})


def times(channel: grpc.Channel, calls: int) -> list[float]:
    """How long calls of another XR take, one after the other, sorted."""
    found = []
    for _ in range(calls):
        began = time.monotonic()
        assert not call(channel, request("other", SHORT)).results
        found.append(time.monotonic() - began)
    return sorted(found)


@pytest.mark.serial
@pytest.mark.parametrize("script", [HEAVY, ENDLESS], ids=["heavy", "endless"])
def test_a_flood_of_one_xr_does_not_starve_another(channel: grpc.Channel, script: str) -> None:
    """With two hundred slow calls of one XR in line, another XR's take about one turn each."""
    times(channel, 5)
    send = method(channel)
    flood = [send.future(request("flood", script), timeout=60) for _ in range(FLOOD)]
    time.sleep(0.3)
    found = times(channel, 30)
    still_there = sum(not slow.done() for slow in flood)
    for slow in flood:
        slow.cancel()
    assert still_there > FLOOD / 4
    assert found[15] < 0.5
    assert found[-1] < 1.5


@pytest.mark.serial
def test_a_full_queue_is_told_in_words() -> None:
    """RESOURCE_EXHAUSTED for the XR that has its share of the queue, and no other."""
    with Server("--insecure", "--workers", "1") as server, server.channel() as channel:
        send = method(channel)
        flood = [send.future(request("flood", ENDLESS), timeout=60) for _ in range(400)]
        assert not call(channel, request("other", SHORT)).results
        refused = [slow.exception() for slow in flood if slow.done() and slow.exception()]
        for slow in flood:
            slow.cancel()
    assert refused
    assert {error.code() for error in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert "250 of them of this composite resource" in refused[0].details()

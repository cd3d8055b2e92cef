"""Bombs sent to a real server: a FATAL that names the limit, and no effect on others."""

import time
from collections.abc import Iterator

import grpc
import pytest
from e2e.serving import Server, call
from hostile.served_bombs import BOMBS, Bomb
from support import builders
from support.timing import SLACK_SECONDS

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits

GOOD = builders.request(
    builders.jinja("---\napiVersion: example.org/v1\nkind: XThing\nstatus: {a: 1}\n"),
    observed=builders.observed("good"),
)
# A run may take ten times its CPU time on a busy machine.
MOST_SECONDS = 10 * Limits().timeout_seconds + SLACK_SECONDS
GROWTH_BYTES = 24 << 20


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with default limits; its memory stays constant over all bombs."""
    with Server("--insecure", "--workers", "2") as server:
        with server.channel() as channel:
            call(channel, GOOD)
        before = server.resident_bytes()
        yield server
        assert server.resident_bytes() - before < GROWTH_BYTES


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    """A connection to it."""
    with server.channel() as channel:
        yield channel


@pytest.mark.attack
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.id)
def test_bomb_hurts_only_itself(channel: grpc.Channel, bomb: Bomb) -> None:
    """The FATAL comes in time with its reason, and the next request is answered at once."""
    began = time.monotonic()
    response = call(channel, bomb.request)
    assert time.monotonic() - began < MOST_SECONDS
    assert response.meta.tag == "a-tag"
    fatal = [result for result in response.results if result.severity == pb.SEVERITY_FATAL]
    if bomb.says:
        assert len(fatal) == 1
        assert any(text in fatal[0].message for text in bomb.says), fatal[0].message
        assert len(fatal[0].message) <= 1_024
    began = time.monotonic()
    assert not call(channel, GOOD).results
    assert time.monotonic() - began < SLACK_SECONDS

"""Hostile scripts in real workers, one after another."""

import time
from collections.abc import Iterator

import pytest
from hostile.cases import Hostile
from hostile.starlark_programs import PROGRAMS
from support import builders
from support.timing import SLACK_SECONDS

from function_script.engines.registry import ENGINE_MODULES
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.sandbox import Answered, Failed, Pool, PoolOptions, Reply
from function_script.step import function

LIMITS = Limits(timeout_seconds=0.2, memory_bytes=128 * MIB)
OPTIONS = PoolOptions(limits=LIMITS, preload=ENGINE_MODULES)
BOMBS = [case for case in PROGRAMS if "killed" in case.must]
DESIRED = {"resources": {"earlier": {"resource": {"kind": "A", "spec": {"n": 1.5}}}}}
GOOD = "def main(req):\n    return {'context': {'answer': req['context']['question']}}\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Start one pool for all tests."""
    with Pool(OPTIONS) as pool:
        pool.prefork()
        yield pool


def respond(request: pb.RunFunctionRequest, reply: Reply) -> pb.RunFunctionResponse:
    """Return the response that the server would send."""
    if isinstance(reply, Answered):
        return pb.RunFunctionResponse.FromString(reply.response)
    data = function.pass_through_unread(request.SerializeToString(), reply.error)
    return pb.RunFunctionResponse.FromString(data)


def good(question: str) -> pb.RunFunctionRequest:
    """Return a request that is answered with its question."""
    return builders.request(builders.starlark(GOOD), context={"question": question})


@pytest.mark.parametrize("case", BOMBS, ids=lambda case: case.id)
def test_bomb_ends_in_one_fatal(pool: Pool, case: Hostile) -> None:
    """It says why, in time, whatever a script does to its process; the next request is answered."""
    request = builders.request(builders.starlark(case.script), desired=DESIRED)
    began = time.monotonic()
    response = respond(request, pool.run(request.SerializeToString()))
    assert time.monotonic() - began < LIMITS.timeout_seconds + SLACK_SECONDS
    if response.results or "ok" not in case.must:
        assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]
    assert response.desired == request.desired
    following = good("next")
    answer = respond(following, pool.run(following.SerializeToString()))
    assert answer.context["answer"] == "next"


def test_narrowed_limits_are_named(pool: Pool) -> None:
    """The error says that the limits are the input's."""
    spin = "def main(req):\n    x = 3\n    for i in range(40):\n        x = x * x\n"
    request = builders.request(builders.starlark(spin, limits={"timeout": "100ms"}))
    reply = pool.run(request.SerializeToString())
    assert isinstance(reply, Failed)
    assert "its limit of 0.1 s (set by limits.timeout)" in str(reply.error)
    grow = "def main(req):\n    return {'n': len('x' * 60000000)}\n"
    request = builders.request(builders.starlark(grow, limits={"memory": "16Mi"}))
    reply = pool.run(request.SerializeToString())
    assert isinstance(reply, Failed)
    assert "its limit of 16 MiB (set by limits.memory)" in str(reply.error)


def test_colliding_keys_in_a_request_are_bounded(pool: Pool) -> None:
    """Keys that collide in Starlark's hash cost at most the time limit."""
    keys = {f"{number:016x}": 1 for number in range(20_000)}
    request = builders.request(builders.starlark(GOOD), context={"question": "x", "keys": keys})
    began = time.monotonic()
    pool.run(request.SerializeToString())
    assert time.monotonic() - began < LIMITS.timeout_seconds + SLACK_SECONDS

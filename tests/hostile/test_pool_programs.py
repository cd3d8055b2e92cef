"""Hostile scripts: the engine ends some, and of the others the worker alone."""

import json
import time
from collections.abc import Iterator

import pytest
from hostile.cases import Hostile
from hostile.starlark_programs import PROGRAMS
from support import builders
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, taking_less

from function_script.engines.registry import ENGINE_MODULES
from function_script.engines.starlark import engine as starlark
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.lazy import Lazy
from function_script.request.limits import MIB, Limits
from function_script.request.program import Program, Scope
from function_script.sandbox.outcome import Reply
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step import function
from function_script.step.telemetry import Answered
from function_script.texts.errors import DocumentError, FatalError, LimitError, ProgramError
from function_script.texts.source import Source

LIMITS = Limits(timeout_seconds=0.2, memory_bytes=128 * MIB)
OPTIONS = PoolOptions(limits=LIMITS, preload=ENGINE_MODULES)
KINDS = {ProgramError: "program", DocumentError: "document", LimitError: "limit"}
SAFE = [case for case in PROGRAMS if "killed" not in case.must]
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


def _evaluate(case: Hostile) -> None:
    program = Program(main=Source(name="script", text=case.script))
    parts = json.loads(case.request)
    request = Lazy({key: lambda part=part: part for key, part in parts.items()})
    # The time must not end other cases, on the slowest machine.
    limits = LIMITS if "limit" in case.must else Limits(timeout_seconds=PATIENCE_SECONDS)
    starlark.evaluate(program, Scope(request=request), limits)


def _outcome(case: Hostile) -> tuple[str, FatalError | None]:
    try:
        _evaluate(case)
    except FatalError as error:
        return KINDS[type(error)], error
    return "ok", None


@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.id)
def test_engine_ends_the_script_itself(case: Hostile) -> None:
    """The error is short, comes in time, and has the reason and the position."""
    with taking_less(Limits().timeout_seconds):
        outcome, error = _outcome(case)
    assert outcome in case.must
    if error is not None:
        assert case.says in str(error)
        assert len(error.diagnostics[0].message) <= 8 * 1024
        span = error.diagnostics[0].span
        if case.at is not None:
            assert span is not None
            assert (span.name, span.line, span.column) == ("script", *case.at)


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


def test_colliding_keys_in_a_request_are_bounded(pool: Pool) -> None:
    """Keys that collide in Starlark's hash cost at most the time limit."""
    keys = {f"{number:016x}": 1 for number in range(20_000)}
    request = builders.request(builders.starlark(GOOD), context={"question": "x", "keys": keys})
    began = time.monotonic()
    pool.run(request.SerializeToString())
    assert time.monotonic() - began < LIMITS.timeout_seconds + SLACK_SECONDS

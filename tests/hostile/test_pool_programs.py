"""Hostile programs in real workers, one after another and at the same time."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

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
BOMBS = [case for case in PROGRAMS if "killed" in case.must and "ok" not in case.must]
DESIRED = {"resources": {"earlier": {"resource": {"kind": "A", "spec": {"n": 1.5}}}}}
GOOD = "def main(req):\n    return {'context': {'answer': req['context']['question']}}\n"
JINJA_BOMBS = {
    "loop": "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
    "text": "{{ 'x' * 1000000000 }}",
    "list": "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}"
    "{% endfor %}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "power": "{{ 9 ** 99999999 }}",
}


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


def check_fatal(pool: Pool, request: pb.RunFunctionRequest) -> None:
    """Check that there is one FATAL in time, and that the next request is answered."""
    began = time.monotonic()
    response = respond(request, pool.run(request.SerializeToString()))
    assert time.monotonic() - began < LIMITS.timeout_seconds + SLACK_SECONDS
    assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]
    assert response.desired == request.desired
    following = good("next")
    answer = respond(following, pool.run(following.SerializeToString()))
    assert answer.context["answer"] == "next"


@pytest.mark.parametrize("case", BOMBS, ids=lambda case: case.id)
def test_starlark_bombs_end_in_one_fatal(pool: Pool, case: Hostile) -> None:
    """The FATAL says why, whatever a script does to its process."""
    check_fatal(pool, builders.request(builders.starlark(case.script), desired=DESIRED))


@pytest.mark.parametrize("name", JINJA_BOMBS)
def test_jinja_bombs_end_in_one_fatal(pool: Pool, name: str) -> None:
    """The FATAL says why, whatever a template does to its process."""
    check_fatal(pool, builders.request(builders.jinja(JINJA_BOMBS[name]), desired=DESIRED))


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


@pytest.mark.attack
def test_good_requests_are_answered_among_hostile_ones() -> None:
    """Of forty requests at once, the twenty good ones get their own answers."""
    bombs = [case for case in BOMBS if len(case.script) < 1_000]
    hostile = [builders.request(builders.starlark(bombs[n % len(bombs)].script)) for n in range(20)]
    harmless = [good(f"question {number}") for number in range(20)]
    requests = [request for pair in zip(hostile, harmless, strict=True) for request in pair]
    # With forty at once, a good one may wait for a CPU for a while.
    options = replace(OPTIONS, limits=replace(LIMITS, timeout_seconds=2.0))
    with Pool(options) as pool, ThreadPoolExecutor(len(requests)) as threads:
        replies = list(threads.map(lambda r: pool.run(r.SerializeToString()), requests))
    answers = [respond(*pair) for pair in zip(requests, replies, strict=True)]
    assert [answer.context["answer"] for answer in answers[1::2]] == [
        f"question {number}" for number in range(20)
    ]
    assert all(answer.results[0].severity == pb.SEVERITY_FATAL for answer in answers[::2])


@pytest.mark.linux
@pytest.mark.attack
def test_many_scripts_do_not_grow_a_worker() -> None:
    """After a thousand distinct scripts a worker has about the same size."""
    options = PoolOptions(limits=LIMITS, workers=1, preload=ENGINE_MODULES)
    padding = "# " + "x" * 5_000 + "\n"
    with Pool(options) as pool:
        sizes = []
        for number in range(1_000):
            script = f"{padding}x{number} = {number}\n{GOOD}"
            request = builders.request(builders.starlark(script), context={"question": "q"})
            assert isinstance(pool.run(request.SerializeToString()), Answered)
            sizes.append(sum(map(resident_bytes, children_of_this_process())))
        assert sizes[-1] - sizes[100] < 48 * MIB


def children_of_this_process() -> list[int]:
    """Return the process ids of all zygotes and workers of this process."""
    pids: list[int] = []
    new = _children(Path("/proc/self"))
    while new:
        pids += new
        new = [child for pid in new for child in _children(Path(f"/proc/{pid}"))]
    return pids


def _children(process: Path) -> list[int]:
    tasks = (process / "task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


def resident_bytes(pid: int) -> int:
    """Return the unshared resident memory of a process."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(pages[1]) - int(pages[2])) * 4096

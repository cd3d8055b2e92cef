"""Bombs sent to a real server: a FATAL that names the limit, and no effect on others.

One of each kind, in one language or the other; the tables of hostile programs have the rest.
"""

from collections.abc import Iterator

import grpc
import pytest
from e2e.serving import Server, call, method
from support import builders
from support.timing import wait_until

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.sandbox import capacity
from function_script.sandbox.pool import PoolOptions

GOOD = builders.request(
    builders.jinja("---\napiVersion: example.org/v1\nkind: XThing\nstatus: {a: 1}\n"),
    observed=builders.observed("good"),
)
GROWTH_BYTES = 24 << 20
HEAD = "apiVersion: v1\nkind: A\n"
ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)
)
ECHO = builders.starlark("def main(req):\n    return {'context': {'copy': req['context']}}\n")
# Texts that fall into few places of a table when hashing is not seeded.
COLLIDING: Object = {f"{number * (1 << 32):x}": 1 for number in range(20_000)}


def script(*lines: str) -> Object:
    """A script whose ``main`` has these lines."""
    return builders.starlark("def main(req):\n" + "".join(f"    {line}\n" for line in lines))


# The input, the context, and a part of the FATAL; it may also succeed where that is empty.
BOMBS: dict[str, tuple[Object, Object, str]] = {
    "yaml-aliases": (builders.jinja(HEAD + ALIASES), {}, "limit"),
    "large-text": (script("return {'n': len('x' * 100000000 + 'y' * 400000000)}"), {}, "limit"),
    "large-result": (script("return {'context': {'s': 'x' * 100000000}}"), {}, "limit"),
    "nested-script": (builders.starlark("x = " + "[" * 50_000 + "]" * 50_000), {}, "crashed"),
    "quadratic": (
        script("s = 'ab' * 500000", "for i in range(99999):", "    s.count('c')"),
        {},
        "limit",
    ),
    "hash-flooding": (ECHO, {"keys": COLLIDING}, ""),
    "prints": (script("print('x' * 100000000)"), {}, "limit"),
    # Nothing of Python's or of the system's can be reached.
    "globals": (builders.jinja('{{ lipsum.__globals__["os"].popen("id") }}'), {}, "cannot"),
}


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
def test_bombs_at_once_hurt_only_themselves(server: Server, channel: grpc.Channel) -> None:
    """Each has a FATAL with its reason, good requests among them are answered.

    Later only useful workers stay, no zombies.
    """
    send = method(channel)
    started = [
        (send.future(builders.request(step, context=context)), says)
        for step, context, says in [*BOMBS.values()] * 2
    ]
    for _ in range(20):
        assert not call(channel, GOOD).results
    for each, says in started:
        # Of one XR's many calls the server refuses some.
        refusal = each.exception()
        assert refusal is None or refusal.code() is grpc.StatusCode.RESOURCE_EXHAUSTED, refusal
        results = [] if refusal is not None else each.result().results
        assert all(result.severity == pb.SEVERITY_FATAL for result in results)
        assert all(says in result.message for result in results)
        assert len(results) == 1 or refusal is not None or not says
    useful = capacity.cpu_count() + capacity.heavy_slots() + PoolOptions().min_idle
    # The server and its zygote, besides.
    wait_until(lambda: len(server.family()) <= 2 + useful)

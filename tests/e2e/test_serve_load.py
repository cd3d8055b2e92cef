"""Good requests beside hostile ones, at once and over mutual TLS."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority
from e2e.serving import SERVER_NAME, Server, call, method
from support import builders
from support.timing import SLACK_SECONDS, wait_until

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.sandbox import PoolOptions, capacity

TIMEOUT_SECONDS = 0.5
BODY = "def main(req):\n"
GOOD = (
    BODY + "    xr = req['observed']['composite']['resource']\n"
    "    name = xr['spec']['name']\n"
    "    thing = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'data': {'name': name}}\n"
    "    return {'desired': {'resources': {name: {'resource': thing}}}}\n"
)
HOSTILE = {
    "loop": BODY + "    for i in range(1000000000):\n        pass\n",
    "native": BODY + "    x = 3\n    for i in range(40):\n        x = x * x\n",
    "list": BODY + "    x = [0] * 1000000000\n",
    "string": BODY + "    s = 'ab'\n    for i in range(60):\n        s = s + s\n",
    "syntax": BODY + "    return {a=1}\n",
}
CALLS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a call for its client."""

    kind: str
    name: str
    seconds: float
    response: pb.RunFunctionResponse


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Server, grpc.Channel]]:
    """A server with mutual TLS, and a connection to it."""
    authority = Authority()
    directory = authority.server(SERVER_NAME).write(tmp_path)
    with (
        Server("--tls-certs-dir", str(directory), "--timeout", f"{TIMEOUT_SECONDS}s") as server,
        server.channel(authority.client()) as channel,
    ):
        yield server, channel


def request(kind: str, name: str) -> pb.RunFunctionRequest:
    """Return a good or hostile request of an XR of that kind for a resource of that name."""
    script = GOOD if kind == "good" else HOSTILE[kind]
    xr = {**builders.XR, "metadata": {"name": kind}, "spec": {"name": name}}
    return builders.request(builders.starlark(script), observed={"composite": {"resource": xr}})


def answers(server: Server) -> list[dict[str, float]]:
    """Return the server's log lines of all calls."""
    return [*server.lines("answered"), *server.lines("not answered")]


def repeat_if_refused(
    send: grpc.UnaryUnaryMultiCallable, message: pb.RunFunctionRequest, started: grpc.Future
) -> pb.RunFunctionResponse:
    """Return the response, as Crossplane gets it: a busy machine's server refuses some calls."""
    end = time.monotonic() + 60
    while started.exception() is not None:
        assert started.code() is grpc.StatusCode.RESOURCE_EXHAUSTED, started
        assert time.monotonic() < end, started
        started = send.future(message)
    return started.result()


def flood(channel: grpc.Channel, kinds: list[str]) -> list[Outcome]:
    """Start a call of each kind at once, and wait for all."""
    send = method(channel)
    requests = [request(kind, f"thing-{number}") for number, kind in enumerate(kinds)]
    ends: dict[int, float] = {}
    began = time.monotonic()
    calls = []
    for number, message in enumerate(requests):
        started = send.future(message)
        started.add_done_callback(lambda _, number=number: ends.update({number: time.monotonic()}))
        calls.append(started)
    responses = [
        repeat_if_refused(send, message, started)
        for message, started in zip(requests, calls, strict=True)
    ]
    return [
        Outcome(
            kind=kind,
            name=f"thing-{number}",
            seconds=ends[number] - began,
            response=responses[number],
        )
        for number, kind in enumerate(kinds)
    ]


@pytest.mark.attack
def test_hostile_programs_hurt_only_themselves(server: tuple[Server, grpc.Channel]) -> None:
    """Of 200 calls at once, the good ones have their answers, the others fail at their limits."""
    running, channel = server
    names = [*HOSTILE, *["good"] * len(HOSTILE)]
    kinds = [names[number % len(names)] for number in range(CALLS)]
    call(channel, request("good", "first"))
    before = running.resident_bytes()
    for outcome in flood(channel, kinds):
        if outcome.kind == "good":
            assert list(outcome.response.desired.resources) == [outcome.name], outcome
            assert not outcome.response.results
        else:
            (fatal,) = outcome.response.results
            assert fatal.severity == pb.SEVERITY_FATAL
            assert "limit of" in fatal.message or outcome.kind == "syntax"
    wait_until(lambda: len(answers(running)) >= CALLS + 1)
    times = [line["milliseconds"] - line["waited_milliseconds"] for line in answers(running)]
    assert max(times) < (TIMEOUT_SECONDS + SLACK_SECONDS) * 1000
    assert running.resident_bytes() - before < 20 << 20


@pytest.mark.attack
def test_workers_do_not_pile_up(server: tuple[Server, grpc.Channel]) -> None:
    """After a burst only useful workers stay, and no zombies."""
    running, channel = server
    flood(channel, ["loop", "list", "good", "syntax"] * 10)
    call(channel, request("good", "last"))
    useful = capacity.cpu_count() + capacity.heavy_slots() + PoolOptions().min_idle
    # The server and its zygote, besides.
    wait_until(lambda: len(running.family()) <= 2 + useful)

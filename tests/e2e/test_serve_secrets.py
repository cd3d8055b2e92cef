"""The log of a server whose programs fail over secrets."""

import base64
import threading
import time
from collections.abc import Iterator
from functools import partial

import grpc
import pytest
from e2e.serving import NOTHING, Server, call
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support import builders
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS

PROGRAMS = [
    builders.jinja('a: b: {{ get_credential_data("db").password }}\n', credentials=["db"]),
    builders.jinja('{{ get_credential_data("db").password | int }}\n', credentials=["db"]),
    builders.starlark(
        'def main(req):\n    fail(get_credentials(req, "db")["password"])\n', credentials=["db"]
    ),
]


LINES = 100_000
MANY = "\n".join(f"{number:06x}" for number in range(LINES))
HELD = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
OBSERVED = {
    "composite": {"resource": builders.XR},
    "resources": {
        "s": {"resource": {**HELD, "data": {"v": base64.b64encode(MANY.encode()).decode()}}}
    },
}
PRINTING = "def main(req):\n    print('it is 00ffff')\n    return {}\n"
ENDINGS = [
    pytest.param("x = " + "[" * 100_000 + "]" * 100_000, "its worker crashed", id="a crash"),
    pytest.param(
        'def main(req):\n    json.decode("1e999")\n', "crashed: Unrepresentable", id="a panic"
    ),
    pytest.param("def main(req):\n    fail('00ffff')\n", "[secret]", id="an error"),
    pytest.param(PRINTING, "", id="a text"),
]
GOOD = builders.request(builders.starlark(NOTHING), observed=builders.observed("good"))
# On a machine with nothing else to do both are less than 0.3 s; a search that holds all callers up
# took 48 s.
MOST_SECONDS = SLACK_SECONDS


@pytest.fixture(scope="module")
def debugging() -> Iterator[Server]:
    """A server that logs printed texts."""
    with Server("--insecure", "--debug") as server:
        yield server


@pytest.mark.serial
@pytest.mark.parametrize(("script", "text"), ENDINGS)
def test_large_secret_holds_nobody_up(debugging: Server, script: str, text: str) -> None:
    """The search has 100,000 lines; calls and probes beside it are quick."""
    with debugging.channel() as channel, debugging.channel() as other:
        for _ in range(20):
            call(other, GOOD)
        ended = threading.Event()
        waits: list[float] = []
        beside = threading.Thread(target=ask_until, args=(ended, other, waits))
        beside.start()
        began = time.monotonic()
        response = call(channel, builders.request(builders.starlark(script), observed=OBSERVED))
        seconds = time.monotonic() - began
        # A printed text is searched after the answer.
        time.sleep(0.5)
        ended.set()
        beside.join()
    messages = [result.message for result in response.results]
    assert len(messages) == bool(text)
    assert text in "".join(messages)
    assert seconds < MOST_SECONDS
    assert len(waits) > 10
    assert max(waits) < MOST_SECONDS


def ask_until(ended: threading.Event, channel: grpc.Channel, waits: list[float]) -> None:
    """Make good calls and health checks in turn, and record the time of each."""
    stub = health_pb2_grpc.HealthStub(channel)
    while not ended.is_set():
        for ask in (
            partial(call, channel, GOOD),
            partial(stub.Check, health_pb2.HealthCheckRequest(), timeout=PATIENCE_SECONDS),
        ):
            began = time.monotonic()
            ask()
            waits.append(time.monotonic() - began)


def test_log_lines_have_no_secret() -> None:
    """A printed text is searched after the response, and before the server ends."""
    secret = {"credentialData": {"data": {"password": "aHVudGVyMg=="}}}
    with Server("--insecure", "--debug") as server, server.channel() as channel:
        requests = [builders.request(each, credentials={"db": secret}) for each in PROGRAMS]
        responses = [call(channel, request) for request in requests]
        printing = builders.request(builders.starlark(PRINTING), observed=OBSERVED)
        assert not call(channel, printing).results
        server.stop()
    assert [len(response.results) for response in responses] == [1, 1, 1]
    text = "".join(server.text)
    failed, _, printed = text.partition("the program printed")
    assert "[secret]" in failed
    assert "hunter2" not in "".join([text, *map(str, responses)])
    assert printed.splitlines()[1].strip() == "it is [secret]"

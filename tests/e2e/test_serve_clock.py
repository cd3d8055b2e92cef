"""A server whose clock jumps by hours while it serves: only timestamps show it."""

import sys
import time
from collections.abc import Iterator
from datetime import datetime

import grpc
import pytest
from e2e.serving import ENDLESS, NOTHING, Server, call
from support import builders
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

GOOD = builders.request(builders.starlark(NOTHING), observed=builders.observed("good"))
LOOP = builders.request(builders.starlark(ENDLESS, limits={"timeout": "500ms"}))
LONG = builders.request(builders.starlark(ENDLESS))
HOUR = 3_600
# In the place of Python: the same, but its time of day goes from hour to hour all the time.
JUMPING = """\
#!{python}
import itertools, runpy, sys, time

hours = itertools.cycle([0, 5, -7, 24, -1])
tell, tell_ns = time.time, time.time_ns
time.time = lambda: tell() + next(hours) * 3600
time.time_ns = lambda: tell_ns() + next(hours) * 3600 * 10**9
sys.argv = sys.argv[sys.argv.index("-m") + 1 :]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a jumping clock, and with little time for programs."""
    python = tmp_path_factory.mktemp("jumping") / "python"
    python.write_text(JUMPING.format(python=sys.executable))
    python.chmod(0o755)
    with Server("--insecure", "--timeout", "1s", python=str(python)) as server:
        yield server


@pytest.mark.parametrize(
    ("request_", "seconds", "says"),
    [
        pytest.param(LOOP, 0.5, "set by limits.timeout", id="the input's limit"),
        pytest.param(LONG, 1.0, "set by --time-limit", id="the operator's limit"),
    ],
)
def test_limits_are_kept(
    channel: grpc.Channel, request_: object, seconds: float, says: str
) -> None:
    began = time.monotonic()
    response = call(channel, request_, timeout=PATIENCE_SECONDS)  # type: ignore[arg-type] # a request
    assert says in response.results[0].message
    # An engine that counts stops a little before its worker would be ended.
    assert seconds / 2 < time.monotonic() - began < seconds + SLACK_SECONDS


def test_deadlines_are_kept(channel: grpc.Channel) -> None:
    """The error comes before the caller's deadline, unless the machine is too busy."""

    def is_told() -> bool:
        try:
            call(channel, LONG, timeout=0.7)
        except grpc.RpcError as error:
            return "the call's deadline" in (error.details() or "")
        return False

    wait_until(is_told)


def test_good_requests_are_answered_and_only_stamps_jump(
    server: Server, channel: grpc.Channel
) -> None:
    """Durations are right, whatever the order of the timestamps."""
    call(channel, GOOD)
    wait_until(lambda: server.lines("answered"))
    before = len(server.lines("answered"))
    for _ in range(20):
        assert not call(channel, GOOD).results
    wait_until(lambda: len(server.lines("answered")) >= before + 20)
    lines = server.lines("answered")[-20:]
    stamps = [datetime.fromisoformat(str(line["ts"])).timestamp() for line in lines]
    assert max(stamps) - min(stamps) > 20 * HOUR
    for line in lines:
        assert 0 < float(str(line["milliseconds"])) < SLACK_SECONDS * 1_000
        assert float(str(line["waited_milliseconds"])) >= 0

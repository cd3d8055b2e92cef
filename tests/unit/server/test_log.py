"""The lines of the server's log, as JSON and as text, and what they must not contain."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from support import builders, server_logs
from support.timing import PATIENCE_SECONDS

from function_script.request.limits import MIB, Limits
from function_script.sandbox import Pool, PoolOptions
from function_script.sandbox.dispatcher import Dispatcher
from function_script.server import log
from function_script.server.handler import RequestHandler
from function_script.server.log import PrintedTextLogger
from function_script.server.rpc import Outcome, RpcRequest

LIMITS = Limits(timeout_seconds=0.3, memory_bytes=128 * MIB)


class Caller:
    """Sends requests to a handler whose workers run the commands of sandbox_handlers."""

    def __init__(self, dispatcher: Dispatcher, loop: asyncio.AbstractEventLoop) -> None:
        self._dispatcher = dispatcher
        self._loop = loop

    def call(self, data: bytes, printed_text_logger: PrintedTextLogger | None = None) -> bytes:
        """Return the response to a request."""
        handler = RequestHandler(self._dispatcher, printed_text_logger=printed_text_logger)
        future: asyncio.Future[Outcome] = self._loop.create_future()
        handler.start(RpcRequest(data=data, seconds=5.0), future.set_result)
        outcome = self._loop.run_until_complete(future)
        assert isinstance(outcome, bytes)
        return outcome


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    """A caller with a pool of one worker."""
    options = PoolOptions(module="support.sandbox_handlers", limits=LIMITS, workers=1)
    with Pool(options) as pool, closing(asyncio.new_event_loop()) as loop:
        pool.prefork()
        with closing(Dispatcher(pool, loop)) as dispatcher:
            yield Caller(dispatcher, loop)


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Return the lines of the log so far."""
    return [json.loads(line) for line in server_logs.written(capfd).splitlines()]


def test_line_is_one_json_object(capfd: pytest.CaptureFixture[str]) -> None:
    """It has time, level, message and fields; control characters are escaped."""
    log.start(debug=False)
    logger = logging.getLogger("function_script.test")
    logger.info("hello", extra=log.fields(text="a\n\x1b[2Jb", number=1.5))
    logger.debug("unseen")
    (line,) = lines(capfd)
    assert line.pop("ts").endswith("Z")
    assert line == {"level": "info", "msg": "hello", "text": "a\n\x1b[2Jb", "number": 1.5}


def test_fields_do_not_hide_the_message(capfd: pytest.CaptureFixture[str]) -> None:
    """A fixed key wins over a field of the same name."""
    log.start(debug=False)
    logging.getLogger("function_script.test").info("real", extra=log.fields(msg="x", level="y"))
    (line,) = lines(capfd)
    assert (line["msg"], line["level"]) == ("real", "info")


def test_debug_is_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    """Short fields are in the line, those of several lines below it."""
    log.start(debug=True)
    logging.getLogger("function_script.test").debug("look", extra=log.fields(a=1, b="x\ny\n"))
    assert server_logs.text(capfd).split(" ", 1)[1] == "DEBUG   look a=1\n    x\n    y\n"


def test_exception_is_on_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    try:
        {}["x"]
    except KeyError:
        logging.getLogger("function_script.test").exception("broken")
    (line,) = lines(capfd)
    assert "KeyError" in line["exception"]


def test_answer_is_recorded(caller: Caller, capfd: pytest.CaptureFixture[str]) -> None:
    """The line has the handler's facts, sizes and times."""
    log.start(debug=False)
    assert caller.call(b"echo hello") == b"hello"
    (line,) = lines(capfd)
    assert (line["msg"], line["outcome"]) == ("answered", "ok")
    assert (line["request_bytes"], line["response_bytes"]) == (10, 5)
    assert 0 < line["milliseconds"] < PATIENCE_SECONDS * 1_000
    assert line["waited_milliseconds"] == 0


def test_fatal_answer_says_why(caller: Caller, capfd: pytest.CaptureFixture[str]) -> None:
    """The diagnostics are one field."""
    log.start(debug=False)
    caller.call(b"problem x")
    (line,) = lines(capfd)
    assert line["outcome"] == "fatal"
    assert line["error"] == "main.star:2:3: cannot run: for the test (none)"


def test_lost_worker_is_recorded_and_answered(
    caller: Caller, capfd: pytest.CaptureFixture[str]
) -> None:
    """A user's limit has level info, a bug error; both get a response."""
    log.start(debug=False)
    for command in (b"spin", b"raise hunter2"):
        response = builders.pb.RunFunctionResponse.FromString(caller.call(command))
        assert response.results[0].severity == builders.pb.SEVERITY_FATAL
    timeout, bug = lines(capfd)
    assert (timeout["level"], timeout["outcome"]) == ("warning", "timeout")
    assert (bug["level"], bug["outcome"]) == ("error", "bug")
    assert "KeyError" in bug["detail"]
    assert "hunter2" not in str(bug)


def test_prints_are_for_debugging_only(caller: Caller, capfd: pytest.CaptureFixture[str]) -> None:
    """Printed texts may contain secrets, so they are logged on demand."""
    log.start(debug=False)
    caller.call(b"say secret")
    assert "secret" not in server_logs.text(capfd)
    log.start(debug=True)
    with closing(PrintedTextLogger()) as printed_text_logger:
        caller.call(b"say secret", printed_text_logger)
    assert "secret" in server_logs.text(capfd)


GONE = "\N{REPLACEMENT CHARACTER}"
HOSTILE = "a\nb\x1b[31m\x7f\u2028\ud800c"


def test_hostile_text_stays_on_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    """The line is ASCII, and its field has the whole text."""
    log.start(debug=False)
    logging.getLogger("function_script.test").info("x", extra=log.fields(name=HOSTILE))
    text = server_logs.text(capfd)
    assert text.isascii()
    assert text.count("\n") == 1
    assert json.loads(text)["name"] == HOSTILE


def test_hostile_text_does_not_reach_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """With --debug control characters and line breaks are replaced."""
    log.start(debug=True)
    logging.getLogger("function_script.test").info("x", extra=log.fields(name=HOSTILE))
    first, *rest = server_logs.text(capfd).splitlines()
    assert first.endswith("INFO    x")
    assert rest == ["    a", f"    b{GONE}[31m{GONE}{GONE}?c"]


def test_value_is_cut(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    logging.getLogger("function_script.test").info("x", extra=log.fields(name="ä" * 100_000))
    (line,) = lines(capfd)
    assert 2_040 < len(str(line["name"]).encode()) <= 2_048
    assert str(line["name"]).endswith("…")


def test_event_loop_speaks_json_too(capfd: pytest.CaptureFixture[str]) -> None:
    """Messages of asyncio are lines like any other."""
    log.start(debug=False)
    logging.getLogger("asyncio").info("using selector")
    logging.getLogger("asyncio").error("accept failed")
    (line,) = lines(capfd)
    assert (line["level"], line["msg"]) == ("error", "accept failed")


def test_lines_of_requests_are_written_together(
    caller: Caller, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are written after a time, at a number, before any other line, and at the end."""
    log.start(debug=False)
    due: list[Callable[[], None]] = []
    log.batch_lines(due.append)
    caller.call(b"echo 1")
    caller.call(b"echo 2")
    assert (lines(capfd), len(due)) == ([], 1)
    due.pop()()
    assert len(lines(capfd)) == 2
    for _ in range(64):
        caller.call(b"echo 3")
    assert len(lines(capfd)) == 64
    caller.call(b"echo 4")
    logging.getLogger("function_script.test").info("other")
    assert [line["msg"] for line in lines(capfd)] == ["answered", "other"]
    caller.call(b"echo 5")
    log.batch_lines(None)
    assert len(lines(capfd)) == 1
    caller.call(b"echo 6")
    assert len(lines(capfd)) == 1

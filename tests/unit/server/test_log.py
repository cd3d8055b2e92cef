"""The lines of the server's log: their text, their time, and that none is lost or out of order."""

import json
import logging
import os
import re
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from support import server_logs
from support.request_records import INFO, RECORD
from support.timing import PATIENCE_SECONDS

from function_script.server import log, request_record
from function_script.step.telemetry import IDENTITY, RequestInfo

LOG = logging.getLogger("function_script.test")


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Return the lines of the log so far."""
    return [json.loads(line) for line in server_logs.text(capfd).splitlines()]


def test_line_is_one_json_object(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    LOG.info("hello", extra=log.fields(text="a\n\x1b[2Jb", number=1.5))
    LOG.debug("unseen")
    (line,) = lines(capfd)
    assert line.pop("ts").endswith("Z")
    assert line == {"level": "info", "msg": "hello", "text": "a\n\x1b[2Jb", "number": 1.5}


def test_fields_do_not_hide_the_message(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    LOG.info("real", extra=log.fields(msg="x", level="y"))
    (line,) = lines(capfd)
    assert (line["msg"], line["level"]) == ("real", "info")


def test_debug_is_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=True)
    LOG.debug("look", extra=log.fields(a=1, b="x\ny\n"))
    assert server_logs.text(capfd).split(" ", 1)[1] == "DEBUG   look a=1\n    x\n    y\n"


def test_exception_is_on_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    try:
        {}["x"]
    except KeyError:
        LOG.exception("broken")
    (line,) = lines(capfd)
    assert "KeyError" in line["exception"]


GONE = "\N{REPLACEMENT CHARACTER}"
HOSTILE = "a\nb\x1b[31m\x7f\u2028\ud800c"


def test_hostile_text_stays_on_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    LOG.info("x", extra=log.fields(name=HOSTILE))
    text = server_logs.text(capfd)
    assert text.isascii()
    assert text.count("\n") == 1
    assert json.loads(text)["name"] == HOSTILE


def test_hostile_text_does_not_reach_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=True)
    LOG.info("x", extra=log.fields(name=HOSTILE))
    first, *rest = server_logs.text(capfd).splitlines()
    assert first.endswith("INFO    x")
    assert rest == ["    a", f"    b{GONE}[31m{GONE}{GONE}?c"]


@pytest.mark.parametrize("library", ["asyncio", "opentelemetry.exporter"])
def test_library_speaks_json_too(library: str, capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    logging.getLogger(library).info("using selector")
    logging.getLogger(library).error("accept failed")
    (line,) = lines(capfd)
    assert (line["level"], line["msg"]) == ("error", "accept failed")


def test_lines_that_come_in_a_moment_are_written_together() -> None:
    """A thread is woken once for all of them."""
    receiver, sender = os.pipe()
    handler = log.LineHandler(sender)
    try:
        for number in range(3):
            handler.emit(logging.makeLogRecord({"msg": number}))
        assert os.read(receiver, 100) == b"0\n1\n2\n"
    finally:
        handler.close()
        os.close(receiver)
        os.close(sender)


LINES = [
    pytest.param(
        RECORD._replace(info=INFO._replace(name="d\N{SNOWMAN}", input="")),
        r'"info","msg":"answered","outcome":"ok","api_version":"example.org/v1","kind":"XThing",'
        r'"name":"d\u2603","milliseconds":20.1,"waited_milliseconds":5.0,'
        r'"cpu_milliseconds":0.0,"program_milliseconds":10.0,"request_bytes":1000,"response_bytes":500,"documents":3}',
        id="answered",
    ),
    pytest.param(
        RECORD._replace(
            outcome="bug",
            info=RequestInfo(limit="steps"),
            error="cannot",
            detail='a"b',
        ),
        r'"error","msg":"not answered","outcome":"bug","milliseconds":20.1,'
        r'"waited_milliseconds":5.0,"cpu_milliseconds":0.0,"request_bytes":1000,'
        r'"response_bytes":500,"limit":"steps",'
        r'"error":"cannot","detail":"a\"b"}',
        id="lost",
    ),
]


@pytest.mark.parametrize(("record", "text"), LINES)
def test_line_is_written_to_the_letter(
    record: request_record.RequestRecord, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log.start(debug=False)
    log.write(record)
    line = server_logs.text(capfd)
    # Beyond ASCII it is json's and not orjson's, which puts a blank after each separator.
    line = json.dumps(json.loads(line), separators=(",", ":"))
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    assert re.fullmatch(rf'\{{"ts":"{stamp}","level":' + re.escape(text), line)


def test_threads_lose_no_line(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)

    def write(worker: int) -> None:
        for number in range(200):
            log.write(RECORD._replace(request_bytes=worker * 1_000 + number))
            if number % 50 == 0:
                LOG.info("other")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    lines = [json.loads(line) for line in server_logs.text(capfd).splitlines()]
    sizes = sorted(line["request_bytes"] for line in lines if line["msg"] == "answered")
    assert sizes == [worker * 1_000 + number for worker in range(4) for number in range(200)]
    assert len(lines) == len(sizes) + 16


@pytest.mark.parametrize("detail", ["", "é" * 200, "\N{SNOWMAN}" * 50_000], ids=len)
def test_stalled_reader_holds_a_bound_of_memory(detail: str) -> None:
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    with suppress(BlockingIOError):
        while True:
            os.write(sender, bytes(65_536))
    os.set_blocking(sender, True)
    handler = log.LineHandler(sender)
    tracemalloc.start()
    for number in range(20_000):
        info = INFO._replace(name=f"thing-{number}", uid=f"00000000-0000-0000-0000-{number:012}")
        # A server makes these anew for each request.
        times = (number + each / 10 for each in range(3))
        record = RECORD._replace(
            info=info._replace(program_microseconds=1_000 + number),
            request_bytes=1_000 + number,
            detail=f"{number}{detail}",
            **dict(zip(("seconds", "waited_seconds", "cpu_seconds"), times, strict=True)),
        )
        handler.write(record)
        if handler.dropped:
            break
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The thread cannot write any more, and ends with its pipe.
    os.close(receiver)
    handler.close()
    os.close(sender)
    assert handler.dropped
    assert held < 3.3 * (1 << 20)


AT_EXIT = """
from function_script.server import log, request_record
from function_script.step.telemetry import RequestInfo
log.start(debug=False)
record = request_record.RequestRecord("ok", RequestInfo(name="last"), 1, 1, 0.1, 0.1)
log.write(record)
"""


def test_lines_are_written_before_exit() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", AT_EXIT],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert json.loads(ended.stderr)["name"] == "last"


def test_long_lines_alone_are_cut(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(debug=False)
    log.write(RECORD._replace(detail="ä" * 5_000))
    many = dict.fromkeys(IDENTITY, "é" * 200)
    log.write(RECORD._replace(info=RequestInfo(**many)))
    long, wide = (json.loads(line) for line in server_logs.text(capfd).splitlines())
    assert 2_040 < len(long["detail"].encode()) <= 2_048
    assert long["detail"].endswith("…")
    assert long["name"] == RECORD.info.name
    assert {key: wide[key] for key in many} == many

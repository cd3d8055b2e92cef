"""The lines of requests: their text, their time, and that none is lost, late or out of order."""

import json
import logging
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from support import server_logs
from support.request_records import INFO, RECORD
from support.timing import PATIENCE_SECONDS

from function_script.server import log, request_record
from function_script.step.telemetry import IDENTITY, RequestInfo

OTHER = logging.getLogger("function_script.test")


def start_gathering() -> list[Callable[[], None]]:
    """Start a log as JSON; return the function that writes the pending lines."""
    log.start(debug=False)
    due: list[Callable[[], None]] = []
    log.batch_lines(due.append)
    return due


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
            is_alarming=True,
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
    """Empty fields are omitted; the order is fixed."""
    log.start(debug=False)
    log.write(record)
    line = server_logs.text(capfd)
    # Beyond ASCII it is json's and not orjson's, which puts a blank after each separator.
    line = json.dumps(json.loads(line), separators=(",", ":"))
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    assert re.fullmatch(rf'\{{"ts":"{stamp}","level":' + re.escape(text), line)


def test_line_has_the_moment_of_its_request(capfd: pytest.CaptureFixture[str]) -> None:
    """The text is formatted later."""
    due = start_gathering()
    began = time.time()
    log.write(RECORD)
    ended = time.time()
    time.sleep(0.03)
    due.pop()()
    timestamp = json.loads(server_logs.text(capfd))["ts"]
    rounding_seconds = 0.002
    moment = datetime.fromisoformat(timestamp).timestamp()
    assert began - rounding_seconds <= moment <= ended + rounding_seconds


def test_lines_stay_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    """This includes lines that are logged at once."""
    due = start_gathering()
    for number in range(1, 201):
        if number % 30:
            log.write(RECORD._replace(request_bytes=number))
        else:
            logging.getLogger("function_script.test").info(
                "x", extra=log.fields(request_bytes=number)
            )
    due.pop()()
    lines = [json.loads(line) for line in server_logs.text(capfd).splitlines()]
    assert [line["request_bytes"] for line in lines] == list(range(1, 201))


def at_once() -> list[Callable[[], None]]:
    """Start a log as JSON that writes each line at once."""
    log.start(debug=False)
    return []


@pytest.mark.parametrize("start", [at_once, start_gathering])
def test_threads_lose_no_line(
    start: Callable[[], list[Callable[[], None]]], capfd: pytest.CaptureFixture[str]
) -> None:
    """Each line is written once and whole, while other threads log and flush."""
    due = start()

    def write(worker: int) -> None:
        for number in range(200):
            log.write(RECORD._replace(request_bytes=worker * 1_000 + number))
            if number % 50 == 0:
                OTHER.info("other")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    while due:
        due.pop()()
    lines = [json.loads(line) for line in server_logs.text(capfd).splitlines()]
    sizes = sorted(line["request_bytes"] for line in lines if line["msg"] == "answered")
    assert sizes == [worker * 1_000 + number for worker in range(4) for number in range(200)]
    assert len(lines) == len(sizes) + 16


AT_EXIT = """
from function_script.server import log, request_record
from function_script.step.telemetry import RequestInfo
log.start(debug=False)
log.batch_lines(lambda write: None)
record = request_record.RequestRecord("ok", False, RequestInfo(name="last"), 1, 1, 0.1, 0.1)
log.write(record)
"""


def test_lines_are_written_before_exit() -> None:
    """Pending lines are written when Python exits."""
    ended = subprocess.run(
        [sys.executable, "-c", AT_EXIT],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert json.loads(ended.stderr)["name"] == "last"


def test_long_lines_alone_are_cut(capfd: pytest.CaptureFixture[str]) -> None:
    """A long detail ends in an ellipsis; many short fields together stay."""
    log.start(debug=False)
    log.write(RECORD._replace(detail="ä" * 5_000))
    many = dict.fromkeys(IDENTITY, "é" * 200)
    log.write(RECORD._replace(info=RequestInfo(**many)))
    long, wide = (json.loads(line) for line in server_logs.text(capfd).splitlines())
    assert 2_040 < len(long["detail"].encode()) <= 2_048
    assert long["detail"].endswith("…")
    assert long["name"] == RECORD.info.name
    assert {key: wide[key] for key in many} == many

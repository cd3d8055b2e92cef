"""Printed texts in the log of --debug: without secrets, and without delay of responses."""

import base64
import time

import pytest
from support import builders, server_logs
from support.timing import stretched, wait_until

from function_script.server import log
from function_script.server.log import PrintedTextLogger

IDENTITY = {"kind": "XThing", "name": "demo"}


def start() -> PrintedTextLogger:
    """Start a log as text, and return its logger of printed texts."""
    log.start(debug=True)
    return PrintedTextLogger()


def request(secret: str) -> bytes:
    """Return a request with this credential."""
    data = {"value": base64.b64encode(secret.encode()).decode()}
    message = builders.request(credentials={"api": {"credentialData": {"data": data}}})
    return message.SerializeToString()


def test_text_is_logged_without_secrets(capfd: pytest.CaptureFixture[str]) -> None:
    """The line has the XR, because other lines may come between."""
    printer = start()
    printer.submit("it is hunter2, twice: hunter2", IDENTITY, request("hunter2"))
    printer.close()
    first, *rest = server_logs.text(capfd).splitlines()
    assert first.endswith("the program printed kind=XThing name=demo")
    assert rest == ["    it is [secret], twice: [secret]"]


def test_more_than_can_wait_is_withheld_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    """Submitting takes no time, whatever the requests contain."""
    data = request("\n".join(f"secret-{number:06}" for number in range(30_000)))
    printer = start()
    began = time.thread_time()
    for _ in range(40):
        printer.submit("secret-000042", IDENTITY, data)
    offered_seconds = time.thread_time() - began
    # From now on no text waits for more than the search of those before it.
    printer.close()
    texts = server_logs.text(capfd)

    def are_all_logged() -> bool:
        nonlocal texts
        texts += server_logs.text(capfd)
        return texts.count("the program printed") == 40

    wait_until(are_all_logged)
    assert texts.count(log.WITHHELD) >= 20
    assert texts.count(log.WITHHELD) + texts.count("[secret]") == 40
    assert "secret-000042" not in texts
    assert offered_seconds < stretched(0.1)


def test_large_request_does_not_wait(capfd: pytest.CaptureFixture[str]) -> None:
    """Requests in the queue use the server's memory."""
    printer = start()
    printer.submit("hunter2", IDENTITY, request("x" * log.MAX_PRINTED_REQUEST_BYTES))
    assert log.WITHHELD in server_logs.text(capfd)
    printer.close()

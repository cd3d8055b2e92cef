"""A zygote that hangs for longer than its timeout, and answers afterwards."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from e2e.serving import Server, call, method
from hostile.client_attacks import GOOD, is_answered
from support.timing import PATIENCE_SECONDS, wait_until

# Longer than any order to the zygote is waited for.
HANGING_SECONDS = 33.0


@pytest.mark.attack
def test_zygote_that_hangs_is_replaced_and_its_late_answers_are_nobodys() -> None:
    """The server is not ready meanwhile; afterwards every request has its own response."""
    with Server("--insecure") as server, server.channel() as channel:
        assert is_answered(call(channel, GOOD))
        _, zygote, *workers = server.family()
        os.kill(zygote, signal.SIGSTOP)
        resume = threading.Timer(HANGING_SECONDS, _resume, (zygote,))
        resume.start()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        waiting = [method(channel).future(GOOD, timeout=2 * PATIENCE_SECONDS) for _ in range(3)]
        wait_until(lambda: server.fetch("/readyz")[0] == 503)
        for each in waiting:
            with suppress(grpc.RpcError):
                each.result()
        resume.join()
        time.sleep(1.0)
        wait_until(lambda: server.fetch("/readyz")[0] == 200)
        assert all(is_answered(call(channel, GOOD)) for _ in range(100))
        assert server.family()[1] != zygote
        assert not Path(f"/proc/{zygote}").exists()
        assert "Traceback" not in "".join(server.text)


def _resume(pid: int) -> None:
    """Let a stopped process go on, if it still exists."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)

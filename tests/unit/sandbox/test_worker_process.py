"""Forked workers: what the pool sees of them, and that they leave nothing."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.pool_options import HASTY
from support.pool_options import PATIENT as OPTIONS
from support.replies import answer, parent_of
from support.timing import wait_until

from function_script.sandbox.outcome import Failed
from function_script.sandbox.pool import Pool
from function_script.step.telemetry import Answered


@pytest.mark.linux
def test_reading_without_waiting_does_not_wait() -> None:
    """Python waits for a socket with a timeout, whatever the flags of the call."""
    with Pool(OPTIONS) as pool:
        assert isinstance(pool.run(b"echo x"), Answered)
        worker = pool.workers.acquire()
        started = time.monotonic()
        assert worker.read_reply(0.2) is None
        assert time.monotonic() - started >= 0.2
        seconds = []
        # A busy machine may delay some of them.
        for _ in range(10):
            started = time.monotonic()
            assert worker.read_reply_nowait() is None
            seconds.append(time.monotonic() - started)
        assert min(seconds) < 0.2
        pool.workers.release(worker)
        assert isinstance(pool.run(b"echo x"), Answered)


@pytest.mark.linux
def test_pool_leaves_nothing_after_close() -> None:
    files_before = len(list(Path("/proc/self/fd").iterdir()))
    with Pool(HASTY) as pool:
        worker = int(answer(pool.run(b"pid")))
        zygote = parent_of(worker)
        assert isinstance(pool.run(b"spin"), Failed)
    assert not Path(f"/proc/{worker}").exists()
    assert not Path(f"/proc/{zygote}").exists()
    # Another pool may be about to close some of its own.
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files_before)


@pytest.mark.linux
@pytest.mark.parametrize("runs", [0, 3], ids=["nothing before", "runs before"])
def test_run_that_outlasts_its_pool_leaves_nothing(runs: int) -> None:
    """It fails, and the resources of its worker are released."""
    files_before = len(list(Path("/proc/self/fd").iterdir()))
    with ThreadPoolExecutor(1) as threads:
        with Pool(OPTIONS) as pool:
            for _ in range(runs):
                assert isinstance(pool.run(b"echo x"), Answered)
            reply = threads.submit(pool.run, b"spin")
            wait_until(lambda: pool.scheduler.busy)
        assert isinstance(reply.result(), Failed)
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files_before)

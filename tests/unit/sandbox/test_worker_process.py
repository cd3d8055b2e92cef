"""The pool's view of a forked worker."""

import time

import pytest

from function_script.sandbox import Answered, Pool, PoolOptions


@pytest.mark.linux
def test_reading_without_waiting_does_not_wait() -> None:
    """Python waits for a socket with a timeout, whatever the flags of the call."""
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1, min_idle=0)) as pool:
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

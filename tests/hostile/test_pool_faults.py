"""Faults from outside: killed, stopped and starved processes."""

import os
import resource
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from support.replies import answer, parent_of
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from function_script.request.limits import MIB, Limits
from function_script.sandbox import fork_server
from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step.telemetry import Answered
from function_script.texts.errors import SandboxError

LIMITS = Limits(timeout_seconds=1.0, memory_bytes=128 * MIB)
# For runs that must not reach their time limit, on the slowest machine.
PATIENT = replace(LIMITS, timeout_seconds=PATIENCE_SECONDS)
OPTIONS = PoolOptions(module="support.sandbox_handlers", limits=PATIENT, workers=2, slow_workers=4)


def open_files() -> int:
    """Return the number of descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_stopped_worker_is_killed() -> None:
    """It is killed after ten times the limit, or at the caller's deadline.

    The cause is not the program, and a large request does not block the pool.
    """
    limits = replace(LIMITS, timeout_seconds=0.2)
    options = PoolOptions(module="support.sandbox_handlers", limits=limits, workers=1, min_idle=0)
    with Pool(options) as pool:
        os.kill(int(answer(pool.run(b"pid"))), signal.SIGSTOP)
        began = time.monotonic()
        failed = pool.run(b"echo " + b"x" * (4 * MIB))
        assert 2.0 <= time.monotonic() - began < 2.0 + SLACK_SECONDS
        assert isinstance(failed, Failed)
        assert failed.cause is Cause.STARVED
        assert "it was not done after 2" in str(failed.error)
        assert "it had 0 s of CPU time" in str(failed.error)
        assert isinstance(pool.run(b"echo x"), Answered)
        os.kill(int(answer(pool.run(b"pid"))), signal.SIGSTOP)
        failed = pool.run(b"echo x", 0.3)
        assert isinstance(failed, Failed)
        assert "it was not done at the call's deadline, after 0.3" in str(failed.error)


@pytest.mark.serial
def test_kill_fails_one_request_at_most() -> None:
    """Workers are killed all the time; no descriptor leaks."""
    with Pool(OPTIONS) as pool, ThreadPoolExecutor(5) as threads:
        pool.prefork()
        files_before, stop = open_files(), threading.Event()

        def kill_workers() -> int:
            count = 0
            while not stop.wait(0.05):
                reply = pool.run(b"pid")
                if isinstance(reply, Answered):
                    os.kill(int(reply.response), signal.SIGKILL)
                    count += 1
            return count

        kills = threads.submit(kill_workers)
        try:
            replies = list(threads.map(pool.run, [b"echo x"] * 3_000))
        finally:
            stop.set()
        kinds = Counter(type(reply).__name__ for reply in replies)
        assert kinds["Failed"] <= kills.result()
        assert {reply.cause for reply in replies if isinstance(reply, Failed)} <= {Cause.KILLED}
        wait_until(lambda: open_files() <= files_before + 4 * (OPTIONS.workers + OPTIONS.min_idle))


def test_zygote_that_is_late_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers to old orders are ignored: later requests are all answered."""
    monkeypatch.setattr(fork_server, "ANSWER_SECONDS", 0.6)
    with Pool(replace(OPTIONS, min_idle=0)) as pool:
        pool.prefork()
        workers = {int(answer(pool.run(b"pid"))) for _ in range(10)}
        zygote = parent_of(next(iter(workers)))
        os.kill(zygote, signal.SIGSTOP)
        for worker in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split():
            os.kill(int(worker), signal.SIGKILL)
        # After its first order has timed out, and before the second one does.
        threading.Timer(0.9, resume, (zygote,)).start()
        replies = [pool.run(b"pid") for _ in range(3)]
        wait_until(lambda: not Path(f"/proc/{zygote}").exists())
        assert all(isinstance(reply, Answered) for reply in replies[1:])
        replies = [pool.run(b"pid") for _ in range(100)]
        assert all(isinstance(reply, Answered) for reply in replies)
        assert {parent_of(int(answer(reply))) for reply in replies} != {zygote}


def resume(pid: int) -> None:
    """Continue a stopped process, if it still lives."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


@pytest.mark.attack
def test_pool_with_a_stopped_zygote_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is available as long as a worker lives, and again when a new one does."""
    monkeypatch.setattr(fork_server, "ANSWER_SECONDS", PATIENCE_SECONDS)
    with Pool(replace(OPTIONS, min_idle=0)) as pool:
        pool.prefork()
        worker = int(answer(pool.run(b"pid")))
        zygote = parent_of(worker)
        with ThreadPoolExecutor(1) as threads:
            os.kill(zygote, signal.SIGSTOP)
            try:
                assert pool.workers.is_available()
                for each in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split():
                    os.kill(int(each), signal.SIGKILL)
                running = threads.submit(pool.run, b"pid")
                wait_until(lambda: not pool.workers.is_available())
            finally:
                os.kill(zygote, signal.SIGCONT)
            assert isinstance(running.result(), Answered)
        assert pool.workers.is_available()


def test_missing_descriptor_of_a_worker_is_an_error() -> None:
    """The pidfd that comes from the zygote needs a free descriptor, too."""
    with Pool(OPTIONS) as pool:
        assert isinstance(pool.run(b"echo x"), Answered)
        workers = pool.workers
        acquired = [workers.acquire() for _ in range(2)]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
        # No number below the limit is free then, apart from the counted ones.
        fillers = [os.dup(0) for _ in range(max(used) + 2 - len(used))]
        first_free = max(*used, *fillers) + 1
        errors = []
        for limit in range(first_free, first_free + 12):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            try:
                acquired.append(workers.acquire())
            except SandboxError as error:
                errors.append(str(error))
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for filler in fillers:
            os.close(filler)
        for worker in acquired:
            workers.kill(worker)
    assert {error.partition(" (")[0] for error in errors} == {
        "cannot start a worker: there are no more descriptors"
    }
    assert any("pidfd_open" in error for error in errors)
    assert len(acquired) > 2

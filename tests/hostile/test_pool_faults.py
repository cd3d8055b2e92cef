"""Faults from outside: killed, stopped and starved processes. After each, work goes on."""

from __future__ import annotations

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
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until, wait_until_busy

from function_script.errors import SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import Answered, Failed, Pool, PoolOptions, Reply
from function_script.sandbox.outcome import Cause

LIMITS = Limits(timeout_seconds=1.0, memory_bytes=128 * MIB)
# For what ends otherwise than by its time, on the slowest machine.
PATIENT = replace(LIMITS, timeout_seconds=PATIENCE_SECONDS)
OPTIONS = PoolOptions(module="support.sandbox_handlers", limits=PATIENT, workers=2, slow_workers=4)


def number(reply: Reply) -> int:
    """A response that is a number."""
    assert isinstance(reply, Answered), reply
    return int(reply.response)


def parent_of(pid: int) -> int:
    """The parent's process id."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def open_files() -> int:
    """How many descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_worker_killed_at_work_is_one_failure() -> None:
    """The request it worked on fails once and is not tried again; the next is answered."""
    with Pool(OPTIONS) as pool, ThreadPoolExecutor(1) as threads:
        worker = number(pool.run(b"pid"))
        running = threads.submit(pool.run, b"spin")
        wait_until_busy(lambda: [worker])
        os.kill(worker, signal.SIGKILL)
        failed = running.result()
        assert isinstance(failed, Failed)
        assert failed.cause is Cause.KILLED
        assert "killed from outside" in str(failed.error)
        assert number(pool.run(b"pid")) != worker


def test_a_worker_stopped_while_idle_is_put_down() -> None:
    """A process that takes nothing, not even a large request, is ended after ten times the limit.

    The program is not to blame, and the caller's own deadline may come sooner.
    """
    limits = replace(LIMITS, timeout_seconds=0.2)
    options = PoolOptions(module="support.sandbox_handlers", limits=limits, workers=1, min_idle=0)
    with Pool(options) as pool:
        os.kill(number(pool.run(b"pid")), signal.SIGSTOP)
        began = time.monotonic()
        failed = pool.run(b"echo " + b"x" * (4 * MIB))
        assert 2.0 <= time.monotonic() - began < 2.0 + SLACK_SECONDS
        assert isinstance(failed, Failed)
        assert failed.cause is Cause.STARVED
        assert "it was not done after 2" in str(failed.error)
        assert "it had 0 s of CPU time" in str(failed.error)
        assert isinstance(pool.run(b"echo x"), Answered)
        os.kill(number(pool.run(b"pid")), signal.SIGSTOP)
        failed = pool.run(b"echo x", 0.3)
        assert isinstance(failed, Failed)
        assert "it was not done at the call's deadline, after 0.3" in str(failed.error)


def test_a_zygote_killed_at_work_costs_what_was_running() -> None:
    """Requests that were running fail, those that come later are answered."""
    with Pool(OPTIONS) as pool, ThreadPoolExecutor(1) as threads:
        worker = number(pool.run(b"pid"))
        zygote = parent_of(worker)
        running = threads.submit(pool.run, b"spin")
        wait_until_busy(lambda: [worker])
        os.kill(zygote, signal.SIGKILL)
        failed = running.result()
        assert isinstance(failed, Failed)
        assert failed.cause is Cause.KILLED
        assert parent_of(number(pool.run(b"pid"))) != zygote


def test_a_stopped_zygote_does_not_stop_warm_workers() -> None:
    """Only who needs a new worker has to wait for the zygote."""
    with Pool(OPTIONS) as pool:
        pool.prefork()
        zygote = parent_of(number(pool.run(b"pid")))
        os.kill(zygote, signal.SIGSTOP)
        try:
            assert isinstance(pool.run(b"echo x"), Answered)
        finally:
            os.kill(zygote, signal.SIGCONT)


def test_no_descriptors_left_is_one_failure() -> None:
    """Without descriptors no worker starts; with some again, one does."""
    options = PoolOptions(module="support.sandbox_handlers", limits=LIMITS, workers=1, min_idle=0)
    with Pool(options) as pool:
        os.kill(number(pool.run(b"pid")), signal.SIGKILL)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            failed = pool.run(b"echo x")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert isinstance(failed, Failed)
        assert "cannot start a worker" in str(failed.error)
        assert isinstance(pool.run(b"echo x"), Answered)


@pytest.mark.serial
def test_work_goes_on_while_processes_are_killed() -> None:
    """With a worker killed every moment, each kill costs one request at most; nothing leaks."""
    with Pool(OPTIONS) as pool, ThreadPoolExecutor(5) as threads:
        pool.prefork()
        files_before, done = open_files(), threading.Event()

        def reap() -> int:
            kills = 0
            while not done.wait(0.05):
                reply = pool.run(b"pid")
                if isinstance(reply, Answered):
                    os.kill(int(reply.response), signal.SIGKILL)
                    kills += 1
            return kills

        reaper = threads.submit(reap)
        try:
            replies = list(threads.map(pool.run, [b"echo x"] * 3_000))
        finally:
            done.set()
        kinds = Counter(type(reply).__name__ for reply in replies)
        assert kinds["Failed"] <= reaper.result()
        assert {reply.cause for reply in replies if isinstance(reply, Failed)} <= {Cause.KILLED}
        wait_until(lambda: open_files() <= files_before + 4 * (OPTIONS.workers + OPTIONS.min_idle))


def test_a_zygote_that_is_late_is_replaced() -> None:
    """Its answers to old orders are nobody's: requests that come later are all answered."""
    options = replace(OPTIONS, answer_seconds=0.6, min_idle=0)
    with Pool(options) as pool:
        pool.prefork()
        workers = {number(pool.run(b"pid")) for _ in range(10)}
        zygote = parent_of(next(iter(workers)))
        os.kill(zygote, signal.SIGSTOP)
        for worker in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split():
            os.kill(int(worker), signal.SIGKILL)
        # After it was given up, and before a newer order is.
        threading.Timer(0.9, resume, (zygote,)).start()
        replies = [pool.run(b"pid") for _ in range(3)]
        wait_until(lambda: not Path(f"/proc/{zygote}").exists())
        assert all(isinstance(reply, Answered) for reply in replies[1:])
        replies = [pool.run(b"pid") for _ in range(100)]
        assert all(isinstance(reply, Answered) for reply in replies)
        assert {parent_of(number(reply)) for reply in replies} != {zygote}


def resume(pid: int) -> None:
    """Let a stopped process go on, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def test_a_pool_whose_zygote_is_stopped_says_so() -> None:
    """While a worker lives it is able; without one, and without a new one in time, it is not."""
    with Pool(replace(OPTIONS, answer_seconds=PATIENCE_SECONDS, min_idle=0)) as pool:
        pool.prefork()
        worker = number(pool.run(b"pid"))
        zygote = parent_of(worker)
        with ThreadPoolExecutor(1) as threads:
            os.kill(zygote, signal.SIGSTOP)
            try:
                assert pool.is_available()
                for each in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split():
                    os.kill(int(each), signal.SIGKILL)
                running = threads.submit(pool.run, b"pid")
                wait_until(lambda: not pool.is_available())
            finally:
                os.kill(zygote, signal.SIGCONT)
            assert isinstance(running.result(), Answered)
        assert pool.is_available()


def test_each_descriptor_that_is_missing_for_a_worker_is_an_error() -> None:
    """The process id of a worker comes with a descriptor, too, which may find no room."""
    with Pool(OPTIONS) as pool:
        assert isinstance(pool.run(b"echo x"), Answered)
        workers = pool.context.workers
        children = [workers.acquire() for _ in range(2)]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
        # Then no number below the limit is free but for those that are counted here.
        fillers = [os.dup(0) for _ in range(max(used) + 2 - len(used))]
        first_free = max(*used, *fillers) + 1
        errors = []
        for limit in range(first_free, first_free + 12):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            try:
                children.append(workers.acquire())
            except SandboxError as error:
                errors.append(str(error))
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for filler in fillers:
            os.close(filler)
        for child in children:
            workers.kill(child)
    assert {error.partition(" (")[0] for error in errors} == {
        "cannot start a worker: there are no more descriptors"
    }
    assert any("pidfd_open" in error for error in errors)
    assert len(children) > 2

"""The dispatcher: the replies of a pool by callback, without blocking the event loop."""

import asyncio
import gc
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from support import dispatching, pool_options
from support.dispatching import Caller
from support.replies import cause, parent_of, text
from support.timing import PATIENCE_SECONDS

from function_script.sandbox.batch import RequestIdentity, Run
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.outcome import Cause, Reply
from function_script.sandbox.pool import Pool


def identify(data: bytes) -> RequestIdentity:
    """Return the identity of a request, whose owner is its last word if that names an XR."""
    word = data.rpartition(b" ")[2]
    return RequestIdentity(word if word.startswith(b"xr-") else None)


OPTIONS = replace(pool_options.HASTY, identify=identify)
PATIENT = replace(pool_options.PATIENT, identify=identify)
ONE_SLOT = replace(PATIENT, slow_workers=0)


in_loop = partial(dispatching.in_loop, caller=Caller)


@in_loop(PATIENT)
async def test_requests_are_answered_in_turn(caller: Caller) -> None:
    replies = await asyncio.gather(*[caller.start(b"echo %d" % n) for n in range(50)])
    assert [text(reply) for reply in replies] == [b"%d" % n for n in range(50)]
    assert replies[0].waited_seconds == 0 < replies[49].waited_seconds


@in_loop(OPTIONS)
async def test_penalty_slots_are_released(caller: Caller) -> None:
    """They are when their workers have exited, which may be after their replies."""
    # A penalized run gets the CPU only while nobody else on this machine wants it.
    for _ in range(8):
        assert cause(await caller.start(b"segfault xr-1")) in {Cause.CRASH, Cause.STARVED}
    assert cause(await caller.start(b"spin xr-1")) in {Cause.TIMEOUT, Cause.STARVED}
    assert text(await caller.start(b"echo xr-2")) == b"xr-2"


@in_loop(PATIENT)
async def test_penalized_run_does_not_get_the_warm_worker(caller: Caller) -> None:
    """It does not even if that is the only idle one."""
    await caller.start(b"segfault xr-1")
    warm = text(await caller.start(b"pid xr-2"))
    for _ in range(3):
        await caller.start(b"segfault xr-1")
        assert text(await caller.start(b"pid xr-2")) == warm


@in_loop(ONE_SLOT)
async def test_waiting_request_can_be_cancelled(caller: Caller) -> None:
    running, dropped = caller.begin(b"narrow 0.2 64 spin")
    waiting, never = caller.begin(b"remember never")
    caller.dispatcher.cancel(waiting)
    caller.dispatcher.cancel(running)
    assert text(await caller.start(b"remember later")) == b"later"
    assert not never.done()
    assert not dropped.done()


async def wait_for(holds: Callable[[], bool]) -> None:
    """Return as soon as ``holds`` is true."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


@in_loop(replace(PATIENT, workers=2, slow_workers=4, heavy_runs=1))
async def test_paused_run_that_was_cancelled_is_ended(caller: Caller) -> None:
    """It would keep a process until it was resumed."""
    scheduler = caller.dispatcher._scheduler
    first = caller.start(b"work 1 xr-1")
    request, dropped = caller.begin(b"work 1 xr-2")
    await wait_for(lambda: scheduler.slow == 2)
    caller.dispatcher.cancel(request)
    assert text(await first) == b"worked"
    await wait_for(lambda: not scheduler.slow)
    assert not dropped.done()


def count_runs() -> int:
    """Return the number of runs in memory; compiled classes have no weak references."""
    return sum(type(each) is Run for each in gc.get_objects())


@in_loop(PATIENT)
async def test_request_is_freed_without_a_collection(caller: Caller) -> None:
    """Requests are large: a reference cycle would keep them until the next collection."""
    gc.collect()
    gc.disable()
    try:
        before = count_runs()
        pairs = [caller.begin(b"echo x") for _ in range(5)]
        assert count_runs() > before
        await asyncio.gather(*[reply for _, reply in pairs])
        del pairs
        # Those of earlier tests may end meanwhile.
        await wait_for(lambda: count_runs() <= before)
    finally:
        gc.enable()


@in_loop(PATIENT)
async def test_forking_does_not_block_the_loop(caller: Caller) -> None:
    """A zygote that does not answer delays only requests that need a new worker."""
    worker = int(text(await caller.start(b"pid")))
    zygote = parent_of(worker)
    os.kill(zygote, signal.SIGSTOP)
    try:
        os.kill(worker, signal.SIGKILL)
        reply = caller.start(b"echo x")
        await asyncio.sleep(0.1)
        assert not reply.done()
    finally:
        os.kill(zygote, signal.SIGCONT)
    assert text(await reply) == b"x"


def test_end_while_a_worker_is_forked_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """The loop gets the worker after the end, which has killed it."""
    replies: list[Reply] = []

    async def main() -> None:
        with Pool(PATIENT) as pool:
            dispatcher = Dispatcher(pool, asyncio.get_running_loop())
            dispatcher.start(b"echo x", PATIENCE_SECONDS, replies.append)
            dispatcher.close()
            for _ in range(3):
                await asyncio.sleep(0)

    asyncio.run(main())
    assert replies == caplog.records == []

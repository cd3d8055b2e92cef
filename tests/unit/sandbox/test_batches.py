"""Batches: several small requests that one worker evaluates one after the other."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from functools import partial

import pytest
from support import dispatching, pool_options
from support.dispatching import Caller
from support.replies import cause, parent_of, text
from support.timing import PATIENCE_SECONDS

from function_script.request.limits import MIB
from function_script.sandbox.batch import Batch, RequestIdentity, Run
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.outcome import Cause, Reply
from function_script.sandbox.pool import Pool
from function_script.sandbox.scheduler import Lane
from function_script.step.telemetry import Answered


def identify(data: bytes) -> RequestIdentity:
    """Return the identity of a request, whose owner is its last word."""
    return RequestIdentity(data.rpartition(b" ")[2])


OPTIONS = replace(pool_options.PATIENT, identify=identify, batches=True)
# Nothing that runs can be paused, so nothing else runs beside it.
ONE_SLOT = replace(OPTIONS, slow_workers=0)
_BATCH = 4


class BatchCaller(Caller):
    """Starts requests that form a batch."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.requests: list[Run] = []

    def begin(
        self, data: bytes, seconds: float = PATIENCE_SECONDS
    ) -> tuple[Run, asyncio.Future[Reply]]:
        """Start a request, and note it."""
        request, future = super().begin(data, seconds)
        self.requests.append(request)
        return request, future

    async def batch(self, *batch: bytes | tuple[bytes, float]) -> list[asyncio.Future[Reply]]:
        """Start requests, some with deadlines, that wait for the same worker; return replies."""
        while not self.dispatcher._scheduler._batch_delay():
            # Programs are taken for short after some hundred quick runs.
            await self.start(b"echo x")
        first = self.start(b"echo first")
        self.requests.clear()
        futures = [
            self.start(each) if isinstance(each, bytes) else self.start(*each) for each in batch
        ]
        await first
        return futures

    async def whole_batch(self, *batch: bytes | tuple[bytes, float]) -> list[asyncio.Future[Reply]]:
        """Start a `batch` again until one worker has all of it: a busy machine may split it."""
        while True:
            futures = await self.batch(*batch)
            if self.sizes() == [len(batch)]:
                return futures
            await asyncio.gather(*futures)

    def sizes(self) -> list[int]:
        """Return the sizes of the batches that run."""
        return [len(batch.runs) for batch in self.dispatcher._running.values()]


in_loop = partial(dispatching.in_loop, caller=BatchCaller)


@in_loop(OPTIONS)
async def test_requests_that_wait_go_to_a_worker_together(caller: BatchCaller) -> None:
    """Each gets its own reply with its own CPU time, and the worker stays."""
    pid = text(await caller.start(b"pid x"))
    works = [b"work 0.00%d xr-%d" % (n, n) for n in (1, 2, 1)]
    futures = await caller.batch(*works, b"problem xr-4", b"echo xr-5")
    assert caller.sizes() == [_BATCH]
    replies = await asyncio.gather(*futures)
    assert [text(reply) for reply in replies] == [b"worked"] * 3 + [b"xr-4", b"xr-5"]
    seconds = [reply.cpu_seconds for reply in replies]
    assert seconds[1] >= 0.002 > seconds[3]
    assert [len(reply.diagnostics) for reply in replies if isinstance(reply, Answered)] == [
        *(0, 0, 0, 1, 0)
    ]
    assert text(await caller.start(b"pid x")) == pid


def test_cpu_time_stays_used_when_the_worker_is_gone() -> None:
    """The clock of a process that has ended says 0, which is no time that others got less."""
    with Pool(OPTIONS) as pool:
        worker = pool.workers.acquire()
        begun = Run(b"work 0.2 x", identify(b"x"), time.monotonic(), print, print)
        batch = Batch(begun, Lane(1))
        batch.start(worker)
        assert worker.read_reply(PATIENCE_SECONDS)
        gained, _ = batch.observe(time.monotonic())
        assert gained == batch.used_seconds > 0.1
        pool.workers.replace(worker)
        assert worker.used_seconds() == 0.0
        assert batch.observe(time.monotonic())[0] == 0.0
        assert batch.used_seconds == gained


@in_loop(OPTIONS)
async def test_request_that_comes_alone_is_sent_alone(caller: BatchCaller) -> None:
    """There is nothing to wait for."""
    future = caller.start(b"work 0.001 x")
    assert caller.sizes() == [1]
    await future


@in_loop(OPTIONS)
async def test_large_request_is_sent_alone(caller: BatchCaller) -> None:
    """Those that wait behind it are a batch of their own."""
    large = b"echo " + b"x" * 100_000 + b" xr-1"
    futures = await caller.batch(large, b"work 0.001 xr-2", b"echo xr-3")
    assert caller.sizes() == [1]
    assert text(await futures[0]) == large[5:]
    assert caller.sizes() == [2]
    assert [text(await each) for each in futures[1:]] == [b"worked", b"xr-3"]


@in_loop(OPTIONS)
async def test_large_response_of_a_batch_arrives(caller: BatchCaller) -> None:
    """It does not fit beside the others, so its request is evaluated again, alone."""
    futures = await caller.batch(b"echo xr-1", b"swell 3", b"echo xr-3")
    replies = await asyncio.gather(*futures)
    assert [text(reply) for reply in replies] == [b"xr-1", bytes(3 * MIB), b"xr-3"]


@in_loop(OPTIONS)
async def test_text_that_a_request_prints_is_its_own(caller: BatchCaller) -> None:
    """The next request of the batch does not report it."""
    futures = await caller.batch(b"echo xr-1", b"say private", b"echo xr-3")
    assert [(await each).log for each in futures] == ["", "private", ""]


@in_loop(OPTIONS)
async def test_limits_that_an_input_narrows_are_its_own(caller: BatchCaller) -> None:
    """The next request has those of the operator, and the one before had them, too."""
    futures = await caller.batch(
        *(b"allocate 90", b"narrow 5 64 allocate 10", b"allocate 90"),
        b"narrow 5 64 allocate 90",
    )
    assert [text(await each) for each in futures[:3]] == [
        str(size * MIB).encode() for size in (90, 10, 90)
    ]
    reply = await futures[3]
    assert cause(reply) is Cause.MEMORY
    assert "its limit of 64 MiB (set by limits.memory)" in str(reply)


@in_loop(OPTIONS)
async def test_more_replies_than_requests_are_refused(caller: BatchCaller) -> None:
    """Such a worker is lost; its other requests run elsewhere."""
    pid = text(await caller.start(b"pid x"))
    futures = await caller.batch(b"echo xr-1", b"forge-replies 4", b"pid xr-3")
    assert text(await futures[0]) == b"xr-1"
    # Alone it is answered with four replies, too.
    reply = await futures[1]
    assert cause(reply) is Cause.CRASH
    assert "bytes for 1 requests" in str(reply)
    assert text(await futures[2]) not in {pid, b"forged"}


KILLERS = [
    (b"segfault x", Cause.CRASH),
    (b"allocate 500", Cause.MEMORY),
    (b"narrow 0.1 64 spin", Cause.TIMEOUT),
    (b"narrow 0.1 64 deafen", Cause.TIMEOUT),
    (b"signal 9", Cause.KILLED),
    (b"raise x", Cause.BUG),
    (b"babble x", Cause.CRASH),
    (b"forge 3000000000", Cause.CRASH),
    (b"forge-report 2000000", Cause.CRASH),
]


@pytest.mark.parametrize(
    ("command", "expected", "position"),
    # Each of them behind another, and two at the beginning: one that ends, and one that does not.
    [*((*killer, 1) for killer in KILLERS), *((*killer, 0) for killer in KILLERS[1:3])],
    ids=str,
)
@in_loop(OPTIONS)
async def test_killed_request_costs_the_others_nothing(
    caller: BatchCaller, command: bytes, expected: Cause, position: int
) -> None:
    batch = [b"echo xr-%d" % n for n in range(3)]
    batch[position] = command
    futures = await caller.batch(*batch)
    assert caller.sizes() == [3]
    for index, reply in enumerate(await asyncio.gather(*futures)):
        if index == position:
            assert cause(reply) is expected
        else:
            assert text(reply) == b"xr-%d" % index
    assert text(await caller.start(b"echo next")) == b"next"


@pytest.mark.parametrize("position", [0, 1, _BATCH - 1])
@in_loop(replace(OPTIONS, workers=2))
async def test_heavy_request_does_not_hold_the_others(caller: BatchCaller, position: int) -> None:
    """Those before and after it are answered while it runs, and it goes on where it is."""
    batch = [b"echo xr-%d" % n for n in range(_BATCH)]
    batch[position] = b"work 0.4 heavy"
    futures = await caller.whole_batch(*batch)
    start = time.monotonic()
    heavy = futures.pop(position)
    await asyncio.gather(*futures)
    assert not heavy.done()
    assert text(await heavy) == b"worked"
    # It was not begun a second time.
    assert 0.39 < heavy.result().cpu_seconds < 0.5
    assert time.monotonic() - start < PATIENCE_SECONDS


@in_loop(replace(OPTIONS, workers=2))
async def test_stopped_worker_does_not_hold_the_others(caller: BatchCaller) -> None:
    """A batch without CPU time is split, too; the stopped run ends at its deadline."""
    futures = await caller.batch((b"stop x", 1.0), b"echo xr-2", b"echo xr-3")
    assert [text(await each) for each in futures[1:]] == [b"xr-2", b"xr-3"]
    assert not futures[0].done()
    assert cause(await futures[0]) is Cause.STARVED


@in_loop(replace(OPTIONS, workers=2))
async def test_limits_of_a_neighbour_never_end_a_run(caller: BatchCaller) -> None:
    """The worker stops when it has begun the second request and knows no limits of it yet."""
    futures = await caller.whole_batch(b"narrow 0.01 64 begin-next 0.04", (b"echo xr-2", 1.0))
    reply = await futures[1]
    assert cause(reply) is Cause.STARVED
    assert "limits.timeout" not in str(reply)


@in_loop(ONE_SLOT)
async def test_deadline_ends_the_waiting_behind_a_heavy_request(caller: BatchCaller) -> None:
    """Without another slot, a request that was taken back waits until its own deadline."""
    futures = await caller.batch(b"work 0.6 heavy", (b"echo xr-2", 0.2), b"echo xr-3")
    assert cause(await futures[1]) is Cause.WAITED
    assert futures[1].result().waited_seconds >= 0.2
    assert not futures[0].done()
    assert text(await futures[0]) == b"worked"
    assert text(await futures[2]) == b"xr-3"
    assert futures[2].result().waited_seconds > 0.3


@pytest.mark.parametrize("position", range(3))
@in_loop(OPTIONS)
async def test_cancelled_request_of_a_batch_gets_no_reply(
    caller: BatchCaller, position: int
) -> None:
    """The others do, also when the batch has to run again."""
    for last in (b"work 0.002 xr-4", b"segfault x"):
        batch = [b"echo xr-%d" % n for n in range(3)]
        futures = await caller.batch(*batch, last)
        caller.dispatcher.cancel(caller.requests[position])
        cancelled = futures.pop(position)
        replies = await asyncio.gather(*futures)
        assert [text(reply) for reply in replies[:2]] == [
            b"xr-%d" % n for n in range(3) if n != position
        ]
        assert not cancelled.done()
        assert text(await caller.start(b"echo next")) == b"next"
        assert caller.dispatcher._scheduler.waiting == 0
        assert caller.dispatcher._scheduler.busy == 0


@in_loop(OPTIONS)
async def test_batch_waits_for_a_zygote_that_is_stopped(caller: BatchCaller) -> None:
    """Its requests run when the next worker has started."""
    zygote = parent_of(int(text(await caller.start(b"pid x"))))
    os.kill(zygote, signal.SIGSTOP)
    try:
        futures = await caller.batch(b"echo xr-1", b"segfault x", b"echo xr-3")
        await asyncio.sleep(0.2)
        assert not any(future.done() for future in futures)
    finally:
        os.kill(zygote, signal.SIGCONT)
    assert text(await futures[0]) == b"xr-1"
    assert cause(await futures[1]) is Cause.CRASH
    assert text(await futures[2]) == b"xr-3"


@in_loop(OPTIONS)
async def test_batches_are_fair(caller: BatchCaller) -> None:
    """Of forty queued requests of one key, few run before that of another key."""
    await caller.batch()
    flood = [caller.start(b"echo xr-flood") for _ in range(40)]
    assert text(await caller.start(b"echo xr-other")) == b"xr-other"
    assert sum(reply.done() for reply in flood) <= 1 + _BATCH
    await asyncio.gather(*flood)


@in_loop(OPTIONS)
async def test_requests_keep_their_order(caller: BatchCaller) -> None:
    """Those of one key are begun in the order in which they came, in a batch or taken back."""
    order: list[int] = []
    futures = await caller.batch(*[b"echo x"] * 3, b"segfault x", *[b"echo x"] * 5)
    for number, future in enumerate(futures):
        future.add_done_callback(lambda _, number=number: order.append(number))
    await asyncio.gather(*futures)
    order.remove(3)
    assert order == [0, 1, 2, 4, 5, 6, 7, 8]


@in_loop(replace(OPTIONS, max_runs=5))
async def test_worker_serves_the_number_of_runs_that_it_may(caller: BatchCaller) -> None:
    """Every request of a batch counts; the last batch is answered completely."""
    pids = []
    for _ in range(3):
        futures = await caller.batch(*[b"pid xr-%d" % n for n in range(_BATCH)])
        pids += [text(await future) for future in futures]
    assert len(set(pids)) > 1
    assert all(pids.count(pid) <= 5 + _BATCH for pid in pids)


@in_loop(OPTIONS)
async def test_closing_ends_a_batch(caller: BatchCaller) -> None:
    """Its requests get no reply, and its worker is killed once."""
    futures = await caller.batch(b"spin x", b"echo xr-2")
    assert not any(future.done() for future in futures)

"""The asyncio front of a pool: requests in, replies by callback, without a thread per request.

All methods are called in the thread of the event loop. What blocks (forking a worker, waiting for
the exit of a lost one) is done by a few threads.
"""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from function_script.sandbox.batch import POLL_SECONDS, Batch, Run
from function_script.sandbox.execution import Loss, Result
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.pool import Pool
from function_script.sandbox.spawn_errors import cannot_start
from function_script.sandbox.threads import start_threads
from function_script.sandbox.worker_process import WorkerProcess
from function_script.texts.errors import SandboxError

if TYPE_CHECKING:
    import asyncio


T = TypeVar("T")
_LOG = logging.getLogger(__name__)
# Each is blocked by one exiting process, which may be large and have little of the CPU. Requests
# for a new worker have threads of their own; the zygote forks one at a time in any case.
_REAPER_THREADS = 8
_FORKING_THREADS = 2
# The interval of ``Scheduler.end_delays``, see ``RuntimeEstimate.batch_delay``.
_BATCH_POLL_SECONDS = 0.002
_READ_ONCE = select.EPOLLIN | select.EPOLLONESHOT


class Dispatcher:
    """Assigns requests to the workers of a pool, and calls back in ``loop``."""

    def __init__(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._scheduler = pool.scheduler
        self._workers = pool.workers
        self._executor = pool.executor
        self._loop = loop
        self._reaping = start_threads(_REAPER_THREADS, "reaping")
        self._forking = start_threads(_FORKING_THREADS, "forking")
        # By the descriptor of the worker's connection.
        self._running: dict[int, Batch] = {}
        # Workers that a thread has acquired and the loop has not received yet.
        self._new_workers: set[WorkerProcess] = set()
        self._poll_timer: asyncio.TimerHandle | None = None
        self._batch_timer: asyncio.TimerHandle | None = None
        # A set of its own: joining and leaving the loop's would cost more than the rest of a run.
        self._epoll = select.epoll()
        loop.add_reader(self._epoll.fileno(), self._read_replies)

    def start(self, data: bytes, timeout_seconds: float, on_reply: Callable[[Reply], None]) -> Run:
        """Evaluate a request; ``on_reply`` is called once, perhaps before this returns."""
        run = self._pool.submit(data, timeout_seconds, self._acquire_worker, on_reply)
        if run.is_queued:
            self._schedule_poll()
            # It may wait for a running worker, and the poll is too rare to end that delay.
            if self._batch_timer is None:
                self._check_batches()
        return run

    def cancel(self, run: Run) -> None:
        """Drop the reply of a request, and dequeue it. One that runs ends, or is ended if heavy."""
        run.cancel()
        self._scheduler.dequeue(run)

    def close(self) -> None:
        """Kill the workers of running requests, which get no reply."""
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._poll_timer, self._batch_timer):
            if timer is not None:
                timer.cancel()
        # First the threads end: one that forks adds its worker to those that are killed below.
        self._reaping.shutdown()
        self._forking.shutdown()
        self._epoll.close()
        running = [batch.worker for batch in self._running.values()]
        for worker in [*self._new_workers, *running]:
            self._workers.kill(worker)

    def _acquire_worker(self, batch: Batch) -> None:
        """Start a batch in an idle worker at once, or in a new one later."""
        worker = self._workers.acquire_nowait(coldest=batch.run.is_penalized)
        if worker is not None:
            self._start(batch, worker)
            return
        fork = partial(self._fork_worker, batch)
        self._run_in_thread(self._forking, fork, partial(self._on_fork, batch))

    def _fork_worker(self, batch: Batch) -> WorkerProcess | SandboxError:
        """Acquire a worker, in a thread."""
        try:
            worker = self._workers.acquire(coldest=batch.run.is_penalized)
        except SandboxError as error:
            return error
        except Exception:  # noqa: BLE001 # see below
            # Whatever went wrong, the caller must get a reply, and others the slot.
            _LOG.exception("cannot start a worker")
            return cannot_start("internal error", "the function's log has more")
        self._new_workers.add(worker)
        return worker

    def _on_fork(self, batch: Batch, worker: WorkerProcess | SandboxError) -> None:
        if isinstance(worker, SandboxError):
            waited_seconds = batch.run.waited_seconds
            failed = Failed(error=worker, cause=Cause.KILLED, waited_seconds=waited_seconds)
            self._finish(batch, [failed])
        else:
            self._new_workers.discard(worker)
            self._start(batch, worker)

    def _start(self, batch: Batch, worker: WorkerProcess) -> None:
        self._scheduler.add_companions(batch, worker.max_batch - 1)
        batch.start(worker)
        descriptor = worker.fileno()
        self._running[descriptor] = batch
        self._watch_descriptor(descriptor)
        self._schedule_poll()
        if batch.size > 1 and self._batch_timer is None:
            self._batch_timer = self._loop.call_later(_BATCH_POLL_SECONDS, self._check_batches)

    def _watch_descriptor(self, descriptor: int) -> None:
        """Report the next reply once. A closed descriptor is removed from the set implicitly."""
        try:
            # It is mostly in the set, disarmed by its last event.
            self._epoll.modify(descriptor, _READ_ONCE)
        except FileNotFoundError:
            self._epoll.register(descriptor, _READ_ONCE)

    def _read_replies(self) -> None:
        for descriptor, _ in self._epoll.poll(0):
            batch = self._running.get(descriptor)
            if batch is None:
                continue
            frame = batch.worker.read_reply_nowait()
            if frame is None:
                # The event belonged to a closed connection with the same number.
                self._watch_descriptor(descriptor)
            else:
                del self._running[descriptor]
                self._finish(batch, self._executor.finish(batch, frame))

    def _finish(self, batch: Batch, result: Result) -> None:
        if isinstance(result, Loss):
            explain = partial(self._executor.explain, batch, result)
            if self._scheduler.is_slow(batch):
                # There are many slow slots, and exiting processes must not pile up.
                release = partial(self._scheduler.release, batch)
                explain = partial(explain, partial(self._call_in_loop, release))
            else:
                self._scheduler.release(batch)
            self._run_in_thread(self._reaping, explain, batch.run.reply)
            return
        pairs = list(zip(batch.runs, result, strict=True))
        # The worker goes on with other requests while the replies are sent.
        self._scheduler.release(batch, [run for run, reply in pairs if reply is None])
        for run, reply in pairs:
            if reply is not None:
                run.reply(reply)

    def _schedule_poll(self) -> None:
        if self._poll_timer is None:
            self._poll_timer = self._loop.call_later(POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        """Poll the runs that take long, and refuse requests that waited too long."""
        now = time.monotonic()
        # A copy: a run that has expired is removed meanwhile.
        for descriptor, batch in list(self._running.items()):
            is_due = len(batch.runs) == 1 and batch.next_poll <= now
            if is_due and not self._executor.poll(batch, now):
                del self._running[descriptor]
                self._finish(batch, self._executor.expire(batch))
        self._scheduler.refuse_overdue(now)
        self._poll_timer = None
        if self._running or self._scheduler.waiting:
            self._schedule_poll()

    def _check_batches(self) -> None:
        """Split long batches, and wake another worker for runs after their batch delay."""
        now = time.monotonic()
        has_batches = False
        # A copy: runs that are taken back may begin in another worker at once.
        for batch in list(self._running.values()):
            has_batches |= len(batch.runs) > 1
            if batch.needs_split(now):
                self._scheduler.requeue(batch.split())
        has_delayed = self._scheduler.end_delays()
        self._batch_timer = (
            self._loop.call_later(_BATCH_POLL_SECONDS, self._check_batches)
            if has_delayed or has_batches
            else None
        )

    def _run_in_thread(
        self, threads: ThreadPoolExecutor, task: Callable[[], T], then: Callable[[T], None]
    ) -> None:
        """Call ``task`` in a thread, and ``then`` with its result in the loop, until `close`."""

        def finish(future: asyncio.Future[T]) -> None:
            # The workers are killed and their batches are gone, and nobody waits for a reply.
            if not self._epoll.closed:
                then(future.result())

        self._loop.run_in_executor(threads, task).add_done_callback(finish)

    def _call_in_loop(self, task: Callable[[], None]) -> None:
        """Call ``task`` in the loop, from any thread."""
        # A closed loop has no callers that wait.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(task)

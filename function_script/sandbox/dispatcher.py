"""The asyncio front of a pool: requests in, replies by callback, without a thread per request.

All methods are called in the thread of the event loop. What blocks (forking a worker, waiting for
the exit of a lost one) is done by a few threads.
"""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from function_script.errors import SandboxError
from function_script.sandbox import execution as executions
from function_script.sandbox import outcome
from function_script.sandbox.execution import Execution, NotBegun, Result, TakenBack, WorkerLost
from function_script.sandbox.outcome import Answered, Cause, Failed, Reply
from function_script.sandbox.pool import Pool, deadline_after
from function_script.sandbox.scheduler import Slot
from function_script.sandbox.spawn_errors import cannot_start
from function_script.sandbox.threads import start_threads
from function_script.sandbox.worker_process import WorkerProcess

if TYPE_CHECKING:
    import asyncio


OnReply: TypeAlias = "Callable[[Reply], None]"
T = TypeVar("T")
_LOG = logging.getLogger(__name__)
# Each is blocked by one exiting process, which may be large and have little of the CPU. Requests
# for a new worker have threads of their own; the zygote forks one at a time in any case.
_REAPER_THREADS = 8
_FORKING_THREADS = 2
# Larger requests take long anyway, and a batch has a region of the shared memory for each.
_MAX_BATCHED_BYTES = 64 * 1024
# The interval of ``Scheduler.release_batched``, see ``RuntimeEstimate.batch_delay``.
_BATCH_POLL_SECONDS = 0.002
_READ_ONCE = select.EPOLLIN | select.EPOLLONESHOT


class PendingRequest:
    """A request without a reply yet; an argument of ``Dispatcher.cancel``."""

    def __init__(self, data: bytes, deadline: float, on_reply: OnReply) -> None:
        self.data: Final = data
        self.deadline: Final = deadline
        self.on_reply: OnReply | None = on_reply
        self.slot: Slot | None = None
        """The slot while it is queued."""
        self.may_share = len(data) <= _MAX_BATCHED_BYTES
        """True if others may be evaluated in the same batch."""

    def reply(self, reply: Reply) -> None:
        """Call ``on_reply``, once, unless the request was cancelled."""
        # The callback holds this request: as a cycle, both would live until the next collection.
        on_reply, self.on_reply = self.on_reply, None
        if on_reply is not None:
            on_reply(reply)


class _Running:
    """A request that a worker has."""

    def __init__(self, request: PendingRequest, execution: Execution) -> None:
        self.request: Final = request
        self.execution: Final = execution

    def is_abandoned(self) -> bool:
        """Report whether the run is paused and its request was cancelled."""
        return self.request.on_reply is None and self.execution.is_paused


class Dispatcher:
    """Assigns requests to the workers of a pool, and calls back in ``loop``."""

    def __init__(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._scheduler = pool.context.scheduler
        self._workers = pool.context.workers
        self._loop = loop
        self._reaping = start_threads(_REAPER_THREADS, "reaping")
        self._forking = start_threads(_FORKING_THREADS, "forking")
        # A batch by the descriptor of its worker's connection.
        self._running: dict[int, list[_Running]] = {}
        self._waiting: dict[Slot, PendingRequest] = {}
        # Workers that a thread has acquired and the loop has not received yet.
        self._acquired: set[WorkerProcess] = set()
        self._poll_timer: asyncio.TimerHandle | None = None
        self._batch_timer: asyncio.TimerHandle | None = None
        # A set of its own: joining and leaving the loop's would cost more than the rest of a run.
        self._epoll = select.epoll()
        loop.add_reader(self._epoll.fileno(), self._read_replies)

    def start(self, data: bytes, timeout_seconds: float, on_reply: OnReply) -> PendingRequest:
        """Evaluate a request; ``on_reply`` is called once, perhaps before this returns."""
        request = PendingRequest(data, deadline_after(timeout_seconds), on_reply)
        on_grant = partial(self._on_grant, request)
        slot = self._pool.request_slot(data, request.deadline, on_grant)
        if isinstance(slot, Failed):
            request.reply(slot)
        elif slot.is_waiting:
            self._add_waiting(request, slot)
            if self._batch_timer is None:
                self._check_batches()
        else:
            self._assign_worker(request, slot)
        return request

    def cancel(self, request: PendingRequest) -> None:
        """Dequeue a request; a running one is completed, and its reply is dropped."""
        request.on_reply = None
        slot = request.slot
        if slot is not None and slot.abandon():
            self._remove_waiting(slot)

    def close(self) -> None:
        """Kill the workers of running requests, which get no reply."""
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._poll_timer, self._batch_timer):
            if timer is not None:
                timer.cancel()
        self._reaping.shutdown()
        self._forking.shutdown()
        self._epoll.close()
        running = [batch[0].execution.worker for batch in self._running.values()]
        for worker in [*self._acquired, *running]:
            self._workers.kill(worker)

    def _add_waiting(self, request: PendingRequest, slot: Slot) -> None:
        request.slot = slot
        self._waiting[slot] = request
        self._schedule_poll()

    def _remove_waiting(self, slot: Slot) -> PendingRequest:
        request = self._waiting.pop(slot)
        request.slot = None
        return request

    def _on_grant(self, request: PendingRequest, slot: Slot) -> None:
        if slot in self._waiting:
            self._remove_waiting(slot)
        self._assign_worker(request, slot)

    def _assign_worker(self, request: PendingRequest, slot: Slot) -> None:
        self._acquire_worker(request, slot, partial(self._start, request, slot))

    def _acquire_worker(
        self, request: PendingRequest, slot: Slot, use: Callable[[WorkerProcess], None]
    ) -> None:
        """Call ``use`` with an idle worker at once, or with a new one later."""
        worker = self._workers.acquire_nowait(coldest=slot.is_penalized)
        if worker is not None:
            use(worker)
            return
        on_acquire = partial(self._on_acquire, request, slot, use)
        self._run_in_thread(self._forking, partial(self._fork_worker, slot), on_acquire)

    def _fork_worker(self, slot: Slot) -> WorkerProcess | SandboxError:
        """Acquire a worker, in a thread."""
        try:
            worker = self._workers.acquire(coldest=slot.is_penalized)
        except SandboxError as error:
            return error
        except Exception:  # noqa: BLE001 # see below
            # Whatever went wrong, the caller must get a reply, and others the slot.
            _LOG.exception("cannot start a worker")
            return cannot_start("internal error", "the function's log has more")
        self._acquired.add(worker)
        return worker

    def _on_acquire(
        self,
        request: PendingRequest,
        slot: Slot,
        use: Callable[[WorkerProcess], None],
        worker: WorkerProcess | SandboxError,
    ) -> None:
        if isinstance(worker, SandboxError):
            waited_seconds = slot.waited_seconds
            failed = Failed(error=worker, cause=Cause.KILLED, waited_seconds=waited_seconds)
            slot.release()
            request.reply(failed)
        else:
            self._acquired.discard(worker)
            use(worker)

    def _start(self, request: PendingRequest, slot: Slot, worker: WorkerProcess) -> None:
        pairs = [(request, slot)]
        if request.may_share and worker.max_batch > 1:
            others = self._scheduler.take_companions(slot, worker.max_batch - 1, self._may_join)
            pairs += [(self._remove_waiting(other), other) for other in others]
        batch = [
            _Running(each, Execution(self._pool.context, its, each.data, each.deadline, worker))
            for each, its in pairs
        ]
        executions.start_batch([run.execution for run in batch])
        self._watch(batch)
        if len(batch) > 1 and self._batch_timer is None:
            self._batch_timer = self._loop.call_later(_BATCH_POLL_SECONDS, self._check_batches)

    def _may_join(self, slot: Slot) -> bool:
        """Report whether a queued request may be evaluated in a batch with others."""
        request = self._waiting.get(slot)
        return request is not None and request.may_share

    def _retry(self, run: _Running, worker: WorkerProcess) -> None:
        run.execution.retry(worker)
        self._watch([run])

    def _watch(self, batch: list[_Running]) -> None:
        """Expect the replies of a batch that has started."""
        descriptor = batch[0].execution.worker.fileno()
        self._running[descriptor] = batch
        self._watch_descriptor(descriptor)
        self._schedule_poll()

    def _watch_descriptor(self, descriptor: int) -> None:
        """Report the next reply once. A closed descriptor is removed from the set implicitly."""
        try:
            self._epoll.modify(descriptor, _READ_ONCE)
        except FileNotFoundError:
            self._epoll.register(descriptor, _READ_ONCE)

    def _read_replies(self) -> None:
        for descriptor, _ in self._epoll.poll(0):
            batch = self._running.get(descriptor)
            if batch is None:
                continue
            frame = batch[0].execution.worker.read_reply_nowait()
            if frame is None:
                # The event belonged to a closed connection with the same number.
                self._watch_descriptor(descriptor)
            else:
                del self._running[descriptor]
                self._finish_batch(batch, frame)

    def _finish_batch(self, batch: list[_Running], frame: bytes) -> None:
        results = executions.finish_batch([run.execution for run in batch], frame)
        if len(batch) == 1:
            self._finish(batch[0], results[0])
            return
        pairs = list(zip(batch, results, strict=True))
        # The worker goes on with other requests while the replies are sent.
        self._run_again([run for run, result in pairs if isinstance(result, TakenBack)])
        if not isinstance(results[0], TakenBack):
            batch[0].execution.slot.release()
        for run, result in pairs:
            if isinstance(result, Answered | Failed):
                run.request.reply(result)

    def _run_again(self, runs: list[_Running]) -> None:
        """Queue the requests of a batch again, each to be evaluated alone; drop cancelled ones."""
        entries: list[tuple[Slot, Callable[[Slot], None]]] = []
        for run in runs:
            request, slot = run.request, run.execution.slot
            request.may_share = False
            if request.on_reply is not None:
                entries.append((slot, partial(self._on_grant, request)))
                self._add_waiting(request, slot)
            elif not slot.is_companion:
                slot.release()
        if entries:
            self._scheduler.requeue(entries)

    def _finish(self, run: _Running, result: Result) -> None:
        request, execution, slot = run.request, run.execution, run.execution.slot
        if isinstance(result, NotBegun):
            self._acquire_worker(request, slot, partial(self._retry, run))
        elif isinstance(result, TakenBack):
            self._run_again([run])
        elif isinstance(result, WorkerLost):
            explain = partial(execution.explain, result)
            if slot.is_slow:
                # There are many slow slots, and exiting processes must not pile up.
                explain = partial(explain, partial(self._call_in_loop, slot.release))
            else:
                slot.release()
            self._run_in_thread(self._reaping, explain, request.reply)
        else:
            slot.release()
            request.reply(result)

    def _schedule_poll(self) -> None:
        if self._poll_timer is None:
            self._poll_timer = self._loop.call_later(executions.POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        """Poll the runs that take long, and give up requests that waited too long."""
        now = time.monotonic()
        for descriptor, batch in list(self._running.items()):
            if len(batch) > 1:
                continue
            run, execution = batch[0], batch[0].execution
            is_due = execution.next_poll <= now
            if is_due and (not execution.poll(now) or run.is_abandoned()):
                del self._running[descriptor]
                self._finish(run, execution.expire())
        for slot, request in list(self._waiting.items()):
            is_in_time = request.deadline - slot.expected_seconds > now
            if not is_in_time and slot.abandon():
                self._remove_waiting(slot)
                age_seconds, expected_seconds = slot.age_seconds(), slot.expected_seconds
                request.reply(outcome.wait_timeout_error(age_seconds, expected_seconds))
        self._poll_timer = None
        if self._running or self._waiting:
            self._schedule_poll()

    def _check_batches(self) -> None:
        """Split long batches, and wake another worker for runs after their batch delay."""
        now = time.monotonic()
        has_batches = False
        for descriptor, batch in list(self._running.items()):
            if len(batch) > 1:
                has_batches = True
                if batch[0].execution.needs_split(now):
                    self._split(descriptor, batch)
        has_delayed = self._scheduler.release_batched()
        self._batch_timer = (
            self._loop.call_later(_BATCH_POLL_SECONDS, self._check_batches)
            if has_delayed or has_batches
            else None
        )

    def _split(self, descriptor: int, batch: list[_Running]) -> None:
        """Leave the worker only the request that it runs."""
        index = executions.split_batch([run.execution for run in batch])
        current = batch[index]
        if index:
            self._scheduler.hand_over(batch[0].execution.slot, current.execution.slot)
        self._running[descriptor] = [current]
        self._run_again([run for run in batch if run is not current])

    def _run_in_thread(
        self, threads: ThreadPoolExecutor, task: Callable[[], T], then: Callable[[T], None]
    ) -> None:
        """Call ``task`` in a thread, and ``then`` with its result in the loop."""

        def on_done(future: Future[T]) -> None:
            self._call_in_loop(partial(then, future.result()))

        threads.submit(task).add_done_callback(on_done)

    def _call_in_loop(self, task: Callable[[], None]) -> None:
        """Call ``task`` in the loop, from any thread."""
        # A closed loop has no callers that wait.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(task)

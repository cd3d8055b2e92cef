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
from function_script.sandbox import outcome
from function_script.sandbox.execution import POLL_SECONDS, Execution, NotBegun, WorkerLost
from function_script.sandbox.outcome import Cause, Failed, Reply
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
# The interval of ``Scheduler.release_batched``, see ``RuntimeEstimate.batch_delay``.
_BATCH_POLL_SECONDS = 0.002
_READ_ONCE = select.EPOLLIN | select.EPOLLONESHOT


class PendingRequest:
    """A request without a reply yet; an argument of ``Dispatcher.cancel``."""

    def __init__(self, data: bytes, deadline: float, on_reply: OnReply) -> None:
        self.data: Final = data
        self.deadline: Final = deadline
        self.on_reply: OnReply | None = on_reply

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
        # By the descriptor of the worker's connection.
        self._running: dict[int, _Running] = {}
        self._waiting: dict[PendingRequest, Slot] = {}
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
            self._waiting[request] = slot
            self._schedule_poll()
            if self._batch_timer is None:
                self._release_batched()
        else:
            self._assign_worker(request, slot)
        return request

    def cancel(self, request: PendingRequest) -> None:
        """Dequeue a request; a running one is completed, and its reply is dropped."""
        request.on_reply = None
        slot = self._waiting.get(request)
        if slot is not None and slot.abandon():
            del self._waiting[request]

    def close(self) -> None:
        """Kill the workers of running requests, which get no reply."""
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._poll_timer, self._batch_timer):
            if timer is not None:
                timer.cancel()
        self._reaping.shutdown()
        self._forking.shutdown()
        self._epoll.close()
        running = [run.execution.worker for run in self._running.values()]
        for worker in [*self._acquired, *running]:
            self._workers.kill(worker)

    def _on_grant(self, request: PendingRequest, slot: Slot) -> None:
        self._waiting.pop(request, None)
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
        execution = Execution(self._pool.context, slot, request.data, request.deadline, worker)
        execution.start()
        self._watch(_Running(request, execution))

    def _retry(self, run: _Running, worker: WorkerProcess) -> None:
        run.execution.retry(worker)
        self._watch(run)

    def _watch(self, run: _Running) -> None:
        """Expect the reply of a run that has started."""
        descriptor = run.execution.worker.fileno()
        self._running[descriptor] = run
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
            run = self._running.get(descriptor)
            if run is None:
                continue
            frame = run.execution.worker.read_reply_nowait()
            if frame is None:
                # The event belonged to a closed connection with the same number.
                self._watch_descriptor(descriptor)
            else:
                del self._running[descriptor]
                self._finish(run, run.execution.finish(frame))

    def _finish(self, run: _Running, result: Reply | WorkerLost | NotBegun) -> None:
        request, execution, slot = run.request, run.execution, run.execution.slot
        if isinstance(result, NotBegun):
            self._acquire_worker(request, slot, partial(self._retry, run))
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
            self._poll_timer = self._loop.call_later(POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        """Poll the runs that take long, and give up requests that waited too long."""
        now = time.monotonic()
        for descriptor, run in list(self._running.items()):
            execution = run.execution
            is_due = execution.next_poll <= now
            if is_due and (not execution.poll(now) or run.is_abandoned()):
                del self._running[descriptor]
                self._finish(run, execution.expire())
        for request, slot in list(self._waiting.items()):
            is_in_time = request.deadline - slot.expected_seconds > now
            if not is_in_time and slot.abandon():
                del self._waiting[request]
                age_seconds, expected_seconds = slot.age_seconds(), slot.expected_seconds
                request.reply(outcome.wait_timeout_error(age_seconds, expected_seconds))
        self._poll_timer = None
        if self._running or self._waiting:
            self._schedule_poll()

    def _release_batched(self) -> None:
        """Have the scheduler wake another worker for runs after their batch delay."""
        has_delayed = self._scheduler.release_batched()
        self._batch_timer = (
            self._loop.call_later(_BATCH_POLL_SECONDS, self._release_batched)
            if has_delayed
            else None
        )

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

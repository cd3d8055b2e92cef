"""A pool of worker processes: one request to one worker, under limits, with explained failures.

A zygote forks the workers (``fork_server``, ``zygote``). A request gets a slot or waits in a queue
(``scheduler``), gets an idle worker or a new one (``idle_workers``), and runs in it
(``execution``). Local tools call ``Pool.run`` from any thread; a server with an event loop uses a
``Dispatcher``. Requests are opaque bytes.
"""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from function_script.request.limits import MIB, Limits
from function_script.sandbox import capacity, outcome, system
from function_script.sandbox.batch import Batch, RequestIdentity, Run
from function_script.sandbox.execution import Executor, Loss, Result
from function_script.sandbox.history import History
from function_script.sandbox.idle_workers import IdleWorkers
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.scheduler import Scheduler
from function_script.sandbox.zygote_config import ZygoteConfig
from function_script.texts.errors import SandboxError

# The deadline of calls without one: Crossplane gives a whole pipeline two minutes.
_MAX_SECONDS = 600.0
# Of all requests that wait.
_QUEUE_SIZE = 1_000
# A response is at most the desired state of the request and the additions of the step.
_OUTPUT_BYTES = 16 * MIB
_CANCELLED = Failed(error=SandboxError.of("the run was cancelled"), cause=Cause.KILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The configuration of a pool.

    ``workers`` programs run at the same time. ``slow_workers`` more may have begun heavy ones
    (None: as many as the machine has memory for), of which ``heavy_runs`` run at the same time
    (None: as many as there are CPUs). ``min_idle`` idle workers are kept ready when others are
    lost.

    ``identify`` returns the facts about a request by which it is scheduled; it is called at most
    once for each. ``derive_seed`` returns the secret from which a request's random values derive,
    of 32 bytes, or b"" without a salt.
    ``batches``: short runs wait a moment for a running worker, which needs a ``Dispatcher``.
    ``module``, ``preload`` and ``warmup_requests``: see ``ZygoteConfig``.
    ``requires_confinement``: a worker that lacks a measure is not used.
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=capacity.cpu_count)
    slow_workers: int | None = None
    heavy_runs: int | None = None
    min_idle: int = 1
    max_request_bytes: int = 64 * MIB
    max_runs: int = 10_000
    identify: Callable[[bytes], RequestIdentity] = lambda _: RequestIdentity()
    derive_seed: Callable[[bytes], bytes] = lambda _: b""
    batches: bool = False
    module: str = "function_script.step.function"
    preload: tuple[str, ...] = ()
    warmup_requests: tuple[bytes, ...] = ()
    requires_confinement: bool = False


class Pool(AbstractContextManager["Pool"]):
    """Starts with its construction, ends with the ``with`` block or ``close``."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
        self._cancel_lock = threading.Lock()
        self._is_cancelled = False
        self._running: set[Batch] = set()
        slow = options.slow_workers
        if slow is None:
            slow = capacity.max_slow_slots(options.limits.memory_bytes, options.workers)
        heavy = capacity.heavy_slots() if options.heavy_runs is None else options.heavy_runs
        config = ZygoteConfig(
            module=options.module,
            preload=options.preload,
            warmup_requests=options.warmup_requests,
            limits=options.limits,
            max_runs=options.max_runs,
            capacity_bytes=options.max_request_bytes + _OUTPUT_BYTES,
        )
        history = History(capacity.usual_share(heavy))
        self._penalties = history.penalties
        self.scheduler = Scheduler(
            fast_slots=options.workers,
            heavy_slots=heavy,
            slow_slots=slow,
            queue_size=_QUEUE_SIZE,
            history=history,
            batch_delay=history.runtimes.batch_delay if options.batches else lambda: 0.0,
        )
        self.workers = IdleWorkers(
            system.build_factory(config, is_strict=options.requires_confinement),
            # As many as run at the same time, so that none is killed for having ended, and the
            # spare ones.
            max_idle=options.workers + min(heavy, slow) + options.min_idle,
            min_idle=options.min_idle,
        )
        self.executor = Executor(options.limits, self.scheduler, self.workers, history)

    def __exit__(self, *_: object) -> None:
        self.close()

    def prefork(self) -> None:
        """Spawn all workers before the first request; raise SandboxError when that fails."""
        self.workers.prefork(self._options.workers)

    def submit(
        self,
        data: bytes,
        timeout_seconds: float | None,
        on_start: Callable[[Batch], None],
        on_reply: Callable[[Reply], None],
    ) -> Run:
        """Begin to evaluate a request, queue it, or refuse it; see ``Run`` for the callbacks."""
        seconds = _MAX_SECONDS if timeout_seconds is None else min(timeout_seconds, _MAX_SECONDS)
        deadline = time.monotonic() + seconds
        run = Run(data, self._options.identify, deadline, on_start, on_reply)
        # Here and not in a worker, where a program that breaks out could read the salt.
        run.seed = self._options.derive_seed(data)
        if len(data) > self._options.max_request_bytes:
            max_bytes = self._options.max_request_bytes
            run.reply(outcome.request_too_large_error(len(data), max_bytes))
        else:
            if self._penalties:
                run.is_penalized = self._penalties.contains(run.identity.key)
            self.scheduler.submit(run)
        return run

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request in a worker.

        ``timeout_seconds`` is the time until the caller's deadline, waiting for a worker included;
        None: only the step's own limit holds. Never raises because of what a program does.
        """
        events: queue.SimpleQueue[Batch | Reply] = queue.SimpleQueue()
        run = self.submit(data, timeout_seconds, events.put, events.put)
        reply: Reply | None = None
        while reply is None:
            try:
                # The thread that waits refuses overdue runs itself: this pool has no timer.
                event = events.get(timeout=max(run.latest_start - time.monotonic(), 0.0))
            except queue.Empty:
                self.scheduler.refuse_overdue(time.monotonic())
                continue
            reply = self._evaluate(event) if isinstance(event, Batch) else event
        # A worker that `cancel` killed is explained and replaced like any other.
        return _CANCELLED if self._is_cancelled else reply

    def cancel(self) -> None:
        """Fail the runs of `run` that have begun or wait, and later ones until `allow_runs`."""
        with self._cancel_lock:
            self._is_cancelled = True
            for batch in self._running:
                batch.worker.kill()

    def allow_runs(self) -> None:
        """Run again after `cancel`; call it when the cancelled runs have returned."""
        with self._cancel_lock:
            self._is_cancelled = False

    def close(self) -> None:
        """End all processes."""
        self.workers.close()

    def _evaluate(self, batch: Batch) -> Reply | None:
        """Evaluate the only run of a batch; return None if it is queued again."""
        unfinished: list[Run] = []
        try:
            if self._is_cancelled:
                return _CANCELLED
            batch.start(self.workers.acquire())
            result = self._wait(batch)
            if not isinstance(result, Loss) and result[0] is None:
                unfinished = [batch.run]
        except SandboxError as error:
            return Failed(error=error, cause=Cause.KILLED)
        finally:
            self.scheduler.release(batch, unfinished)
        if isinstance(result, Loss):
            # Without the slot, which the next run may use: a large process takes long to exit.
            return self.executor.explain(batch, result)
        return result[0]

    def _wait(self, batch: Batch) -> Result:
        """Poll a run until its reply comes or its time is over; `cancel` may kill its worker."""
        with self._cancel_lock:
            self._running.add(batch)
            # `cancel` may have come before the batch was among those that it kills.
            if self._is_cancelled:
                batch.worker.kill()
        try:
            while True:
                frame = batch.worker.read_reply(batch.next_poll - time.monotonic())
                if frame is not None or not self.executor.poll(batch, time.monotonic()):
                    break
        finally:
            # Later, others may have reaped it.
            with self._cancel_lock:
                self._running.remove(batch)
        return self.executor.expire(batch) if frame is None else self.executor.finish(batch, frame)

"""A pool of worker processes: one request to one worker, under limits, with explained failures.

A zygote forks the workers (``fork_server``, ``zygote``). A request gets a slot or waits in a queue
(``scheduler``), gets an idle worker or a new one (``idle_workers``), and runs in it
(``execution``). Local tools call ``Pool.run`` from any thread; a server with an event loop uses a
``Dispatcher``. Requests are opaque bytes.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Self

from function_script.errors import SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import capacity, outcome, system
from function_script.sandbox.confinement import Confinement
from function_script.sandbox.execution import (
    Execution,
    NotBegun,
    PoolContext,
    Result,
    TakenBack,
    WorkerLost,
)
from function_script.sandbox.history import CostEstimates, PenaltyBox, RuntimeEstimate
from function_script.sandbox.idle_workers import IdleWorkers
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.scheduler import Scheduler, Slot
from function_script.sandbox.zygote_config import ANSWER_SECONDS, ZygoteConfig

# The longest wait for a worker: Crossplane gives a whole pipeline two minutes.
_MAX_WAIT_SECONDS = 600.0
# A response is at most the desired state of the request and the additions of the step.
_OUTPUT_BYTES = 16 * MIB


def _no_key(_: bytes) -> Hashable:
    return None


def no_seed(_: bytes) -> bytes:
    """Return the seed of a request without a salt."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The configuration of a pool.

    ``workers`` programs run at the same time. ``slow_workers`` more may have begun heavy ones
    (None: as many as the machine has memory for), of which ``heavy_runs`` run at the same time
    (None: as many as there are CPUs). ``min_idle`` idle workers are kept ready when others are
    lost. ``queue_size`` bounds the requests that wait.

    ``fairness_key`` returns the owner of a request: those that wait are served round robin by it.
    ``penalty_key`` returns the key that is penalized for a lost worker and that costs are estimated
    by (None: the fairness key); ``program_key`` the key that a new one's cost is estimated by.
    ``derive_seed`` returns the secret from which a request's random values derive, of 32 bytes, or
    b"" without a salt.
    ``batches``: short runs wait a moment for a running worker, which needs a ``Dispatcher``.
    ``module``, ``preload`` and ``warmup_requests``: see ``ZygoteConfig``.
    ``requires_confinement``: a worker that lacks a measure is not used.
    ``answer_seconds``: see ``ForkServer``.
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=capacity.cpu_count)
    slow_workers: int | None = None
    heavy_runs: int | None = None
    min_idle: int = 1
    queue_size: int = 1_000
    max_request_bytes: int = 64 * MIB
    max_runs: int = 10_000
    fairness_key: Callable[[bytes], Hashable] = _no_key
    penalty_key: Callable[[bytes], Hashable] | None = None
    program_key: Callable[[bytes], Hashable] = _no_key
    derive_seed: Callable[[bytes], bytes] = no_seed
    batches: bool = False
    module: str = "function_script.function"
    preload: tuple[str, ...] = ()
    warmup_requests: tuple[bytes, ...] = ()
    requires_confinement: bool = False
    answer_seconds: float = ANSWER_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStats:
    """The numbers of queued requests, fast runs, other begun runs and idle workers.

    ``retired``: workers that were ended as planned, since the start.
    """

    waiting: int = 0
    busy: int = 0
    slow: int = 0
    idle: int = 0
    retired: int = 0


class Pool:
    """Starts with its construction, ends with the ``with`` block or ``close``."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
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
        runtimes = RuntimeEstimate()
        scheduler = Scheduler(
            fast_slots=options.workers,
            heavy_slots=heavy,
            slow_slots=slow,
            queue_size=options.queue_size,
            batch_delay=runtimes.batch_delay if options.batches else float,
        )
        self._factory = system.build_factory(
            config,
            answer_seconds=options.answer_seconds,
            is_strict=options.requires_confinement,
        )
        self.context = PoolContext(
            limits=options.limits,
            scheduler=scheduler,
            workers=IdleWorkers(
                self._factory,
                max_idle=options.workers + min(heavy, slow) + options.min_idle,
                min_idle=options.min_idle,
            ),
            runtimes=runtimes,
            penalties=PenaltyBox(),
            costs=CostEstimates(),
            penalty_key=options.penalty_key or options.fairness_key,
            program_key=options.program_key,
            derive_seed=options.derive_seed,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def prefork(self) -> None:
        """Spawn all workers before the first request; raise SandboxError when that fails."""
        self.context.workers.prefork(self._options.workers)

    def request_slot(
        self, data: bytes, deadline: float, on_grant: Callable[[Slot], None]
    ) -> Slot | Failed:
        """Return a slot for a request (see ``Scheduler.request_slot``), or why there is none."""
        if len(data) > self._options.max_request_bytes:
            return outcome.request_too_large_error(len(data), self._options.max_request_bytes)
        profile = self.context.profile(data, deadline - time.monotonic())
        key_of = partial(self._options.fairness_key, data)
        return self.context.scheduler.request_slot(key_of, on_grant, profile)

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request in a worker.

        ``timeout_seconds`` is the time until the caller's deadline, waiting for a worker included;
        None: only the step's own limit holds. Never raises because of what a program does.
        """
        deadline = deadline_after(timeout_seconds)
        granted = threading.Event()
        slot = self.request_slot(data, deadline, lambda _: granted.set())
        if isinstance(slot, Failed):
            return slot
        if slot.is_waiting:
            granted.wait(max(0.0, deadline - slot.expected_seconds - time.monotonic()))
            if not granted.is_set() and slot.abandon():
                return outcome.wait_timeout_error(slot.age_seconds(), slot.expected_seconds)
        with slot:
            try:
                worker = self.context.workers.acquire(coldest=slot.is_penalized)
                execution = Execution(self.context, slot, data, deadline, worker)
                result = self._run(execution)
            except SandboxError as error:
                return Failed(error=error, cause=Cause.KILLED)
        if isinstance(result, WorkerLost):
            # Without the slot, which the next run may use: a large process takes long to exit.
            return execution.explain(result)
        return result

    def stats(self) -> PoolStats:
        """Return how busy the pool is."""
        scheduler, workers = self.context.scheduler, self.context.workers
        return PoolStats(
            waiting=scheduler.waiting,
            busy=scheduler.busy,
            slow=scheduler.slow,
            idle=workers.idle,
            retired=workers.retired,
        )

    def confinement(self) -> Confinement:
        """Return the confinement that all workers have, as they reported it themselves."""
        return self._factory.confinement()

    def is_available(self) -> bool:
        """Report whether a worker lives, or the last requested one was spawned in time."""
        return self._factory.is_available()

    def close(self) -> None:
        """End all processes."""
        self.context.workers.close()

    def _run(self, execution: Execution) -> Reply | WorkerLost:
        """Run to the end; retry when the worker was exiting already.

        Raise SandboxError when there is no worker for another attempt.
        """
        execution.start()
        while isinstance(result := _wait(execution), NotBegun | TakenBack):
            execution.retry(self.context.workers.acquire(coldest=execution.slot.is_penalized))
        return result


def _wait(execution: Execution) -> Result:
    """Poll a run until its reply comes or its time is over."""
    while True:
        frame = execution.worker.read_reply(execution.next_poll - time.monotonic())
        if frame is not None:
            return execution.finish(frame)
        if not execution.poll(time.monotonic()):
            return execution.expire()


def deadline_after(timeout_seconds: float | None) -> float:
    """Return the deadline (monotonic seconds) of a caller with that much time left."""
    remaining = _MAX_WAIT_SECONDS if timeout_seconds is None else timeout_seconds
    return time.monotonic() + min(remaining, _MAX_WAIT_SECONDS)

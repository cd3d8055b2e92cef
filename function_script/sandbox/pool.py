"""The pool: one request to one worker, under limits, with an explanation for each that is lost.

Local tools and the threaded transport call ``run``, from any thread; a server with an event loop
puts a ``Switchboard`` on it. A pool knows limits and processes; it reads no requests.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

from function_script.errors import SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import capacity, outcome, system
from function_script.sandbox.costs import Costs
from function_script.sandbox.execution import Execution, PoolContext, WorkerLost
from function_script.sandbox.idle_workers import IdleWorkers
from function_script.sandbox.outcome import Cause, Failed, Reply
from function_script.sandbox.pace import RuntimeEstimate
from function_script.sandbox.scheduler import Scheduler, Slot
from function_script.sandbox.suspects import PenaltyBox
from function_script.sandbox.zygote_config import ANSWER_SECONDS, ZygoteConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import TracebackType

    from function_script.sandbox.measures import Confinement

# Nobody waits longer for a worker: Crossplane gives a whole pipeline two minutes.
_PATIENCE_SECONDS = 600.0
# A response is at most the desired state that came with the request, and what the step adds.
_ROOM_FOR_OUTPUT_BYTES = 16 * MIB


def _of_nobody(_: bytes) -> Hashable:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How a pool is run.

    ``workers`` run programs at the same time. ``slow_workers`` more may have begun heavy ones
    (None: as many as the machine bears), of which ``heavy_runs`` go on at the same time (None: as
    many as there are CPUs); ``spare`` idle ones are kept ready when others are lost.
    ``key_of`` says whose a request is: those who wait take turns by it. ``suspect_of`` says who is
    to blame for a worker that is lost (None: the same), and whose cost is learned; ``program_of``
    says whose cost it is likely to be otherwise. ``gathers``: short runs wait a moment for a
    worker that is awake; for a Switchboard, which looks after them.
    ``module``, ``preload`` and ``rehearsals`` make workers warm at birth (see Settings).
    ``requires_confinement``: no worker that lacks a measure is used. ``answer_seconds``: see
    Nursery.
    """

    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=capacity.cpu_count)
    slow_workers: int | None = None
    heavy_runs: int | None = None
    spare: int = 1
    max_waiting: int = 1_000
    max_request_bytes: int = 64 * MIB
    max_runs: int = 10_000
    key_of: Callable[[bytes], Hashable] = _of_nobody
    suspect_of: Callable[[bytes], Hashable] | None = None
    program_of: Callable[[bytes], Hashable] = _of_nobody
    gathers: bool = False
    module: str = "function_script.function"
    preload: tuple[str, ...] = ()
    rehearsals: tuple[bytes, ...] = ()
    requires_confinement: bool = False
    answer_seconds: float = ANSWER_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStats:
    """Requests in line, quick runs, others that have begun, idle workers.

    ``retired``: workers ended in good order so far.
    """

    waiting: int = 0
    busy: int = 0
    slow: int = 0
    idle: int = 0
    retired: int = 0


class Pool:
    """Starts on construction, ends with the ``with`` block or ``close``."""

    def __init__(self, options: PoolOptions) -> None:
        self._options = options
        slow = options.slow_workers
        if slow is None:
            slow = capacity.max_slow_slots(options.limits.memory_bytes, options.workers)
        settings = ZygoteConfig(
            module=options.module,
            preload=options.preload,
            rehearsals=options.rehearsals,
            limits=options.limits,
            max_runs=options.max_runs,
            capacity_bytes=options.max_request_bytes + _ROOM_FOR_OUTPUT_BYTES,
        )
        heavy = capacity.heavy_runs() if options.heavy_runs is None else options.heavy_runs
        pace = RuntimeEstimate()
        places = Scheduler(
            quick=options.workers,
            heavy=heavy,
            slow=slow,
            waiting=options.max_waiting,
            gathering_seconds=pace.gathering_seconds if options.gathers else float,
        )
        self._nursery = system.build_nursery(
            settings,
            answer_seconds=options.answer_seconds,
            is_strict=options.requires_confinement,
        )
        self.means = PoolContext(
            limits=options.limits,
            places=places,
            crew=IdleWorkers(
                self._nursery,
                max_idle=options.workers + min(heavy, slow) + options.spare,
                spare=options.spare,
            ),
            pace=pace,
            suspects=PenaltyBox(),
            costs=Costs(),
            suspect_of=options.suspect_of or options.key_of,
            program_of=options.program_of,
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

    def fill(self) -> None:
        """Have workers ready before the first request; raises SandboxError when it cannot be."""
        self.means.crew.hire(self._options.workers)

    def enter(self, data: bytes, end: float, on_turn: Callable[[], None]) -> Slot | Failed:
        """A place for a request (see Places.enter) whose caller waits until ``end``."""
        if len(data) > self._options.max_request_bytes:
            return outcome.request_too_large_error(len(data), self._options.max_request_bytes)
        prospects = self.means.prospects(data, end - time.monotonic())
        key_of = partial(self._options.key_of, data)
        return self.means.places.enter(key_of, on_turn, prospects)

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request in a worker.

        ``timeout_seconds`` is what is left of the caller's time, waiting for a worker included;
        None: no other limit than the step's own. Never raises for what a program did.
        """
        end = deadline(timeout_seconds)
        turn = threading.Event()
        place = self.enter(data, end, turn.set)
        if isinstance(place, Failed):
            return place
        if place.is_waiting:
            turn.wait(max(0.0, end - place.expected_seconds - time.monotonic()))
            if not turn.is_set() and place.give_up():
                return outcome.wait_timeout_error(place.age_seconds(), place.expected_seconds)
        run = Execution(self.means, place, data, end)
        with place:
            reply = self._to_end(run)
        if isinstance(reply, WorkerLost):
            # The next one may run meanwhile: a large process takes its time to end.
            return run.explain(reply)
        return reply

    def load(self) -> PoolStats:
        """How busy it is, for the operator."""
        places, crew = self.means.places, self.means.crew
        return PoolStats(
            waiting=places.waiting,
            busy=places.busy,
            slow=places.slow,
            idle=crew.idle,
            retired=crew.retired,
        )

    def confinement(self) -> Confinement:
        """What holds for all workers there are, as they reported it themselves."""
        return self._nursery.confinement()

    def is_able(self) -> bool:
        """Whether a worker lives, or one could be had when the last was asked for."""
        return self._nursery.is_able()

    def close(self) -> None:
        """End all processes."""
        self.means.crew.close()

    def _to_end(self, run: Execution) -> Reply | WorkerLost:
        """Evaluate in the next worker that lives to begin; one may be dying when it is picked."""
        reply = None
        while reply is None:
            try:
                child = self.means.crew.take(coldest=run.is_suspect)
            except SandboxError as error:
                return Failed(error=error, cause=Cause.KILLED)
            run.begin(child)
            frame = child.receipt(run.due - time.monotonic())
            while frame is None and run.look(time.monotonic()):
                frame = child.receipt(run.due - time.monotonic())
            reply = run.end(frame)
        return reply


def deadline(timeout_seconds: float | None) -> float:
    """The moment (monotonic seconds) until which a caller with that much time left waits."""
    left = _PATIENCE_SECONDS if timeout_seconds is None else timeout_seconds
    return time.monotonic() + min(left, _PATIENCE_SECONDS)

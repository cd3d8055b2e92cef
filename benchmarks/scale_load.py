"""The load of many XRs in fact: calls at a rate, whether the last ones were answered or not.

Calls arrive at random, as XRs' do, and at most ``IN_FLIGHT`` are under way, as many as Crossplane
reconciles at once. Latency counts from the time at which a call was due.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import grpc
from load import METHOD
from measure import Target, cpu_seconds, memory_mib
from workloads import Workload, check, renewed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The default of Crossplane's --max-concurrent-reconciles.
IN_FLIGHT: Final = 100
# A function's deadline in Crossplane.
_DEADLINE_SECONDS: Final = 20.0
# A knee is passed when less than this share of what was offered is answered in time.
_ANSWERED: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rate for some seconds. Times in milliseconds; CPU of the server as a share of one."""

    offered: float
    answered: float
    failures: int
    p50_ms: float
    p99_ms: float
    cpu_share: float
    memory_mib: float

    def is_borne(self, p99_ms: float) -> bool:
        """Report whether all was answered, soon enough."""
        has_kept_up = self.answered >= _ANSWERED * self.offered
        return has_kept_up and not self.failures and self.p99_ms <= p99_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A server, and the requests that it gets."""

    target: Target
    workload: Workload
    requests: Sequence[bytes]


def climb(rate: float, factor: float) -> Iterator[float]:
    """Yield rising rates."""
    while True:
        yield rate
        rate *= factor


def find_knee(
    load: Load, rates: Iterator[float], *, seconds: float, p99_ms: float
) -> tuple[float, list[Step]]:
    """Return the highest rate that was borne, and all steps; one that was not is tried twice."""
    steps: list[Step] = []
    knee = 0.0
    for rate in rates:
        for _ in range(2):
            steps.append(offer(load, rate, seconds))
            if steps[-1].is_borne(p99_ms):
                knee = rate
                break
        else:
            break
    return knee, steps


def offer(load: Load, rate: float, seconds: float) -> Step:
    """Offer ``rate`` calls a second; wait for all of them."""
    latencies: list[float] = []
    failures: list[str] = []
    slots = threading.Semaphore(IN_FLIGHT)
    arrivals = random.Random(1)  # noqa: S311 - the same arrivals in every run, not secrets
    with grpc.insecure_channel(
        load.target.address, options=[("grpc.max_receive_message_length", -1)]
    ) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
        call = channel.unary_unary(METHOD)
        before, began = cpu_seconds(load.target.pid), time.perf_counter()
        due = began
        number = int(time.time() * 1000) % 10**9
        count = 0
        while (due := due + arrivals.expovariate(rate)) < began + seconds:
            if (delay := due - time.perf_counter()) > 0:
                time.sleep(delay)
            slots.acquire()
            data = load.requests[count % len(load.requests)]
            data = renewed(data, number + count) if load.workload.new else data
            count += 1

            def finish(future: grpc.Future, due: float = due) -> None:
                slots.release()
                if (error := future.exception()) is not None:
                    failures.append(str(error))
                    return
                latencies.append(time.perf_counter() - due)
                if len(latencies) % 50 == 1:
                    check(load.workload, future.result())

            call.future(data, timeout=_DEADLINE_SECONDS).add_done_callback(finish)
        for _ in range(IN_FLIGHT):
            slots.acquire()
        elapsed = time.perf_counter() - began
        cpu = cpu_seconds(load.target.pid) - before
    ordered = sorted(latencies) or [float("inf")]
    return Step(
        offered=count / seconds,
        answered=len(latencies) / elapsed,
        failures=len(failures),
        p50_ms=statistics.median(ordered) * 1e3,
        p99_ms=ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1e3,
        cpu_share=cpu / elapsed,
        memory_mib=memory_mib(load.target.pid),
    )

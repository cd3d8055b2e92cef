"""Answers of a server under more load than it bears, and the CPU time that is lost for nothing.

Heavy calls arrive at random, at a multiple of the rate at which one call at a time is answered. The
server has one CPU: alone, at a quota, or beside processes that use what they get.
"""

from __future__ import annotations

import os
import random
import statistics
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc
from judged import Finding
from load import METHOD
from measure import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from e2e.serving import Server

DEADLINE_SECONDS: Final = 12.0
HEAVY_SECONDS: Final = 0.4
_CPUS: Final = frozenset({0})
_SMALL_PAUSE_SECONDS: Final = 0.1
_HIERARCHIES: Final = (
    (Path("/sys/fs/cgroup"), "cpu.max", "{quota} {period}"),
    (Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us", "{quota}"),
)
_PERIOD: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The other users of the server's CPU, and the figures that are asked of it there."""

    name: str
    quota: float | None = None
    spinning: int = 0
    lost: float = 0.1
    small_p99_ms: float = 200.0


SURROUNDINGS: Final = (
    Surroundings(name="one CPU"),
    Surroundings(name="a quota of 0.25", quota=0.25, small_p99_ms=500.0),
    Surroundings(name="beside two spinning processes", spinning=2, lost=0.15),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server, and the requests of an XR by its name: a heavy and a small one.

    ``transport_seconds`` is the CPU time of a small call outside of its worker, which the log does
    not count.
    """

    server: Server
    heavy: Callable[[str], bytes]
    small: Callable[[str], bytes]
    transport_seconds: float = 0.0


@dataclass(slots=True)
class Row:
    """The calls of some seconds. ``answers`` are the times of heavy ones since the start."""

    seconds: float
    answers: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    longest_wait: float = 0.0
    small: list[float] = field(default_factory=list)
    small_failures: int = 0
    cpu: float = 0.0
    useful: float = 0.0

    @property
    def rate(self) -> float:
        """Heavy answers a second while calls came."""
        return sum(at < self.seconds for at in self.answers) / self.seconds

    def third(self, number: int) -> float:
        """Heavy answers a second in a third of the time."""
        start, end = (self.seconds * each / 3 for each in (number, number + 1))
        return sum(start <= at < end for at in self.answers) / (end - start)

    def p99_ms(self) -> float:
        """Of small calls."""
        ordered = sorted(self.small) or [float("inf")]
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1e3


@contextmanager
def control_group(quota: float | None) -> Iterator[Path]:
    """Create a control group with a quota of CPU time; raise OSError where that is not possible.

    Processes of the root group share a CPU by sessions (``sched_autogroup_enabled``), those of any
    other group by their number, as in a container.
    """
    for root, name, content in _HIERARCHIES:
        # Without a hierarchy there, it is a directory like others.
        if not (root / "cgroup.procs").exists():
            continue
        group = root / f"overload-{os.getpid()}"
        group.mkdir()
        try:
            if (group / name).exists():
                if quota is not None:
                    text = content.format(quota=int(quota * _PERIOD), period=_PERIOD)
                    (group / name).write_text(text)
                yield group
                return
        finally:
            group.rmdir()
    raise OSError("cannot create a control group with a quota of CPU time")


@contextmanager
def confined(group: Path) -> Iterator[None]:
    """Start processes on one CPU, in a control group."""
    procs, cpus = group.parent / "cgroup.procs", os.sched_getaffinity(0)
    (group / "cgroup.procs").write_text(str(os.getpid()))
    os.sched_setaffinity(0, _CPUS)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cpus)
        procs.write_text(str(os.getpid()))


def measure_transport(target: Target, seconds: float) -> float:
    """Return the CPU time of a small call outside of its worker."""
    row = Row(seconds)
    with _observed(target, row):
        time.sleep(seconds)
    return (row.cpu - row.useful) / len(row.small)


def call_alone(target: Target, seconds: float) -> Row:
    """Call one heavy program at a time, with small calls beside."""
    row = Row(seconds)
    with _observed(target, row), _open(target) as call:
        started, number = time.monotonic(), 0
        while (at := time.monotonic() - started) < seconds:
            call(target.heavy(f"alone-{number % 100}"), timeout=60.0)
            row.answers.append(time.monotonic() - started)
            row.outcomes["OK"] += 1
            number += 1
        # The last call may end after the time.
        row.seconds = max(at, row.answers[-1])
    return row


def offer(target: Target, rate: float, seconds: float) -> Row:
    """Offer so many heavy calls a second, with small calls beside; wait for all of them."""
    row, lock, pending = Row(seconds), threading.Lock(), threading.Semaphore(0)
    arrivals = random.Random(1)  # noqa: S311 - the same arrivals in every run, not secrets
    with _observed(target, row), _open(target) as call:
        started = due = time.monotonic()
        count = 0
        while (due := due + arrivals.expovariate(rate)) < started + seconds:
            time.sleep(max(due - time.monotonic(), 0.0))
            came = time.monotonic()

            def finish(future: grpc.Future, came: float = came) -> None:
                error, now = future.exception(), time.monotonic()
                with lock:
                    row.outcomes["OK" if error is None else error.code().name] += 1
                    if error is None:
                        row.answers.append(now - started)
                    else:
                        row.longest_wait = max(row.longest_wait, now - came)
                pending.release()

            future = call.future(target.heavy(f"xr-{count % 500}"), timeout=DEADLINE_SECONDS)
            future.add_done_callback(finish)
            count += 1
        for _ in range(count):
            pending.acquire()
    return row


@contextmanager
def _open(target: Target) -> Iterator[grpc.UnaryUnaryMultiCallable]:
    with target.server.channel() as channel:
        yield channel.unary_unary(METHOD)


@contextmanager
def _observed(target: Target, row: Row) -> Iterator[None]:
    """Send small calls, and note the CPU time that the server used and what went into answers."""
    server = target.server
    before, lines = cpu_seconds(server.pid), len(server.log)
    with _small_calls(target, row):
        yield
    time.sleep(0.5)  # The last lines of the log are on their way.
    row.cpu = cpu_seconds(server.pid) - before
    answered = (line for line in [*server.log][lines:] if line.get("outcome") == "ok")
    row.useful = sum(float(str(line["cpu_milliseconds"])) for line in answered) / 1e3
    row.useful += (len(row.small) - row.small_failures) * target.transport_seconds


@contextmanager
def _small_calls(target: Target, row: Row) -> Iterator[None]:
    end = threading.Event()

    def ask() -> None:
        number = 0
        with _open(target) as call:
            while not end.wait(_SMALL_PAUSE_SECONDS):
                came = time.monotonic()
                try:
                    call(target.small(f"small-{number % 50}"), timeout=DEADLINE_SECONDS)
                except grpc.RpcError:
                    row.small_failures += 1
                row.small.append(time.monotonic() - came)
                number += 1

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def judge(name: str, where: Surroundings, alone: Sequence[Row], row: Row) -> list[Finding]:
    """Compare a row with what one run at a time gave before and after it."""
    rate = statistics.mean(each.rate for each in alone)
    return [
        Finding(f"{name}: CPU time that no answer got", where.lost, 1 - row.useful / row.cpu),
        Finding(f"{name}: answers a second fewer than one at a time", 0.1, 1 - row.rate / rate),
        Finding(
            f"{name}: fewer in the last third than in the first",
            0.15,
            1 - row.third(2) / row.third(0) if row.third(0) else 0.0,
        ),
        Finding(f"{name}: small calls, p99 in ms", where.small_p99_ms, row.p99_ms()),
        Finding(f"{name}: small calls that failed", 0, row.small_failures),
    ]


def describe(name: str, row: Row) -> str:
    """Return a line about a row."""
    return (
        f"{name}: {row.rate:.2f} answers/s (thirds {row.third(0):.2f}, {row.third(1):.2f}, "
        f"{row.third(2):.2f}), {dict(row.outcomes)}, CPU {row.cpu:.1f} s, "
        f"of which {row.useful / row.cpu:.2f} in answers, "
        f"{row.useful / len(row.answers) * 1e3:.0f} ms each, "
        f"refused after {row.longest_wait:.1f} s at most, "
        f"small p50 {statistics.median(row.small) * 1e3:.0f} ms p99 {row.p99_ms():.0f} ms, "
        f"load {os.getloadavg()[0]:.1f}"
    )

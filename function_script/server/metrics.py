"""The metrics: counted from records of finished requests, and read from the pool when asked for.

Answering calls ``observe`` once per request, from any thread; the probes' server calls ``render``.
Labels have few values, all of them ours: no names of objects, no text of users.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily

from function_script import __version__, inputs, wire
from function_script.limits import BUILT_IN, LIMITS, PRINTED
from function_script.sandbox import Load
from function_script.sandbox.outcome import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.metrics_core import Metric

    from function_script.server.records import Record

PREFIX = "function_script"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

UNKNOWN = "unknown"
_INPUTS = {*(kind for _, kind in inputs.LANGUAGES), UNKNOWN}
_LIMIT_NAMES = (*LIMITS, PRINTED, BUILT_IN)
# Causes by which the worker of a request is lost with it.
_LOSSES = tuple(cause.value for cause in Cause if cause not in {Cause.WAITED, Cause.REFUSED})
# From a small template to a loop that ends at its limit.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Up to the 4 MiB that Crossplane accepts of a response, and more of requests.
_BYTES = tuple(float(1 << exponent) for exponent in range(10, 27, 2))


class Gauges(NamedTuple):
    """This moment; ``certificate_expiry`` in seconds since 1970, None without TLS."""

    load: Load = Load()
    certificate_expiry: float | None = None


class Metrics:
    """All metrics of one server, in a registry of its own."""

    def __init__(self, gauges: Callable[[], Gauges]) -> None:
        # Half of all lines would say when a counter began.
        disable_created_metrics()  # type: ignore[no-untyped-call] # theirs
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", _REQUESTS, "input", "outcome")
        self._seconds = self._histogram("request_duration_seconds", _DURATION, _SECONDS, "input")
        stages = self._histogram("stage_duration_seconds", _STAGES, _SECONDS, "stage")
        self._waited, self._ran, self._program = (stages.labels(stage) for stage in STAGES)
        self._received = self._histogram("request_size_bytes", _RECEIVED, _BYTES)
        self._sent = self._histogram("response_size_bytes", _SENT, _BYTES)
        self._documents = self._counter("documents", _DOCUMENTS, "input")
        lookups = self._counter("memory_lookups", _LOOKUPS, "result")
        self._hits, self._misses = lookups.labels("hit"), lookups.labels("miss")
        self._limits = self._counter("limits_hit", _LIMITS_HIT, "limit")
        self._lost = self._counter("worker_restarts", _RESTARTS, "cause")
        for limit in _LIMIT_NAMES:
            self._limits.labels(limit)
        for cause in _LOSSES:
            self._lost.labels(cause)
        self._children: dict[tuple[str, str], tuple[Counter, Histogram, Counter]] = {}
        self._registry.register(_Gauges(gauges))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def observe(self, record: Record) -> None:
        """Count one finished request."""
        requests, seconds, documents = self._children_of(record)
        requests.inc()
        seconds.observe(record.seconds)
        self._waited.observe(record.waited_seconds)
        self._ran.observe(max(record.seconds - record.waited_seconds, 0.0))
        if record.program_seconds is not None:
            self._program.observe(record.program_seconds)
        self._received.observe(record.request_bytes)
        self._sent.observe(record.response_bytes)
        self._count(record, documents)

    def render(self) -> bytes:
        """All of them, in Prometheus' text format."""
        return generate_latest(self._registry)

    def _count(self, record: Record, documents: Counter) -> None:
        if record.counts:
            hits = record.counts.get("remembered", 0)
            documents.inc(record.counts.get("documents", 0))
            self._hits.inc(hits)
            self._misses.inc(max(record.counts.get("looked_up", 0) - hits, 0))
        if record.limit:
            self._limits.labels(record.limit if record.limit in _LIMIT_NAMES else UNKNOWN).inc()
        if record.outcome in _LOSSES:
            self._lost.labels(record.outcome).inc()

    def _children_of(self, record: Record) -> tuple[Counter, Histogram, Counter]:
        """The metrics that depend on the input; looking them up by label costs more."""
        key = (record.identity.get("input", UNKNOWN), record.outcome)
        if key[0] not in _INPUTS:
            key = (UNKNOWN, record.outcome)
        found = self._children.get(key)
        if found is None:
            found = (
                self._requests.labels(*key),
                self._seconds.labels(key[0]),
                self._documents.labels(key[0]),
            )
            self._children[key] = found
        return found

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}_{name}", text, labels, registry=self._registry)

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(f"{PREFIX}_{name}", text, labels, buckets=buckets, registry=self._registry)


class _Gauges:
    """What is not counted but looked at when somebody asks."""

    def __init__(self, gauges: Callable[[], Gauges]) -> None:
        self._gauges = gauges

    def describe(self) -> Iterator[Metric]:
        """The same without values, so that nothing is looked at while registering."""
        yield from self._families(Gauges())

    def collect(self) -> Iterator[Metric]:
        """What Prometheus' client calls."""
        yield from self._families(self._gauges())

    def _families(self, now: Gauges) -> Iterator[Metric]:
        yield GaugeMetricFamily(f"{PREFIX}_queue_length", _QUEUE, value=now.load.waiting)
        workers = GaugeMetricFamily(f"{PREFIX}_workers", _WORKERS, labels=["state"])
        for state in WORKER_STATES:
            workers.add_metric([state], getattr(now.load, state))
        yield workers
        expiry = GaugeMetricFamily(f"{PREFIX}_certificate_expiry_timestamp_seconds", _EXPIRY)
        if now.certificate_expiry is not None:
            expiry.add_metric([], now.certificate_expiry)
        yield expiry
        build = GaugeMetricFamily(f"{PREFIX}_build_info", _BUILD, labels=list(BUILD))
        build.add_metric(list(BUILD.values()), 1)
        yield build


STAGES = ("queue", "run", "program")
WORKER_STATES = ("busy", "slow", "idle")
BUILD = {
    "version": __version__,
    "python": platform.python_version(),
    "codec": "compiled" if wire.is_compiled() else "interpreted",
}

_REQUESTS = "Requests that were answered, in whatever way."
_DURATION = "From a request's arrival to its response."
_STAGES = "Parts of that: queue, before a worker was free; run, after that; program, the part of \
run in which the user's program ran."
_RECEIVED = "Size of requests."
_SENT = "Size of responses. Crossplane accepts 4 MiB."
_DOCUMENTS = "Composed resources that programs stated, changed or not."
_LOOKUPS = "Texts that workers looked up among those they had read before."
_LIMITS_HIT = "Requests that ended at a limit."
_RESTARTS = "Workers that were lost with the request they worked on, and replaced."
_QUEUE = "Requests that wait for a worker."
_WORKERS = "Worker processes: busy with a short run, busy with a long one, or idle."
_EXPIRY = "When the server's certificate expires; none without TLS."
_BUILD = "Always 1; its labels say what is running."

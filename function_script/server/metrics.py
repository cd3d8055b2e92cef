"""The metrics: counted from records of finished requests, and read from the pool for each scrape.

The request handler calls ``observe`` from any thread; the HTTP server for operators calls
``render``. Labels have few values, which are constants: no names of objects, no text of users.
"""

from __future__ import annotations

import platform
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from function_script import __version__, inputs, wire
from function_script.request.limits import BUILT_IN, LIMITS, PRINTED
from function_script.sandbox.confinement import Confinement, Measure
from function_script.sandbox.outcome import Cause
from function_script.server.request_record import RequestRecord
from function_script.step.telemetry import IDENTITY, RequestInfo

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

PREFIX = "function_script"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

UNKNOWN = "unknown"
_INPUTS = {*(kind for _, kind in inputs.LANGUAGES), UNKNOWN}
_LIMIT_NAMES = (*LIMITS, PRINTED, BUILT_IN)
# The outcomes of requests whose worker was lost.
_LOSSES = tuple(cause.value for cause in Cause if cause not in {Cause.WAITED, Cause.REFUSED})
# From a small template to an endless loop at its limit.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Up to the 4 MiB that Crossplane accepts of a response, and more of requests.
_BYTES = tuple(float(1 << exponent) for exponent in range(10, 27, 2))

# The number of observations that are counted at once. It bounds the delay of one request.
_MAX_PENDING: Final = 64
# The number of steps of XRs whose last response is known.
_MAX_FINGERPRINTS: Final = 20_000
# Digits of a fingerprint that identify the program.
_PROGRAM_DIGITS: Final = 8


class Gauges(NamedTuple):
    """The values of a scrape; ``certificate_expiry`` in seconds since 1970, None without TLS.

    ``waiting`` counts queued requests, ``busy`` fast runs, ``slow`` other begun runs, ``idle``
    workers; ``retired`` workers that were ended as planned, since the start.
    ``rejected`` counts calls that the server rejected before the handler, by status;
    ``dropped_lines`` the lines of the log that its reader did not take. ``remote_counts`` has hits,
    fetches and failures of remote programs; it is empty where no host is allowed.
    """

    waiting: int = 0
    busy: int = 0
    slow: int = 0
    idle: int = 0
    retired: int = 0
    certificate_expiry: float | None = None
    rejected: Mapping[str, int] = {}
    dropped_lines: int = 0
    confinement: Confinement = Confinement()
    remote_counts: Mapping[str, int] = {}
    running_fetches: int = 0


class Metrics:
    """All metrics of one server, in a registry of its own.

    The counters are here, because those of Prometheus' client take three times as long.
    ``max_fingerprints`` is the number of steps of XRs whose last response is known.
    """

    def __init__(
        self, gauges: Callable[[], Gauges], max_fingerprints: int = _MAX_FINGERPRINTS
    ) -> None:
        self._gauges = gauges
        self._lock = Lock()
        # Both ends of a deque are thread-safe, so only counting takes the lock.
        self._pending: deque[RequestRecord] = deque()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, _Histogram] = defaultdict(lambda: _Histogram(_SECONDS))
        self._queue, self._run, self._program = (_Histogram(_SECONDS) for _ in STAGES)
        self._cpu = _Histogram(_SECONDS)
        self._request_bytes, self._response_bytes = _Histogram(_BYTES), _Histogram(_BYTES)
        self._documents: Counter[str] = Counter()
        self._lookups = Counter(hit=0, miss=0)
        self._limits: Counter[str] = Counter(dict.fromkeys(_LIMIT_NAMES, 0))
        self._restarts: Counter[str] = Counter(dict.fromkeys(_LOSSES, 0))
        self._unchanged: Counter[str] = Counter(dict.fromkeys(sorted(_INPUTS), 0))
        self._max_fingerprints = max_fingerprints
        # By a hash of XR, step and program, in the order of their last use.
        self._fingerprints: dict[int, str] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def observe(self, record: RequestRecord) -> None:
        """Count a finished request together with later ones, which takes half as long."""
        self._pending.append(record)
        if len(self._pending) >= _MAX_PENDING:
            with self._lock:
                self._count()

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics with their samples, as a collector of Prometheus' client."""
        # Complete before the lock is free again: the event loop must not wait for a page.
        with self._lock:
            self._count()
            counters = [*self._collect_counters()]
        yield from counters
        yield from _collect_gauges(self._gauges())

    def _count(self) -> None:
        """Count the pending observations; the lock is held."""
        pending = self._pending
        while pending:
            record = pending.popleft()
            info, outcome, waited = record.info, record.outcome, record.waited_seconds
            kind = info.input if info.input in _INPUTS else UNKNOWN
            self._requests[kind, outcome] += 1
            self._seconds[kind].observe(record.seconds)
            self._queue.observe(waited)
            self._run.observe(max(record.seconds - waited, 0.0))
            self._cpu.observe(record.cpu_seconds)
            if info.program_microseconds is not None:
                self._program.observe(info.program_microseconds * 1e-6)
            self._request_bytes.observe(record.request_bytes)
            self._response_bytes.observe(record.response_bytes)
            if info.documents is not None:
                self._documents[kind] += info.documents
            hits = info.remembered or 0
            self._lookups["hit"] += hits
            self._lookups["miss"] += max((info.looked_up or 0) - hits, 0)
            if info.limit:
                self._limits[info.limit if info.limit in _LIMIT_NAMES else UNKNOWN] += 1
            if outcome in self._restarts:
                self._restarts[outcome] += 1
            if self._is_repeated(info):
                self._unchanged[kind] += 1

    def _is_repeated(self, info: RequestInfo) -> bool:
        """Report whether the last response for an XR and a step added the same, and store it."""
        fingerprint = info.fingerprint
        key = hash((info[: len(IDENTITY)], fingerprint[:_PROGRAM_DIGITS]))
        before = self._fingerprints.pop(key, None)
        if fingerprint:
            self._fingerprints[key] = fingerprint
        if len(self._fingerprints) > self._max_fingerprints:
            # The first key is that of the step which was called longest ago.
            del self._fingerprints[next(iter(self._fingerprints))]
        return bool(fingerprint) and fingerprint == before

    def _collect_counters(self) -> Iterator[Metric]:
        yield _counters("requests", _REQUESTS, ["input", "outcome"], self._requests)
        name = "request_duration_seconds"
        yield _histograms(name, _DURATION, ["input"], self._seconds)
        stages = dict(zip(STAGES, (self._queue, self._run, self._program), strict=True))
        yield _histograms("stage_duration_seconds", _STAGES, ["stage"], stages)
        yield _histograms("run_cpu_seconds", _CPU, [], {"": self._cpu})
        yield _histograms("request_size_bytes", _RECEIVED, [], {"": self._request_bytes})
        yield _histograms("response_size_bytes", _SENT, [], {"": self._response_bytes})
        yield _counters("documents", _DOCUMENTS, ["input"], self._documents)
        yield _counters("unchanged_responses", _UNCHANGED, ["input"], self._unchanged)
        yield _counters("memory_lookups", _LOOKUPS, ["result"], self._lookups)
        yield _counters("limits_hit", _LIMITS_HIT, ["limit"], self._limits)
        yield _counters("worker_restarts", _RESTARTS, ["cause"], self._restarts)


class _Histogram:
    """Counts of values up to each bound, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Return Prometheus' cumulative buckets: bound and count, the last without a bound."""
        names = [*map(str, self.bounds), "+Inf"]
        return list(zip(names, accumulate(self.counts), strict=True))


def _counters(
    name: str,
    text: str,
    labels: list[str],
    counts: Mapping[tuple[str, str], int] | Mapping[str, int],
) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}_{name}", text, labels=labels)
    for key, count in counts.items():
        family.add_metric([key] if isinstance(key, str) else list(key), count)
    return family


def _histograms(
    name: str, text: str, labels: list[str], histograms: Mapping[str, _Histogram]
) -> Metric:
    family = HistogramMetricFamily(f"{PREFIX}_{name}", text, labels=labels)
    for key, histogram in histograms.items():
        family.add_metric([key] if key else [], histogram.buckets(), histogram.total)
    return family


def _collect_gauges(gauges: Gauges) -> Iterator[Metric]:
    yield GaugeMetricFamily(f"{PREFIX}_queue_length", _QUEUE, value=gauges.waiting)
    workers = GaugeMetricFamily(f"{PREFIX}_workers", _WORKERS, labels=["state"])
    for state in WORKER_STATES:
        workers.add_metric([state], getattr(gauges, state))
    yield workers
    confinement = GaugeMetricFamily(
        f"{PREFIX}_worker_confinement", _CONFINEMENT, labels=["measure"]
    )
    for measure in Measure:
        confinement.add_metric([measure.value], float(measure not in gauges.confinement.missing))
    yield confinement
    name = f"{PREFIX}_workers_retired"
    yield CounterMetricFamily(name, _RETIRED, value=gauges.retired)
    yield _counters("calls_refused", _REFUSED, ["status"], gauges.rejected)
    yield CounterMetricFamily(f"{PREFIX}_log_lines_dropped", _DROPPED, value=gauges.dropped_lines)
    yield _counters("remote_programs", _REMOTE, ["event"], gauges.remote_counts)
    yield GaugeMetricFamily(f"{PREFIX}_remote_fetches", _FETCHES, value=gauges.running_fetches)
    expiry = GaugeMetricFamily(f"{PREFIX}_certificate_expiry_timestamp_seconds", _EXPIRY)
    if gauges.certificate_expiry is not None:
        expiry.add_metric([], gauges.certificate_expiry)
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

# The meanings in the reference, too.
_REQUESTS = "Requests, by their result."
_DURATION = "Time from the arrival of a request to its response."
_STAGES = "Parts of the time of a request."
_CPU = "CPU time of the runs in their workers. The time limit bounds it."
_RECEIVED = "Size of requests."
_SENT = "Size of responses. Crossplane accepts 4 MiB."
_DOCUMENTS = "Composed resources of programs, changed or not."
_UNCHANGED = "Responses that added to desired state what the one before for the same XR and step \
had added, without results."
_LOOKUPS = "Look-ups in the caches of documents."
_LIMITS_HIT = "Requests that ended at a limit."
_RESTARTS = "Workers that were lost during a request, and replaced."
_RETIRED = "Workers that were replaced between requests: after many requests, because their \
caches had grown, or after a long run."
_REFUSED = "Calls that the server refused before a worker saw them, or whose response is too \
large for any client."
_DROPPED = "Lines of the log that were dropped because nothing read standard error."
_QUEUE = "Requests that wait for a worker."
_WORKERS = "Worker processes: busy with a fast run, with a heavy one (running or paused), or idle."
_CONFINEMENT = "1 if the measure is in force in every worker, by their own report."
_REMOTE = "Remote programs and modules. Absent without --remote-allow."
_FETCHES = "Fetches of remote programs that run now."
_EXPIRY = "Time at which the server's certificate expires. Absent without TLS."
_BUILD = "Always 1. The labels have the versions."

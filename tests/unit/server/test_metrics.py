"""The metrics: counts of a request, values of the pool, and the bounds of labels."""

import re
import time
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support import request_records, server_logs
from support.sandbox_handlers import PROBLEM
from support.timing import stretched

from function_script.sandbox.outcome import Cause, Failed
from function_script.server import log, metrics, request_record
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts.errors import LimitError

INFO = request_records.INFO._replace(looked_up=4, remembered=1)
RECORD = request_records.RECORD._replace(seconds=0.02, info=INFO)


def samples(
    *records: request_record.RequestRecord, gauges: metrics.Gauges | None = None
) -> dict[str, float]:
    """Return the rendered samples, ``name{label="value"}`` to number."""
    server_metrics = metrics.Metrics(lambda: gauges or metrics.Gauges())
    for record in records:
        server_metrics.observe(record)
    lines = server_metrics.render().decode().splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name.removeprefix("function_script_"): float(value) for name, _, value in pairs}


def test_request_is_counted_by_input_and_outcome() -> None:
    values = samples(RECORD, RECORD)
    assert values['requests_total{input="GoTemplate",outcome="ok"}'] == 2
    assert values['request_duration_seconds_sum{input="GoTemplate"}'] == pytest.approx(0.04)
    assert values['stage_duration_seconds_sum{stage="queue"}'] == pytest.approx(0.01)
    assert values['stage_duration_seconds_sum{stage="run"}'] == pytest.approx(0.03)
    assert values['stage_duration_seconds_sum{stage="program"}'] == pytest.approx(0.02)
    assert values["request_size_bytes_sum"] == 2_000
    assert values["response_size_bytes_sum"] == 1_000
    assert values['documents_total{input="GoTemplate"}'] == 6
    assert values['memory_lookups_total{result="hit"}'] == 2
    assert values['memory_lookups_total{result="miss"}'] == 6


class Name(str):
    """The name of an XR, with weak references."""

    __slots__ = ("__weakref__",)


def test_few_requests_wait_to_be_counted() -> None:
    """They are counted at a scrape, or when there are many of them."""
    server_metrics = metrics.Metrics(metrics.Gauges)
    alive: list[weakref.ref[Name]] = []
    for _ in range(1_000):
        name = Name("demo")
        alive.append(weakref.ref(name))
        server_metrics.observe(RECORD._replace(info=INFO._replace(name=name, documents=1)))
    del name
    assert sum(name() is not None for name in alive) <= 100
    assert (
        'function_script_documents_total{input="GoTemplate"} 1000.0'
        in server_metrics.render().decode()
    )


def test_threads_count_together() -> None:
    server_metrics = metrics.Metrics(metrics.Gauges)

    def observe(_: int) -> None:
        for _ in range(400):
            server_metrics.observe(RECORD)

    with ThreadPoolExecutor(5) as threads:
        asking = [threads.submit(server_metrics.render) for _ in range(3)]
        list(threads.map(observe, range(4)))
        for scrape in asking:
            scrape.result()
    text = server_metrics.render().decode()
    assert 'requests_total{input="GoTemplate",outcome="ok"} 1600.0' in text
    assert 'request_duration_seconds_count{input="GoTemplate"} 1600.0' in text


def test_requests_are_counted_while_a_page_is_made() -> None:
    """The event loop would wait for the page otherwise."""
    server_metrics = metrics.Metrics(metrics.Gauges)
    page = server_metrics.collect()
    next(page)
    for _ in range(100):
        server_metrics.observe(RECORD)
    assert "requests_total" in server_metrics.render().decode()


def test_lost_worker_is_counted_by_its_cause() -> None:
    """The limit is counted, too; requests that never ran have lost no worker."""
    values = samples(
        RECORD._replace(outcome="timeout", info=INFO._replace(limit="time")),
        RECORD._replace(outcome="waited"),
        RECORD._replace(outcome="fatal", info=INFO._replace(limit="steps")),
    )
    assert values['worker_restarts_total{cause="timeout"}'] == 1
    assert sum(value for name, value in values.items() if name.startswith("worker_re")) == 1
    assert values['limits_hit_total{limit="time"}'] == 1
    assert values['limits_hit_total{limit="steps"}'] == 1


def test_pool_is_looked_at_when_asked() -> None:
    gauges = metrics.Gauges(7, busy=2, slow=1, idle=3, retired=4, certificate_expiry=12.0)
    values = samples(gauges=gauges)
    assert values["queue_length"] == 7
    assert values["workers_retired_total"] == 4
    assert [values[f'workers{{state="{state}"}}'] for state in metrics.WORKER_STATES] == [2, 1, 3]
    assert values["certificate_expiry_timestamp_seconds"] == 12
    assert "certificate_expiry_timestamp_seconds" not in samples()
    assert any(name.startswith("build_info{") for name in values)


def test_labels_have_values_of_ours_only() -> None:
    """Facts of a worker do not become new time series."""
    hostile = RequestInfo(input="x" * 50, name="secret", language="perl", limit="mine")
    odd = RECORD._replace(info=hostile)
    text = "\n".join(samples(odd))
    assert 'requests_total{input="unknown",outcome="ok"}' in text
    assert 'limits_hit_total{limit="unknown"}' in text
    assert not re.search("xxx|secret|perl|mine|demo|XThing", "\n".join([text, *samples(RECORD)]))


def test_record_has_what_the_worker_counted() -> None:
    """Counts that are not known are left out, and those that are zero stay."""
    info = RequestInfo(name="x", documents=0, looked_up=7, program_microseconds=1_500)
    record = request_record.build_record(Answered(response=b"", info=info), b"request", 3, 0.5)
    assert record.info.identity() == {"name": "x"}
    assert record.info.counts() == {"documents": 0, "looked_up": 7}
    assert (record.outcome, record.level) == ("ok", "info")
    assert (record.request_bytes, record.response_bytes) == (7, 3)


def test_record_of_a_fatal_answer_says_why() -> None:
    reply = Answered(response=b"", diagnostics=(PROBLEM,))
    record = request_record.build_record(reply, b"request", 3, 0.5)
    assert record.outcome == "fatal"
    assert record.error == "main.star:2:3: cannot run: for the test (none)"


def test_record_of_a_lost_worker_is_read_from_the_request() -> None:
    """The worker did not report the identity."""
    error = LimitError.of("cannot run", limit="memory")
    reply = Failed(error=error, cause=Cause.MEMORY, detail="wait status 6", waited_seconds=0.2)
    record = request_record.build_record(reply, b"\xff", 3, 0.5)
    assert (record.outcome, record.info.limit) == ("memory", "memory")
    assert record.info.identity() == {"input": "unknown"}
    assert record.outcome in request_record.OUTCOMES
    assert record.detail == "wait status 6"
    assert record.level == "warning"
    bug = request_record.build_record(replace(reply, cause=Cause.BUG), b"", 3, 0.5)
    assert (bug.level, bug.outcome) == ("error", "bug")


def test_metrics_and_log_are_cheap(capfd: pytest.CaptureFixture[str]) -> None:
    """Both together take less than 100 microseconds of CPU time for a request."""
    server_metrics = metrics.Metrics(metrics.Gauges)
    count = 500
    with server_logs.restored():
        log.start(debug=False)
        began = time.process_time()
        for _ in range(count):
            server_metrics.observe(RECORD)
            log.write(RECORD)
        each = (time.process_time() - began) / count
    server_logs.text(capfd)
    assert each < stretched(100e-6)


def test_unchanged_responses_are_those_with_the_fingerprint_of_the_one_before() -> None:
    fingerprints = ["aaaaaaaa11", "aaaaaaaa11", "bbbbbbbb22", "aaaaaaaa12", "aaaaaaaa12", "", ""]
    infos = [INFO._replace(fingerprint=each) for each in fingerprints]
    infos += [INFO._replace(fingerprint="aaaaaaaa12", name="another")]
    records = [RECORD._replace(info=info) for info in infos]
    assert samples(*records)['unchanged_responses_total{input="GoTemplate"}'] == 2


def test_last_responses_are_remembered_of_a_number_of_steps() -> None:
    server_metrics = metrics.Metrics(metrics.Gauges, max_fingerprints=2)
    for name in ("a", "b", "c", "c", "a"):
        info = INFO._replace(fingerprint="aaaaaaaa11", name=name)
        server_metrics.observe(RECORD._replace(info=info))
    assert b'unchanged_responses_total{input="GoTemplate"} 1.0' in server_metrics.render()


def test_last_response_is_remembered_in_a_few_bytes() -> None:
    """A name of any length may be in a request."""
    server_metrics = metrics.Metrics(metrics.Gauges)
    count = 6_400
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(count):
            name, fingerprint = f"{number}{'x' * 5_000}", f"aaaaaaaa{number:016x}"
            info = INFO._replace(name=name, fingerprint=fingerprint)
            server_metrics.observe(RECORD._replace(info=info))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / count < 400

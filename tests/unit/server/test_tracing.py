"""Spans: their attributes and parents, and when there are none."""

import logging

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from support import request_records

from function_script.server import request_record, tracing
from function_script.step.telemetry import RequestInfo

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
RECORD = request_records.RECORD._replace(
    seconds=0.5, waited_seconds=0.2, error="cannot tell secrets"
)


def span_of(record: request_record.RequestRecord) -> ReadableSpan:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with tracing.Tracing(provider) as traces:
        traces.observe(record)
        (span,) = exporter.get_finished_spans()
    return span


def test_span_says_what_the_log_says() -> None:
    span = span_of(RECORD)
    assert (span.name, span.kind) == ("RunFunction", SpanKind.SERVER)
    assert span.status.status_code is StatusCode.UNSET
    assert span.attributes == {
        "rpc.system": "grpc",
        "rpc.method": "RunFunction",
        "function_script.outcome": "ok",
        "function_script.request_bytes": 1_000,
        "function_script.response_bytes": 500,
        "function_script.api_version": "example.org/v1",
        "function_script.kind": "XThing",
        "function_script.name": "demo",
        "function_script.input": "GoTemplate",
        "function_script.documents": 3,
    }


def test_span_lasts_as_long_as_its_request() -> None:
    span = span_of(RECORD)
    assert span.start_time is not None
    assert span.end_time is not None
    assert (span.end_time - span.start_time) / 1e9 == pytest.approx(0.5)
    events = {event.name: (event.timestamp - span.start_time) / 1e9 for event in span.events}
    assert events == {"worker found": pytest.approx(0.2), "program ran": pytest.approx(0.5)}


def test_span_is_a_child_of_the_callers() -> None:
    """The header is that of W3C Trace Context; an invalid one starts a new trace."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    span = span_of(RECORD._replace(parent=f"00-{trace}-b7ad6b7169203331-01"))
    assert span.parent is not None
    assert f"{span.parent.trace_id:x}" == trace.lstrip("0")
    assert span_of(RECORD._replace(parent="nonsense")).parent is None


def test_failure_is_an_error_with_its_limit() -> None:
    """The status lets users search for failed requests."""
    span = span_of(RECORD._replace(outcome="timeout", info=RequestInfo(limit="time")))
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["function_script.limit"] == "time"


OFF = [
    pytest.param({}, id="nothing is set"),
    pytest.param({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, id="disabled"),
    pytest.param({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, id="no exporter"),
]


@pytest.mark.parametrize("environ", OFF)
def test_tracing_without_an_endpoint_is_off(environ: dict[str, str]) -> None:
    """There is no observer, so no cost."""
    assert not tracing.is_on(environ)


def test_tracing_without_an_exporter_names_the_image_that_has_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server starts without traces."""
    monkeypatch.setattr(tracing, "has_exporter", lambda: False)
    with caplog.at_level(logging.WARNING):
        assert not tracing.is_on(ENDPOINT)
    assert "the image and the package with -otel in their name have it" in caplog.text


def test_service_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is function-script, unless the standard variable sets another."""
    for name, expected in ((None, "function-script"), ("mine", "mine")):
        if name is not None:
            monkeypatch.setenv("OTEL_SERVICE_NAME", name)
        with tracing.build_tracing() as traces:
            assert traces._provider.resource.attributes["service.name"] == expected

"""OpenTelemetry traces: one span per request, with the extra ``otel`` and an endpoint.

A span is made from the record of a finished request, so tracing costs nothing while a request runs,
and nothing at all when it is off.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from function_script import __version__
from function_script.server import log
from function_script.server.background import Background
from function_script.server.request_record import OK, RequestRecord

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_NANOSECONDS = 1_000_000_000
# A span has times of its own, and no texts of errors.
_IN_LOG_ALONE = {"error", "detail"} | {
    f"{name}milliseconds" for name in ("", "waited_", "cpu_", "program_")
}


def is_on(environ: Mapping[str, str]) -> bool:
    """Report whether spans are sent; a line of the log says what is missing, if they should be."""
    # The standard variables set an endpoint, and do not disable traces.
    is_asked_for = (
        any(environ.get(name) for name in _ENDPOINTS)
        and environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
        and environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp"
    )
    if not is_asked_for or has_exporter():
        return is_asked_for
    _LOG.warning(
        "not tracing: an OTLP endpoint is set, and no exporter is installed: "
        "the image and the package with -otel in their name have it, and so has the extra otel"
    )
    return False


def has_exporter() -> bool:
    """Report whether the exporter is installed, without importing it."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def build_tracing() -> Tracing:
    """Return tracing by OTLP over HTTP to the endpoint of the standard variables."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    resource = Resource.create()
    # The default, without OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "function-script"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


class Tracing(AbstractContextManager["Tracing"]):
    """Makes spans of records within a ``with`` block; its end sends the last ones."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - an extra
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an extra
            TraceContextTextMapPropagator,
        )

        self._provider = provider
        self._tracer = provider.get_tracer("function_script", __version__)
        self._propagator = TraceContextTextMapPropagator()
        self._kind = trace.SpanKind.SERVER
        self._error = trace.Status(trace.StatusCode.ERROR)

    def __exit__(self, *_: object) -> None:
        # While the collector does not answer, this would take half a minute.
        closing = Background("traces", self._provider.shutdown, 0)
        closing.submit()
        closing.close()

    def observe(self, record: RequestRecord) -> None:
        """Send the span of a request that was answered just now."""
        end = time.time_ns()
        start = end - int(record.seconds * _NANOSECONDS)
        run_start = start + int(record.waited_seconds * _NANOSECONDS)
        span = self._tracer.start_span(
            "RunFunction",
            context=self._propagator.extract({"traceparent": record.parent}),
            kind=self._kind,
            start_time=start,
            attributes=attributes(record),
        )
        span.add_event("worker found", timestamp=run_start)
        microseconds = record.info.program_microseconds
        if microseconds is not None:
            seconds = {"function_script.program_seconds": microseconds * 1e-6}
            span.add_event("program ran", seconds, timestamp=end)
        if record.outcome != OK:
            span.set_status(self._error)
        span.end(end)


def attributes(record: RequestRecord) -> dict[str, str | int | float]:
    """Return the attributes of a span: the fields of the request's log line, but for these."""
    values = log.fields_of(record)
    return {
        "rpc.system": "grpc",
        "rpc.method": "RunFunction",
        **{f"function_script.{key}": values[key] for key in values.keys() - _IN_LOG_ALONE},
    }

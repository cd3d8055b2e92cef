"""Traces: one span per request, for whoever installed the extra ``otel`` and set an endpoint.

A server's life starts it; answering hands over each record when all is done, so that a request
costs nothing for it while it runs, and nothing at all when tracing is off.
"""

from __future__ import annotations

import logging
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from function_script import __version__
from function_script.server.request_record import OK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack
    from types import TracebackType

    from opentelemetry.sdk.trace import TracerProvider

    from function_script.server.request_record import RequestRecord

_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_NANOSECONDS = 1_000_000_000


def observers(
    environ: Mapping[str, str], stack: ExitStack
) -> list[Callable[[RequestRecord], None]]:
    """Who is to be told of requests: nobody, or spans that are sent until ``stack`` ends."""
    if not is_wanted(environ):
        return []
    if not _is_installed():
        _LOG.warning("not tracing: the extra otel is not installed")
        return []
    return [stack.enter_context(to_endpoint()).observe]


def _is_installed() -> bool:
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the standard variables say where to send traces, and nothing says not to."""
    return (
        any(environ.get(name) for name in _ENDPOINTS)
        and environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
        and environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp"
    )


def to_endpoint() -> Tracing:
    """Traces sent by OTLP over HTTP, as the standard variables say; the extra is installed."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    resource = Resource.create()
    # Unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say another.
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "function-script"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


class Tracing:
    """Makes spans of records until its ``with`` block ends, which sends the last ones."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._provider.shutdown()

    def observe(self, record: RequestRecord) -> None:
        """The span of a request that has just been answered."""
        end = time.time_ns()
        begin = end - int(record.seconds * _NANOSECONDS)
        found = begin + int(record.waited_seconds * _NANOSECONDS)
        span = self._tracer.start_span(
            "RunFunction",
            context=self._propagator.extract({"traceparent": record.parent}),
            kind=self._kind,
            start_time=begin,
            attributes=attributes(record),
        )
        span.add_event("worker found", timestamp=found)
        if record.program_seconds is not None:
            seconds = {"function_script.program_seconds": record.program_seconds}
            span.add_event("program ran", seconds, timestamp=end)
        if record.outcome != OK:
            span.set_status(self._error)
        span.end(end)


def attributes(record: RequestRecord) -> dict[str, str | int]:
    """What a span says of a request: what its line in the log says, but for errors."""
    values: dict[str, str | int] = {
        "rpc.system": "grpc",
        "rpc.method": "RunFunction",
        "function_script.outcome": record.outcome,
        "function_script.request_bytes": record.request_bytes,
        "function_script.response_bytes": record.response_bytes,
    }
    for source in (record.identity, record.counts, {"limit": record.limit} if record.limit else {}):
        values.update({f"function_script.{key}": value for key, value in source.items()})
    return values

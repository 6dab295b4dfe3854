"""Spans for OpenTelemetry: one for each request, and in it one for each stage that the engine ran for it.

Litestar's own plugin is not used: its spans are named after paths, and these hold ids of documents. Spans carry what a
log line does: the route and never its ids, the status, the code of an error, the request id. The only importer of
opentelemetry.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from api.settings import Settings, SettingsError

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

PARENT_HEADERS = (b"traceparent", b"tracestate")
"""Of the W3C's trace context: a caller's span, which the request's becomes a child of."""


class Traces:
    """Where spans go.

    Args:
        provider: makes spans and exports them; its sampler decides which.
    """

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._trace = trace
        self._tracer = provider.get_tracer("quarry")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> Generator[RequestSpan]:
        """A span around one request, current while the block runs."""
        carrier = {name.decode(): value.decode("latin-1") for name, value in headers if name in PARENT_HEADERS}
        parent = self._propagator.extract(carrier)
        kind = self._trace.SpanKind.SERVER
        with self._tracer.start_as_current_span(
            method, context=parent, kind=kind, record_exception=False, set_status_on_exception=False
        ) as span:
            yield RequestSpan(span)

    def stage(self, name: str, seconds: float) -> None:
        """A span that ends now, in the span of the request that the caller works for; without one, nothing."""
        if not self._trace.get_current_span().is_recording():
            return
        end = time.time_ns()
        span = self._tracer.start_span(name, start_time=end - int(seconds * 1e9))
        span.end(end)

    def close(self) -> None:
        """Export what is left."""
        shutdown = getattr(self._provider, "shutdown", None)
        if shutdown is not None:
            shutdown()


class RequestSpan:
    """The span of one request."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def finish(self, method: str, route: str, status: int, request_id: str, code: str | None) -> None:
        """What is known when the answer was sent."""
        span = self._span
        if not span.is_recording():
            return
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
                "quarry.request_id": request_id,
            }
        )
        if code is not None:
            span.set_attribute("error.type", code)
        if status >= 500:
            from opentelemetry.trace import StatusCode

            span.set_status(StatusCode.ERROR)


def open_traces(settings: Settings) -> Traces | None:
    """Where the settings want spans to go; None when they want none.

    The exporter reads the standard variables, ``OTEL_EXPORTER_OTLP_ENDPOINT`` and ``OTEL_SERVICE_NAME`` among them.

    Raises:
        SettingsError: what exports spans is not installed.
    """
    if settings.traces == "off":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("QUARRY_TRACES=otlp needs the extra: pip install 'quarry-search[otel]'.") from error
    # What the environment says of the service goes before the default name.
    provider = TracerProvider(resource=Resource({"service.name": "quarry"}).merge(Resource.create()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Traces(provider)

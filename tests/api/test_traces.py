"""Spans of a real server, in memory and over OTLP."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from api.app import create_app
from api.settings import Settings, SettingsError
from api.tracing import Traces
from tests.api.conftest import ARTICLES
from tests.api.serving import Api, ProcessServer, ThreadServer, wait_until

ROUTE = "/v1/namespaces/{namespace}"


class Traced:
    """A server whose spans are kept in memory."""

    def __init__(self, api: Api, exporter: InMemorySpanExporter) -> None:
        self.api = api
        self._exporter = exporter

    def spans(self, request: str) -> list[ReadableSpan]:
        """The span of the last request of that name, and those in it."""

        def found() -> list[ReadableSpan]:
            return [span for span in self._exporter.get_finished_spans() if span.name == request]

        # The span ends after the last byte was sent.
        wait_until(found)
        last = found()[-1]
        assert last.context
        children = [
            s for s in self._exporter.get_finished_spans() if s.parent and s.parent.span_id == last.context.span_id
        ]
        return [last, *children]


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with ThreadServer(traces=Traces(provider)) as server, Api(server.url) as api:
        yield Traced(api, exporter)


def test_a_request_is_a_span_with_its_route_and_status_and_no_id(traced: Traced) -> None:
    traced.api.upload("n", *ARTICLES)
    answer = traced.api.get("/v1/namespaces/n/documents/cats?x=secret")
    span, *_ = traced.spans(f"GET {ROUTE}/documents/{{document_id}}")
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": f"{ROUTE}/documents/{{document_id}}",
        "http.response.status_code": 200,
        "quarry.request_id": answer.headers["X-Request-Id"],
    }
    assert "cats" not in span.to_json()
    assert "secret" not in span.to_json()


def test_the_stages_of_an_upload_and_of_a_search_are_in_the_span_of_their_request(traced: Traced) -> None:
    traced.api.upload("n", *ARTICLES)
    _, *stages = traced.spans(f"POST {ROUTE}/documents")
    assert {span.name for span in stages} == {"derive", "write"}
    for stream in (False, True):
        assert traced.api.search("n", stream=stream).status_code == 200
        request, *stages = traced.spans(f"POST {ROUTE}/search")
        steps = {"search", "plan", "read", "answer", "verify"}
        of_queries = {"embed", "lexical", "vector", "hydrate", "rank"}
        assert {span.name for span in stages} == steps | of_queries
        for span in stages:
            # A stage is told of when it ends, with its length: its beginning is known to the length's precision.
            assert (request.start_time or 0) <= (span.start_time or 0) + 1_000_000
            assert (span.end_time or 0) <= (request.end_time or 0)


def test_a_callers_span_is_the_parent_of_the_requests(traced: Traced) -> None:
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    traced.api.get("/v1/namespaces", headers={"traceparent": f"00-{trace}-{parent}-01"})
    span, *_ = traced.spans("GET /v1/namespaces")
    assert span.context
    assert span.parent
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (trace, parent)


def test_an_error_is_named_by_its_code_and_only_a_fault_of_the_server_is_one_of_the_span(traced: Traced) -> None:
    traced.api.get("/v1/namespaces/none")
    span, *_ = traced.spans(f"GET {ROUTE}")
    assert (span.attributes or {})["error.type"] == "namespace_not_found"
    assert span.status.status_code is StatusCode.UNSET


def test_a_server_exports_over_otlp_when_it_is_told_to(tmp_path: Path) -> None:
    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.path.encode() + self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        environment = {
            "QUARRY_TRACES": "otlp",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        with ProcessServer(tmp_path, **environment) as server, Api(server.url) as api:
            api.get("/v1/namespaces")
            assert server.stop() == 0
        collector.shutdown()
        thread.join()
    sent = b"".join(received)
    assert sent.startswith(b"/v1/traces")
    assert b"GET /v1/namespaces" in sent
    assert b"quarry" in sent


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Python marks a module that is not there.
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingsError, match=r"pip install 'quarry-search\[otel\]'"):
        create_app(Settings(traces="otlp"))

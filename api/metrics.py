"""Prometheus metrics: of requests, and of the engine through its `Observer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)
_STAGE_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 60)


class Metrics:
    """All numbers of one server. Implements the engine's `Observer`; thread-safe.

    Args:
        on_stage: is told of each stage of the engine as well.
    """

    def __init__(self, on_stage: Callable[[str, float], None] | None = None) -> None:
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._registry = registry
        self._requests = Counter(
            "quarry_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "quarry_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ("method", "route"),
            buckets=_REQUEST_SECONDS,
            registry=registry,
        )
        self._stages = Histogram(
            "quarry_stage_seconds",
            "Stages of searches and uploads.",
            ("stage",),
            buckets=_STAGE_SECONDS,
            registry=registry,
        )
        self._tokens = Counter(
            "quarry_model_tokens", "Tokens of the language model.", ("direction",), registry=registry
        )
        self._counts = Counter("quarry_engine_events", "What the engine counts, by name.", ("name",), registry=registry)
        self._unavailable = Gauge(
            "quarry_namespace_unavailable",
            "1 for each namespace that cannot be opened.",
            ("company", "namespace"),
            registry=registry,
        )
        self._gauges: dict[str, Gauge] = {}
        self._stage_of: dict[str, Histogram] = {}
        self._on_stage = on_stage

    def observe(self, stage: str, seconds: float) -> None:
        """A stage of the engine took so long."""
        child = self._stage_of.get(stage)
        if child is None:
            # `labels` takes a lock that all stages share; each is asked for once.
            child = self._stage_of[stage] = self._stages.labels(stage)
        child.observe(seconds)
        if self._on_stage is not None:
            self._on_stage(stage, seconds)

    def count(self, name: str, n: int = 1) -> None:
        """Something of the engine happened `n` times."""
        match name:
            case "model_input_tokens":
                self._tokens.labels("input").inc(n)
            case "model_output_tokens":
                self._tokens.labels("output").inc(n)
            case _:
                self._counts.labels(name).inc(n)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered, or its client left (status 499)."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """A gauge that is read whenever metrics are."""
        gauge = Gauge(name, meaning, registry=self._registry)
        gauge.set_function(read)

    def set(self, values: Mapping[str, tuple[float, str]]) -> None:
        """Set gauges: name to value and meaning."""
        for name, (value, meaning) in values.items():
            if name not in self._gauges:
                self._gauges[name] = Gauge(name, meaning, registry=self._registry)
            self._gauges[name].set(value)

    def set_unavailable(self, namespaces: Sequence[tuple[str, str]]) -> None:
        """Name the namespaces that cannot be opened, each by company and name."""
        self._unavailable.clear()
        for company, name in namespaces:
            self._unavailable.labels(company, name).set(1)

    def text(self) -> bytes:
        """Everything in the text format."""
        return generate_latest(self._registry)

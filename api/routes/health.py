"""Health for whatever watches the process, and metrics for the operator."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from litestar import get
from litestar.connection import Request
from litestar.response.base import ASGIResponse

from api.auth import require_operator
from api.metrics import CONTENT_TYPE
from api.routes.answers import json_answer
from api.schemas.errors import ApiError
from api.schemas.health import Health, Readiness
from api.schemas.operation import OPERATION, Operation
from api.service import Service, key_of, service_of

TAG = "Operation"
SIZES_SECONDS = 30.0
"""Sizes of namespaces are read at most so often: it opens each of them."""


@get(
    "/healthz",
    opt={
        OPERATION: Operation(
            id="healthz", tag=TAG, summary="Is the process alive", description="Needs no key.", answer=Health
        )
    },
)
async def healthz() -> ASGIResponse:
    """The process answers."""
    return json_answer(Health())


@get(
    "/readyz",
    opt={
        OPERATION: Operation(
            id="readyz",
            tag=TAG,
            summary="Can it take requests",
            description="Storage is open and models are loaded. Needs no key.",
            answer=Readiness,
            errors=("overloaded",),
        )
    },
)
async def readyz(request: Request[Any, Any, Any]) -> ASGIResponse:
    """Storage answers and the server is not shutting down."""
    service = service_of(request)
    if service.stopping.is_set():
        raise ApiError("overloaded", "The server is shutting down.")
    await service.read(service.engine.namespaces)
    return json_answer(Readiness(notices=service.engine.notices or msgspec.UNSET))


@get(
    "/metrics",
    opt={
        OPERATION: Operation(
            id="metrics",
            tag=TAG,
            summary="Metrics for Prometheus",
            description="For admin keys of the company `default`.",
            scope="admin",
            answer={"type": "string"},
            media="text/plain",
        )
    },
)
async def metrics(request: Request[Any, Any, Any]) -> ASGIResponse:
    """All numbers in the text format."""
    require_operator(key_of(request))
    service = service_of(request)
    await service.read(lambda: _measure(service))
    return ASGIResponse(body=service.metrics.text(), media_type=CONTENT_TYPE)


def _measure(service: Service) -> None:
    now = time.monotonic()
    if now - service.measured_at < SIZES_SECONDS:
        return
    service.measured_at = now
    measured = [(quarry, size) for quarry in service.companies() for size in quarry.stats()]
    sizes = [size for _, size in measured]
    service.metrics.set(
        {
            "quarry_namespaces": (len(sizes), "Namespaces of the companies seen since the start."),
            "quarry_documents": (sum(s.documents for s in sizes), "Documents in them."),
            "quarry_passages": (sum(s.passages for s in sizes), "Passages in them."),
            "quarry_storage_bytes": (sum(s.storage_bytes for s in sizes), "Bytes on disk."),
        }
    )
    service.metrics.set_unavailable([(quarry.company, s.name) for quarry, s in measured if s.problem])

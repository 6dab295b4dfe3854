"""Health for whatever watches the process, and metrics for the operator."""

from __future__ import annotations

import asyncio
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
READY_SECONDS = 5.0
"""Storage that takes longer to answer is not ready."""


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
            description="Storage answers a query and models are loaded. Needs no key.",
            answer=Readiness,
            errors=("overloaded", "storage_error"),
        )
    },
)
async def readyz(request: Request[Any, Any, Any]) -> ASGIResponse:
    """Storage answers and the server is not shutting down."""
    service = service_of(request)
    if service.stopping.is_set():
        raise ApiError("overloaded", "The server is shutting down.")
    try:
        async with asyncio.timeout(READY_SECONDS):
            await service.ping()
    except TimeoutError as error:
        raise ApiError("storage_error", f"Storage does not answer within {READY_SECONDS:g} seconds.") from error
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
    totals = service.engine.totals()
    service.metrics.set(
        {
            "quarry_namespaces": (totals.namespaces, "Namespaces of all companies."),
            "quarry_documents": (totals.documents, "Documents in them."),
            "quarry_passages": (totals.passages, "Passages in them."),
            "quarry_storage_bytes": (totals.storage_bytes, "Bytes on disk."),
            "quarry_namespaces_unavailable": (totals.damaged, "Namespaces that cannot be opened."),
        }
    )
    named = (
        [(quarry.company, size) for quarry in service.companies() for size in quarry.stats()] if totals.damaged else []
    )
    service.metrics.set_unavailable([(company, size.name) for company, size in named if size.problem])

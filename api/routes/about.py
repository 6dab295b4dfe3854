"""What the server is and what the key of a request may do, for pages and clients that show it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from litestar import get
from litestar.connection import Request
from litestar.response.base import ASGIResponse

from api.routes.answers import json_answer
from api.schemas.about import About, OwnKey, ServerLimits
from api.schemas.documents import MAX_DOCUMENTS
from api.schemas.operation import OPERATION, Operation
from api.service import key_of, service_of

TAG = "Operation"


@get(
    "/v1/server",
    opt={
        OPERATION: Operation(
            id="about",
            tag=TAG,
            summary="The server and the key",
            description="Version, who writes the answers, limits, and what the key of the request may do.",
            scope="read",
            answer=About,
        )
    },
)
async def about(request: Request[Any, Any, Any]) -> ASGIResponse:
    """Facts about the server."""
    service = service_of(request)
    settings, key = service.settings, key_of(request)
    models = service.engine.language_models
    limits = ServerLimits(
        upload_bytes=settings.upload_bytes,
        body_bytes=settings.body_bytes,
        documents_per_upload=MAX_DOCUMENTS,
        soft_seconds=settings.soft_seconds,
        hard_seconds=settings.hard_seconds,
        requests_per_minute=settings.rate_limit,
        searches_at_once=settings.key_searches,
    )
    answer = About(
        version=version("quarry-search"),
        agent="claude" if models else "offline",
        models=list(models),
        embedder=settings.embedder,
        limits=limits,
        key=OwnKey(name=key.name, company_name=key.company_name, scopes=list(key.scopes)),
    )
    return json_answer(answer)

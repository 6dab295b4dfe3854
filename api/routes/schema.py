"""The description of the interface: OpenAPI for programs, a page for people."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import get
from litestar.connection import Request
from litestar.response.base import ASGIResponse

from api.schemas.operation import OPERATION, Operation
from api.schemas.pages import POLICY, documentation_page

TAG = "Operation"
_PUBLIC = {"Cache-Control": "public, max-age=300"}


def _described(operation_id: str, summary: str, *, page: bool) -> dict[str, Any]:
    operation = Operation(
        id=operation_id,
        tag=TAG,
        summary=summary,
        description="Needs no key.",
        answer={"type": "string"} if page else {"type": "object"},
        media="text/html" if page else "application/json",
    )
    return {OPERATION: operation}


@get("/openapi.json", opt=_described("openapi", "OpenAPI document", page=False))
async def openapi_json(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The OpenAPI document."""
    return _document(request)


@get("/schema/openapi.json", opt=_described("schema_openapi", "OpenAPI document", page=False))
async def schema_json(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The OpenAPI document."""
    return _document(request)


@get("/schema", opt=_described("schema", "OpenAPI document, or the page for browsers", page=False))
async def schema(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The OpenAPI document; the page where HTML is asked for by name, as browsers do."""
    if "text/html" in request.headers.get("accept", ""):
        return _page(request)
    return _document(request)


@get("/docs", opt=_described("docs", "This page", page=True))
async def docs(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The documentation for people."""
    return _page(request)


def _document(request: Request[Any, Any, Any]) -> ASGIResponse:
    body = msgspec.json.encode(request.app.state.document)
    return ASGIResponse(body=body, media_type="application/json", headers={**_PUBLIC, "Vary": "Accept"})


def _page(request: Request[Any, Any, Any]) -> ASGIResponse:
    body = documentation_page(request.app.state.document)
    headers = {**_PUBLIC, "Vary": "Accept", "Content-Security-Policy": POLICY}
    return ASGIResponse(body=body, media_type="text/html", headers=headers)

"""What is stored, without an answer made of it: passages that fit a text, and documents page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litestar import get, post
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.bodies import BodyDecoder, receive_body
from api.routes.answers import decoded, encoded, large_answer, whole_number
from api.schemas.operation import OPERATION, Operation, Parameter
from api.schemas.retrieval import DEFAULT_PAGE, MAX_PAGE, DocumentList, HitList, ListBody, RetrieveBody
from api.service import key_of, note_usage, service_of
from api.usage import UsageNote
from engine import Engine

_retrievals = BodyDecoder(RetrieveBody)
_lists = BodyDecoder(ListBody)
_FILTER_ERRORS = ("invalid_filter", "unknown_attribute", "attribute_not_filterable", "filter_type_mismatch")
_BODY_ERRORS = ("invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type", "overloaded")
_ORDER = (
    "In the order of upload. Writes between two pages neither lose nor repeat a document that stays as it is; one that "
    "is replaced meanwhile stands at the end. A page ends early when its documents are large."
)


@post(
    "/v1/namespaces/{namespace:str}/retrieve",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="retrieve",
            tag="Search",
            summary="Retrieve passages",
            description="The passages that fit a text best, without an answer made of them.",
            scope="read",
            body=RetrieveBody,
            answer=HitList,
            errors=(*_BODY_ERRORS, *_FILTER_ERRORS, "namespace_not_found", "storage_error", "search_timeout"),
            examples={"text": "ferry cancelled by a storm", "k": 5},
        )
    },
)
async def retrieve(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Passages, best first."""
    name = decoded(namespace, "namespace")
    service = service_of(request)
    asked = _retrievals.decode(await receive_body(request, service.settings.body_bytes), request)
    quarry = await service.engine_for(request)
    note_usage(request, UsageNote("retrieve", name))
    release = service.slots.take(key_of(request).id)
    try:
        return large_answer(request, await service.read(lambda: _retrieved(quarry, name, asked)), release)
    except BaseException:
        release()
        raise


def _retrieved(quarry: Engine, name: str, asked: RetrieveBody) -> bytes:
    hits = quarry.retrieve(name, asked.text, asked.k, asked.filters, asked.mode)
    documents: Mapping[str, Any] = {}
    if asked.include_attributes:
        documents = quarry.get_many(name, [hit.document_id for hit in hits])
        # One that was deleted in between is no hit any more.
        hits = [hit for hit in hits if hit.document_id in documents]
    return encoded(HitList.of(hits, documents))


@get(
    "/v1/namespaces/{namespace:str}/documents",
    opt={
        OPERATION: Operation(
            id="list_documents",
            tag="Documents",
            summary="List documents",
            description=_ORDER,
            scope="read",
            answer=DocumentList,
            parameters=(
                Parameter(
                    "limit",
                    {"type": "integer", "minimum": 1, "maximum": MAX_PAGE},
                    f"At most so many; {DEFAULT_PAGE} when left out.",
                ),
                Parameter("cursor", {"type": "string"}, "The `next_cursor` of the page before."),
            ),
            errors=("invalid_request", "namespace_not_found", "storage_error"),
        )
    },
)
async def list_documents(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """All documents, in pages."""
    limit = whole_number(request, "limit", MAX_PAGE) or DEFAULT_PAGE
    asked = ListBody(limit=limit, cursor=request.query_params.get("cursor"))
    return await _listed(request, namespace, asked)


@post(
    "/v1/namespaces/{namespace:str}/documents/list",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="list_documents_by_post",
            tag="Documents",
            summary="List documents that match",
            description=f"As `GET …/documents`, under a filter. {_ORDER}",
            scope="read",
            body=ListBody,
            answer=DocumentList,
            errors=(*_BODY_ERRORS, *_FILTER_ERRORS, "namespace_not_found", "storage_error", "search_timeout"),
            examples={"filters": {"year": {"$gte": 2020}}, "limit": 100},
        )
    },
)
async def list_documents_by_post(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Documents that match, in pages."""
    body = await receive_body(request, service_of(request).settings.body_bytes)
    return await _listed(request, namespace, _lists.decode(body, request))


async def _listed(request: Request[Any, Any, Any], namespace: str, asked: ListBody) -> ASGIResponse:
    name = decoded(namespace, "namespace")
    service = service_of(request)
    quarry = await service.engine_for(request)

    def read() -> bytes:
        page = quarry.documents(name, asked.filters, asked.limit, asked.cursor)
        return encoded(DocumentList(page.documents, page.next_cursor))

    return large_answer(request, await service.read(read))

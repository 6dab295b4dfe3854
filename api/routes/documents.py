"""Documents: upload, get, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import delete, get, post
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.bodies import BodyDecoder, receive_body
from api.routes.answers import decoded, encoded, json_answer, large_answer
from api.schemas.documents import (
    DOCUMENT_SCHEMA,
    MAX_DOCUMENTS,
    DeleteBody,
    DeleteResponse,
    UploadBody,
    UploadResponse,
)
from api.schemas.errors import ApiError
from api.schemas.operation import OPERATION, Operation
from api.service import note_usage, service_of
from api.usage import UsageNote
from engine import Engine

TAG = "Documents"

_uploads = BodyDecoder(UploadBody)
_deletions = BodyDecoder(DeleteBody)
_DELETE_ERRORS = (
    "invalid_json",
    "invalid_request",
    "namespace_not_found",
    "payload_too_large",
    "unsupported_media_type",
)


@post(
    "/v1/namespaces/{namespace:str}/documents",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="upload_documents",
            tag=TAG,
            summary="Upload documents",
            description=(
                "The whole request is stored or nothing of it. The namespace is made when it does not exist. "
                f"At most {MAX_DOCUMENTS:,} documents a request."
            ),
            scope="write",
            body=UploadBody,
            answer=UploadResponse,
            errors=(
                "invalid_json",
                "invalid_request",
                "too_many_documents",
                "invalid_document",
                "invalid_schema",
                "schema_conflict",
                "payload_too_large",
                "unsupported_media_type",
                "overloaded",
            ),
            examples={
                "documents": [{"id": "a-17", "title": "Quarterly report", "tags": ["finance"]}],
                "schema": {"tags": {"type": "[]string", "is_filterable": True}},
            },
        )
    },
)
async def upload_documents(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Store documents; durable and findable when the answer is sent."""
    name = decoded(namespace, "namespace")
    service = service_of(request)
    quarry = await service.engine_for(request)
    # Nothing is awaited between the two: `_stored` gives back the memory that the body is accounted for with.
    received = [await receive_body(request, service.settings.upload_bytes, service.uploads)]
    # An upload that was begun is finished, also when the client has gone: the write is one transaction.
    written = await asyncio.shield(asyncio.ensure_future(_stored(request, quarry, name, received)))
    note_usage(request, UsageNote("upload_documents", name))
    return json_answer(UploadResponse(written))


@get(
    "/v1/namespaces/{namespace:str}/documents/{document_id:str}",
    opt={
        OPERATION: Operation(
            id="get_document",
            tag=TAG,
            summary="Get a document",
            description="Exactly as it was uploaded. The id is percent-decoded and may hold `/`.",
            scope="read",
            answer=DOCUMENT_SCHEMA,
            errors=("invalid_request", "namespace_not_found", "document_not_found"),
        )
    },
)
async def get_document(
    request: Request[Any, Any, Any], namespace: FromPath[str], document_id: FromPath[str]
) -> ASGIResponse:
    """One document by its id."""
    name, wanted = decoded(namespace, "namespace"), decoded(document_id, "document_id")
    quarry = await service_of(request).engine_for(request)
    return large_answer(request, await service_of(request).read(lambda: encoded(quarry.get(name, wanted))))


@get(
    "/v1/namespaces/{namespace:str}/random_document",
    opt={
        OPERATION: Operation(
            id="random_document",
            tag=TAG,
            summary="Get any document",
            description="One, uniformly at random.",
            scope="read",
            answer=DOCUMENT_SCHEMA,
            errors=("invalid_request", "namespace_not_found", "document_not_found"),
        )
    },
)
async def random_document(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """A look into a namespace."""
    name = decoded(namespace, "namespace")
    quarry = await service_of(request).engine_for(request)
    return large_answer(request, await service_of(request).read(lambda: encoded(quarry.random_document(name))))


@delete(
    "/v1/namespaces/{namespace:str}/documents",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="delete_documents",
            tag=TAG,
            summary="Delete documents",
            description="By their ids, or by the ids of their roots. At most 10,000 ids.",
            scope="write",
            body=DeleteBody,
            answer=DeleteResponse,
            errors=_DELETE_ERRORS,
            examples={"document_ids": ["a-17", "a-18"]},
        )
    },
)
async def delete_documents(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Delete documents."""
    return await _delete(request, namespace)


@post(
    "/v1/namespaces/{namespace:str}/documents/delete",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="delete_documents_by_post",
            tag=TAG,
            summary="Delete documents through proxies",
            description="As `DELETE …/documents`, for proxies that drop the body of a DELETE.",
            scope="write",
            body=DeleteBody,
            answer=DeleteResponse,
            errors=_DELETE_ERRORS,
            examples={"root_document_ids": ["book-1"]},
        )
    },
)
async def delete_documents_by_post(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Delete documents."""
    return await _delete(request, namespace)


async def _stored(request: Request[Any, Any, Any], quarry: Engine, name: str, received: list[bytearray]) -> int:
    service, size = service_of(request), len(received[0])
    try:
        return await service.write(lambda: _store(request, quarry, name, received), (quarry.company, name))
    finally:
        service.uploads.free(size)


def _store(request: Request[Any, Any, Any], quarry: Engine, name: str, received: list[bytearray]) -> int:
    """Decode and store the one body of `received`; distinct ids written.

    The thread that stores a body decodes it, so that as many are decoded at once as are stored, however many wait; and
    memory goes back to the arena of the thread that took it. Nothing here holds what the step before made: not the
    body beside the rows, nor the documents beside both.
    """
    upload = _uploads.decode(received.pop(), request)
    if len(upload.documents) > MAX_DOCUMENTS:
        message = f"A request holds at most {MAX_DOCUMENTS:,} documents, not {len(upload.documents):,}."
        raise ApiError("too_many_documents", message, path="documents")
    return quarry.upsert(name, _given_away(upload.documents), upload.schema)


def _given_away(documents: list[Any]) -> Iterator[Any]:
    """Each document in turn, held by the engine alone from then on: it lets go of what it has turned into rows."""
    documents.reverse()
    while documents:
        yield documents.pop()


async def _delete(request: Request[Any, Any, Any], namespace: str) -> ASGIResponse:
    name = decoded(namespace, "namespace")
    service = service_of(request)
    asked = _deletions.decode(await receive_body(request, service.settings.body_bytes), request)
    given = {
        field: ids
        for field, ids in (("document_ids", asked.document_ids), ("root_document_ids", asked.root_document_ids))
        if not isinstance(ids, msgspec.UnsetType)
    }
    if len(given) != 1:
        raise ApiError("invalid_request", "Give either `document_ids` or `root_document_ids`.")
    quarry = await service.engine_for(request)
    removed = await asyncio.shield(
        asyncio.ensure_future(service.write(lambda: quarry.delete(name, **given), (quarry.company, name)))
    )
    note_usage(request, UsageNote("delete_documents", name))
    return json_answer(DeleteResponse(removed))

"""API keys of the company: make, list, delete."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from litestar import delete, get, post
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.bodies import BodyDecoder, receive_body
from api.routes.answers import decoded, json_answer
from api.schemas.api_keys import KeyBody, KeyCreated, KeyDeleted, KeyList, KeyObject
from api.schemas.operation import OPERATION, Operation
from api.service import key_of, service_of

TAG = "API keys"

_keys = BodyDecoder(KeyBody)


@post(
    "/v1/api_keys",
    status_code=201,
    opt={
        OPERATION: Operation(
            id="create_api_key",
            tag=TAG,
            summary="Make a key",
            description="`raw_key` is shown in this answer and never again; only its SHA-256 is kept.",
            scope="admin",
            body=KeyBody,
            answer=KeyCreated,
            status=201,
            errors=("invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"),
            examples={"name": "indexer", "scopes": ["read", "write"]},
        )
    },
)
async def create_api_key(request: Request[Any, Any, Any]) -> ASGIResponse:
    """A new key of the company."""
    service = service_of(request)
    asked = _keys.decode(await receive_body(request, service.settings.body_bytes), request)
    expires_at = asked.expires_at
    if expires_at is not None and expires_at.tzinfo is None:
        expires_at = expires_at.replace(tzinfo=UTC)
    quarry = await service.engine_for(request)
    key, raw = await service.read(
        lambda: quarry.keys.create(
            asked.name, scopes=asked.scopes, expires_at=expires_at, created_by=key_of(request).name
        )
    )
    return json_answer(KeyCreated(KeyObject.of(key), raw), status=201, headers={"Cache-Control": "no-store"})


@get(
    "/v1/api_keys",
    opt={
        OPERATION: Operation(
            id="list_api_keys", tag=TAG, summary="List keys", scope="admin", answer=KeyList, description="Oldest first."
        )
    },
)
async def list_api_keys(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The company's keys."""
    quarry = await service_of(request).engine_for(request)
    keys = await service_of(request).read(quarry.keys.list)
    return json_answer(KeyList([KeyObject.of(key) for key in keys]))


@delete(
    "/v1/api_keys/{key_id:str}",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="delete_api_key",
            tag=TAG,
            summary="Delete a key",
            description="It stops working at once.",
            scope="admin",
            answer=KeyDeleted,
            errors=("invalid_request", "api_key_not_found"),
        )
    },
)
async def delete_api_key(request: Request[Any, Any, Any], key_id: FromPath[str]) -> ASGIResponse:
    """End a key."""
    wanted = decoded(key_id, "key_id")
    quarry = await service_of(request).engine_for(request)
    await service_of(request).read(lambda: quarry.keys.revoke(wanted))
    return json_answer(KeyDeleted())

"""Namespaces: list, look at, measure, drop."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from litestar import delete, get
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.routes.answers import decoded, encoded, json_answer, large_answer, whole_number
from api.schemas.errors import ApiError
from api.schemas.namespaces import CompanySize, NamespaceDeleted, NamespaceList, NamespaceObject
from api.schemas.operation import OPERATION, Operation, Parameter
from api.service import service_of

TAG = "Namespaces"
MAX_LIMIT = 1_000

_PARAMETERS = (
    Parameter("prefix", {"type": "string"}, "Only namespaces whose name begins so."),
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}, "At most so many; adds `next_cursor`."),
    Parameter("cursor", {"type": "string"}, "The `next_cursor` of the page before."),
)


@get(
    "/v1/namespaces",
    opt={
        OPERATION: Operation(
            id="list_namespaces",
            tag=TAG,
            summary="List namespaces",
            description="All of the company's, by name. Without `limit` everything comes in one answer.",
            scope="read",
            answer=NamespaceList,
            parameters=_PARAMETERS,
            errors=("invalid_request",),
        )
    },
)
async def list_namespaces(request: Request[Any, Any, Any]) -> ASGIResponse:
    """Namespaces by name, all or a page of them."""
    query = request.query_params
    limit = whole_number(request, "limit", MAX_LIMIT)
    after = _name_of(query.get("cursor"))
    prefix = query.get("prefix", "")
    quarry = await service_of(request).engine_for(request)

    def listed() -> bytes:
        names = [n for n in quarry.namespaces() if n.name.startswith(prefix) and (after is None or n.name > after)]
        if limit is None:
            return encoded(NamespaceList.of(names))
        page = names[:limit]
        return encoded(NamespaceList.of(page, _cursor_of(page[-1].name) if len(names) > limit else None))

    return large_answer(request, await service_of(request).read(listed))


@get(
    "/v1/namespaces/stats",
    opt={
        OPERATION: Operation(
            id="namespace_stats",
            tag=TAG,
            summary="Measure namespaces",
            description="Documents, passages and bytes on disk: in all, and by namespace.",
            scope="read",
            answer=CompanySize,
        )
    },
)
async def namespace_stats(request: Request[Any, Any, Any]) -> ASGIResponse:
    """How much the company stores."""
    quarry = await service_of(request).engine_for(request)
    return large_answer(request, await service_of(request).read(lambda: encoded(CompanySize.of(quarry.stats()))))


@get(
    "/v1/namespaces/{namespace:str}",
    opt={
        OPERATION: Operation(
            id="get_namespace",
            tag=TAG,
            summary="Look at a namespace",
            description="A namespace that is called `stats` is found in the list only.",
            scope="read",
            answer=NamespaceObject,
            errors=("invalid_request", "namespace_not_found"),
        )
    },
)
async def get_namespace(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """One namespace with its schema."""
    name = decoded(namespace, "namespace")
    quarry = await service_of(request).engine_for(request)
    return json_answer(NamespaceObject.of(await service_of(request).read(lambda: quarry.namespace(name))))


@delete(
    "/v1/namespaces/{namespace:str}",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="delete_namespace",
            tag=TAG,
            summary="Drop a namespace",
            description="With its documents and its search sessions, for good.",
            scope="write",
            answer=NamespaceDeleted,
            errors=("invalid_request", "namespace_not_found"),
        )
    },
)
async def delete_namespace(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Remove a namespace."""
    name = decoded(namespace, "namespace")
    quarry = await service_of(request).engine_for(request)
    await service_of(request).write(lambda: quarry.drop(name), (quarry.company, name))
    return json_answer(NamespaceDeleted())


def _cursor_of(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _name_of(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        name = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise ApiError("invalid_request", "`cursor` is not one that this route gave.", path="cursor") from error
    if _cursor_of(name) != cursor or not name:
        raise ApiError("invalid_request", "`cursor` is not one that this route gave.", path="cursor")
    return name

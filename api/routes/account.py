"""Who a key is, and what its company has used."""

from __future__ import annotations

from typing import Any

from litestar import get
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.routes.answers import decoded, json_answer, whole_number
from api.schemas.account import UsageList, UsageObject, Whoami
from api.schemas.errors import ApiError
from api.schemas.operation import ANY_KEY, OPERATION, Operation, Parameter
from api.service import key_of, service_of

TAG = "Account"
MAX_EVENTS = 100

_PAGE = (
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_EVENTS}, "At most so many; 20 when left out."),
    Parameter("before", {"type": "integer", "minimum": 1}, "The `next_cursor` of the page before."),
)


@get(
    "/v1/whoami",
    opt={
        OPERATION: Operation(
            id="whoami",
            tag=TAG,
            summary="Who am I",
            description="The company that the key belongs to.",
            scope=ANY_KEY,
            answer=Whoami,
        )
    },
)
async def whoami(request: Request[Any, Any, Any]) -> ASGIResponse:
    """The company of the key."""
    key = key_of(request)
    return json_answer(Whoami(str(key.company_id), key.company_name))


@get(
    "/v1/usage_events",
    opt={
        OPERATION: Operation(
            id="list_usage_events",
            tag=TAG,
            summary="List usage",
            description="Searches and writes of the company that succeeded, newest first, while they are kept.",
            scope="read",
            answer=UsageList,
            parameters=_PAGE,
            errors=("invalid_request",),
        )
    },
)
async def list_usage_events(request: Request[Any, Any, Any]) -> ASGIResponse:
    """A page of events."""
    service, company = service_of(request), key_of(request).company_id
    limit = whole_number(request, "limit", MAX_EVENTS) or 20
    before = whole_number(request, "before", 2**53)
    events = await service.read(lambda: service.usage.page(company, limit + 1, before))
    cursor = events[limit - 1].id if len(events) > limit else None
    return json_answer(UsageList([UsageObject.of(event) for event in events[:limit]], cursor))


@get(
    "/v1/usage_events/{request_id:str}",
    opt={
        OPERATION: Operation(
            id="get_usage_event",
            tag=TAG,
            summary="Look at one request",
            scope="read",
            answer=UsageObject,
            errors=("invalid_request", "not_found"),
        )
    },
)
async def get_usage_event(request: Request[Any, Any, Any], request_id: FromPath[str]) -> ASGIResponse:
    """The event of one request."""
    wanted = decoded(request_id, "request_id")
    service, company = service_of(request), key_of(request).company_id
    event = await service.read(lambda: service.usage.find(company, wanted))
    if event is None:
        raise ApiError("not_found", "There is no usage event of that request.")
    return json_answer(UsageObject.of(event))

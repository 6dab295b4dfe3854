"""Searches and their continuations, as one answer or as a stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from litestar import post
from litestar.connection import Request
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from api.bodies import BodyDecoder, receive_body
from api.errors import describe, public_failure
from api.routes.answers import decoded, encoded, large_answer
from api.schemas.operation import OPERATION, Operation
from api.schemas.search import ContinueBody, FailureObject, SearchBody, SessionObject, StatusObject, session_object
from api.service import CODE, USAGE, Service, key_of, note_usage, request_id_of, service_of
from api.sse import EventStream, frame, watched
from api.usage import UsageNote
from engine import Engine, Event, SearchFailed, SearchResponse, SessionResult, StatusEvent

TAG = "Search"

_searches = BodyDecoder(SearchBody)
_continuations = BodyDecoder(ContinueBody)
_SHARED_ERRORS = ("invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type", "overloaded")


@post(
    "/v1/namespaces/{namespace:str}/search",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="search",
            tag=TAG,
            summary="Search a namespace",
            description=(
                "An answer with cited findings. A search that began and could not finish is answered with 200 and "
                "status `failed`. With `stream` the answer is `text/event-stream`: any number of `status` events, "
                "then one `session_result` or `error`."
            ),
            scope="search",
            body=SearchBody,
            answer=SessionObject,
            stream=True,
            errors=(
                *_SHARED_ERRORS,
                "invalid_filter",
                "unknown_attribute",
                "attribute_not_filterable",
                "filter_type_mismatch",
                "namespace_not_found",
            ),
            examples={
                "objective": "Which products did the company launch in 2023?",
                "context": "Preparing a market overview; only launches with a date matter.",
                "filters": {"source": {"$in": ["TechCrunch", "The Verge"]}},
            },
        )
    },
)
async def search(request: Request[Any, Any, Any], namespace: FromPath[str]) -> ASGIResponse:
    """Ask one namespace."""
    name = decoded(namespace, "namespace")
    service = service_of(request)
    asked = _searches.decode(await receive_body(request, service.settings.body_bytes), request)
    quarry = await service.engine_for(request)
    start = partial(
        quarry.stream,
        name,
        objective=asked.objective,
        context=asked.context,
        filters=asked.filters,
        include_attributes=asked.include_attributes,
        multiturn=asked.multiturn,
    )
    note_usage(request, UsageNote("search", name, asked.objective, asked.context))
    return await _answer(request, quarry, name, start, stream=asked.stream)


@post(
    "/v1/namespaces/{namespace:str}/search/{session_id:str}",
    status_code=200,
    opt={
        OPERATION: Operation(
            id="continue_search",
            tag=TAG,
            summary="Continue a search",
            description="Answers a clarification, or follows up on a completed search, under the same filters.",
            scope="search",
            body=ContinueBody,
            answer=SessionObject,
            stream=True,
            errors=(
                *_SHARED_ERRORS,
                "namespace_not_found",
                "session_not_found",
                "session_busy",
                "session_failed",
                "session_expired",
            ),
            examples={"message": "The annual report"},
        )
    },
)
async def continue_search(
    request: Request[Any, Any, Any], namespace: FromPath[str], session_id: FromPath[str]
) -> ASGIResponse:
    """The next turn of a session."""
    name, session = decoded(namespace, "namespace"), decoded(session_id, "session_id")
    service = service_of(request)
    asked = _continuations.decode(await receive_body(request, service.settings.body_bytes), request)
    include = None if isinstance(asked.include_attributes, msgspec.UnsetType) else asked.include_attributes
    quarry = await service.engine_for(request)
    start = partial(quarry.continue_stream, name, session, message=asked.message, include_attributes=include)
    note_usage(request, UsageNote("continue_search", name, asked.message, ""))
    return await _answer(request, quarry, name, start, stream=asked.stream)


async def _answer(
    request: Request[Any, Any, Any],
    quarry: Engine,
    name: str,
    start: Callable[[], Awaitable[AsyncGenerator[Event]]],
    *,
    stream: bool,
) -> ASGIResponse:
    """Run a search under the limits and answer with its events or with its end."""
    service = service_of(request)
    release = service.slots.take(key_of(request).id)
    # Held until the answer has left, so that answers which nobody takes cannot pile up.
    is_held = False
    try:
        # What the engine refuses is refused here, while the answer can still have a status of its own.
        await service.read(lambda: quarry.prepare(name))
        events = await start()
        if stream:
            is_held = True
            return _stream(request, service, events, release)
        answer = large_answer(request, encoded(await _last(request, service, events)), release)
        is_held = True
        return answer
    finally:
        if not is_held:
            release()


def _stream(
    request: Request[Any, Any, Any], service: Service, events: AsyncGenerator[Event], release: Callable[[], None]
) -> EventStream:
    state = request.scope["state"]

    def render(event: Event) -> bytes:
        match event:
            case StatusEvent(message=message):
                return frame("status", StatusObject(message))
            case SessionResult(response=response):
                _count_results(request, response)
                return frame("session_result", session_object(response))
            case SearchFailed(response=response):
                failure = _failure(response)
                state[CODE] = failure.code
                body = public_failure(failure.code, failure.message, request_id_of(request))
                return frame("error", body)

    def render_error(error: BaseException) -> bytes:
        body, _ = describe(error, request_id_of(request))
        state[CODE] = body.code
        return frame("error", body)

    return EventStream(
        events,
        render=render,
        render_error=render_error,
        closing=service.closing,
        heartbeat_seconds=service.settings.heartbeat_seconds,
        on_close=release,
    )


async def _last(request: Request[Any, Any, Any], service: Service, events: AsyncGenerator[Event]) -> SessionObject:
    async with aclosing(watched(events, receive=request.receive, closing=service.closing, idle_seconds=60.0)) as seen:
        async for event in seen:
            match event:
                case SessionResult(response=response):
                    _count_results(request, response)
                    return session_object(response)
                case SearchFailed(response=response):
                    failure = _failure(response)
                    request.scope["state"][CODE] = failure.code
                    return session_object(response, failure)
                case _:
                    pass
    raise RuntimeError("a search ended without a result")


def _count_results(request: Request[Any, Any, Any], response: SearchResponse) -> None:
    """Have the usage of the request say how much was found."""
    note: UsageNote = request.scope["state"][USAGE]
    note.results = len(response.results)


def _failure(response: SearchResponse) -> FailureObject:
    error = response.error
    code, message = ("internal_error", "") if error is None else (error.code, error.message)
    body = public_failure(code, message, "")
    return FailureObject(body.code, body.message)

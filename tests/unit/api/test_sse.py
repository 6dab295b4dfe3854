"""Events over a connection, with generators of the test's own in place of a search."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.schemas.errors import ApiError, ClientGone
from api.schemas.search import StatusObject
from api.sse import EventStream, frame, watched
from engine import Event, StatusEvent
from tests.api.serving import parse_events

Receive = Callable[[], Awaitable[Any]]


class Search:
    """Gives `count` events and notes how it ended."""

    def __init__(self, count: int, *, hangs: bool = False, fails: Exception | None = None) -> None:
        self.count, self.hangs, self.fails = count, hangs, fails
        self.given = 0
        self.ended = ""

    async def events(self) -> AsyncGenerator[Event]:
        try:
            for n in range(self.count):
                self.given += 1
                yield StatusEvent(str(n))
            if self.hangs:
                await asyncio.Event().wait()
            if self.fails is not None:
                raise self.fails
            self.ended = "well"
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        except GeneratorExit:
            self.ended = "closed"
            raise


async def stays() -> Any:
    await asyncio.Event().wait()


async def leaves() -> Any:
    return {"type": "http.disconnect"}


async def collect(search: Search, receive: Any, closing: asyncio.Event, idle: float = 30.0) -> list[Event | None]:
    return [e async for e in watched(search.events(), receive=receive, closing=closing, idle_seconds=idle)]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_frame_is_read_as_it_was_written(message: str) -> None:
    assert parse_events(frame("status", StatusObject(message)).decode()) == [
        ("status", {"type": "status", "message": message})
    ]


def test_all_events_are_seen_in_order() -> None:
    search = Search(5)
    seen = asyncio.run(collect(search, stays, asyncio.Event()))
    assert [event.message for event in seen if isinstance(event, StatusEvent)] == list("01234")
    assert search.ended == "well"


def test_a_client_that_left_ends_the_search() -> None:
    search = Search(1, hangs=True)
    with pytest.raises(ClientGone):
        asyncio.run(collect(search, leaves, asyncio.Event()))
    assert search.ended in {"cancelled", "closed"}


def test_silence_is_reported_again_and_again() -> None:
    async def run() -> list[Event | None]:
        seen: list[Event | None] = []
        events = watched(Search(1, hangs=True).events(), receive=stays, closing=asyncio.Event(), idle_seconds=0.01)
        async for event in events:
            seen.append(event)
            if len(seen) == 4:
                break
        await events.aclose()
        return seen

    assert [event is None for event in asyncio.run(run())] == [False, True, True, True]


def test_a_server_that_closes_ends_the_search() -> None:
    async def run(search: Search) -> None:
        closing = asyncio.Event()
        asyncio.get_running_loop().call_later(0.01, closing.set)
        await collect(search, stays, closing)

    search = Search(1, hangs=True)
    with pytest.raises(ApiError, match="shutting down"):
        asyncio.run(run(search))
    assert search.ended == "cancelled"


def test_the_next_event_is_asked_for_when_the_last_was_taken() -> None:
    async def run() -> None:
        search = Search(100)
        events = watched(search.events(), receive=stays, closing=asyncio.Event(), idle_seconds=30)
        for taken in range(1, 4):
            await anext(events)
            await asyncio.sleep(0)
            assert search.given == taken
        await events.aclose()
        assert search.ended == "closed"

    asyncio.run(run())


class Sent:
    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(m["body"] for m in self.messages if m["type"] == "http.response.body")


def stream_of(search: Search, closed: list[str]) -> EventStream:
    def render(event: Event) -> bytes:
        assert isinstance(event, StatusEvent)
        return frame("status", StatusObject(event.message))

    return EventStream(
        search.events(),
        render=render,
        render_error=lambda error: frame("error", StatusObject(type(error).__name__)),
        closing=asyncio.Event(),
        heartbeat_seconds=30.0,
        on_close=lambda: closed.append("closed"),
    )


def test_a_fault_in_a_search_becomes_the_last_event() -> None:
    sent, closed = Sent(), list[str]()
    response = stream_of(Search(2, fails=RuntimeError("inside")), closed)
    asyncio.run(response(scope=None, receive=stays, send=sent))  # type: ignore[arg-type]
    assert [name for name, _ in parse_events(sent.body.decode())] == ["status", "status", "error"]
    assert sent.messages[-1]["more_body"] is False
    assert closed == ["closed"]


def test_a_stream_whose_client_left_is_cut_and_closed() -> None:
    sent, closed = Sent(), list[str]()
    search = Search(0, hangs=True)
    asyncio.run(stream_of(search, closed)(scope=None, receive=leaves, send=sent))  # type: ignore[arg-type]
    assert all(message.get("more_body", True) for message in sent.messages)
    assert (search.ended, closed) == ("cancelled", ["closed"])

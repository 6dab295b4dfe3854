"""Searches over a connection: their events as server-sent events, or their last event as one answer.

stream = comment* (status comment*)* (session_result | error)

Frames are ``event: <name>``, ``data: <one line of JSON>`` and an empty line, with LF.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Send

from api.schemas.errors import ApiError, ClientGone
from engine import Event

HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
HEARTBEAT = b": still searching\n\n"
STALL_SECONDS = 60.0
"""A client that reads nothing for so long is let go."""

_LINE_ENDS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
"""What many readers of lines take for an end of line, though the format does not; within JSON, only in strings."""

_encode = msgspec.json.Encoder().encode


def frame(name: str, body: msgspec.Struct) -> bytes:
    r"""One event. `body` is a JSON object with at least one field; ``type`` is put in front of them.

    >>> class Progress(msgspec.Struct):
    ...     message: str
    >>> frame("status", Progress("Reading"))
    b'event: status\ndata: {"type":"status","message":"Reading"}\n\n'
    """
    data = _encode(body)
    for separator, escape in _LINE_ENDS:
        if separator in data:
            data = data.replace(separator, escape)
    return b'event: %b\ndata: {"type":"%b",%b\n\n' % (name.encode(), name.encode(), data[1:])


async def watched(
    events: AsyncGenerator[Event], *, receive: Receive, closing: asyncio.Event, idle_seconds: float
) -> AsyncGenerator[Event | None]:
    """The events as they come, and None after each `idle_seconds` without one.

    However this ends, the search is cancelled and closed. An event is asked for only when the one before it was taken,
    so that a slow reader slows the search down and nothing piles up.

    Args:
        receive: of the request whose body was read; it tells when the client leaves.
        closing: set when the server gives up what is still running.

    Raises:
        ClientGone: the client left.
        ApiError: `overloaded` once `closing` is set.
    """
    gone = asyncio.create_task(_disconnected(receive))
    stopped = asyncio.create_task(closing.wait())
    tasks: list[asyncio.Task[Any]] = [gone, stopped]
    try:
        while True:
            following = asyncio.create_task(_next(events))
            tasks[2:] = [following]
            while not following.done():
                done, _ = await asyncio.wait(tasks, timeout=idle_seconds, return_when=asyncio.FIRST_COMPLETED)
                if gone in done:
                    raise ClientGone
                if following not in done and stopped in done:
                    raise ApiError("overloaded", "The server is shutting down. Try again.")
                if not done:
                    yield None
            event = following.result()
            if event is None:
                return
            yield event
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await events.aclose()


class EventStream(ASGIResponse):
    """A response that sends the frames of a search.

    Args:
        render: the frame of an event; `render_error` that of an exception, which ends the stream.
        closing: as in `watched`.
        on_close: called once when the stream is over, however it ended.
    """

    _should_set_content_length = False

    def __init__(
        self,
        events: AsyncGenerator[Event],
        *,
        render: Callable[[Event], bytes],
        render_error: Callable[[BaseException], bytes],
        closing: asyncio.Event,
        heartbeat_seconds: float,
        on_close: Callable[[], None],
    ) -> None:
        super().__init__(status_code=200, headers=dict(HEADERS))
        self._events = events
        self._render = render
        self._render_error = render_error
        self._closing = closing
        self._heartbeat_seconds = heartbeat_seconds
        self._on_close = on_close

    async def send_body(self, send: Send, receive: Receive) -> None:
        """Send frames until the search, the client or the server ends it."""
        try:
            async with aclosing(
                watched(self._events, receive=receive, closing=self._closing, idle_seconds=self._heartbeat_seconds)
            ) as events:
                try:
                    async for event in events:
                        await self._send(send, HEARTBEAT if event is None else self._render(event))
                except ClientGone:
                    raise
                except Exception as error:  # noqa: BLE001 - after the first byte an error can only be an event
                    await self._send(send, self._render_error(error))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ClientGone:
            # Without a last chunk: whoever still listens sees that the stream was cut.
            return
        finally:
            self._on_close()

    async def _send(self, send: Send, chunk: bytes) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TimeoutError as error:
            raise ClientGone from error


async def _next(events: AsyncGenerator[Event]) -> Event | None:
    return await anext(events, None)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

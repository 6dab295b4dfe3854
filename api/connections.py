"""Connections of clients, bounded: heads, idle time, unread answers, their number; and what is said when HTTP breaks.

uvicorn bounds none of these. A connection is

    waiting   between two requests; closed when it takes too long, or when its place is needed
    head      some bytes of a request have come, not yet all of its headers
    at work   a request is being answered
    parting   the answer is sent before all of the request was read: the rest is read and dropped, so that the answer
              arrives. A socket that is closed with unread bytes in it resets the connection, and the answer with it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from api.edge import SECURITY_HEADERS, request_id_for
from api.errors import rendered
from api.schemas.errors import ApiError

HEADER_SECONDS = 20.0
"""A request that has begun must have sent its headers by then."""

HEADER_BYTES = 64 * 1024
HEADERS = 100
"""The largest head of a request, its first line included, and the most headers in it."""

FRAMING_BYTES = 64 * 1024
FRAMING_SHARE = 16
"""A body may take so many bytes more than it holds, and so many times what it holds, for its chunks and trailers."""

STALL_SECONDS = 60.0
STALL_BYTES = 16 * 1024
"""An answer of which a client takes less than so much in so long is given up."""

PARTING_SECONDS, PARTING_IDLE_SECONDS = 30.0, 5.0
PARTING_BYTES = 512 * 1024 * 1024
"""How long and how much is read and dropped of a request that was answered before its end."""

REFUSED_BYTES = 1024 * 1024
"""How much after a head that was refused: nobody sends so much by mistake."""

_log = logging.getLogger("quarry.request")


class _Parting:
    """A transport that asks before it closes whether something is left to be read, and counts what it was given.

    Attributes:
        written: bytes, sent or not.
    """

    def __init__(self, transport: asyncio.Transport, part: Callable[[], bool]) -> None:
        self._transport = transport
        self._part = part
        self.written = 0
        # What uvicorn uses of a transport, and we.
        self.get_extra_info = transport.get_extra_info
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.set_protocol = transport.set_protocol
        self.write_eof = transport.write_eof
        self.abort = transport.abort
        self.close_now = transport.close

    def write(self, data: bytes) -> None:
        """Send, or keep until it can be sent."""
        self.written += len(data)
        self._transport.write(data)

    def close(self) -> None:
        """Close at once, or when the rest of the request was read."""
        if self._transport.is_closing() or not self._part():
            self._transport.close()


class ClientConnection(HttpToolsProtocol):
    """uvicorn's protocol with bounds.

    Attributes:
        most: how many connections there may be at once.
        idle_since: when the last answer left, or the connection was made; a monotonic clock.
    """

    most = 1_000

    transport: _Parting  # pyright: ignore[reportIncompatibleVariableOverride]
    cycle: RequestResponseCycle | None  # pyright: ignore[reportIncompatibleVariableOverride] - None at first
    _fault: ApiError | None = None
    _is_message_over = True
    _is_in_head = False
    _has_begun = False
    _head_bytes = _header_bytes = _framing_bytes = _body_bytes = _body_now = 0
    idle_since = 0.0
    _parting_since: float | None = None
    _most_dropped = PARTING_BYTES
    _dropped_bytes = _taken_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _parting_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    # -- the life of a connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", _Parting(cast("asyncio.Transport", transport), self._part)))
        self.idle_since = time.monotonic()
        if len(self.connections) <= self.most or self._make_room():
            self._watch_head()
        elif len(self.connections) > 2 * self.most:
            self.transport.abort()
        else:
            self._refuse(ApiError("overloaded", "The server has too many connections.", headers={"Retry-After": "1"}))

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head_timer, self._parting_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._parting_timer = self._write_timer = None
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self.is_at_work:
            super().shutdown()
        else:
            self.end()

    @property
    def is_parting(self) -> bool:
        """Whether what still comes is dropped."""
        return self._parting_since is not None

    @property
    def is_at_work(self) -> bool:
        """Whether a request that has its headers is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> bool:
        """Close the connection that has been without a whole request for longest; False when all are at work."""
        others = cast("set[ClientConnection]", self.connections) - {self}
        held = [other for other in others if not other.transport.is_closing()]
        if len(held) < self.most:
            return True
        waiting = [other for other in held if not other.is_at_work and not other.is_parting]
        if not waiting:
            return False
        min(waiting, key=lambda other: other.idle_since).end()
        return True

    def end(self) -> None:
        """Close for good; what is still to be sent has `STALL_SECONDS`."""
        self.transport.close_now()
        if self._write_timer is None and self.transport.get_write_buffer_size():
            self._watch_unsent()

    # -- what comes in

    def data_received(self, data: bytes) -> None:
        if self._parting_since is not None:
            self._drop(len(data))
            return
        self._body_now, self._has_begun = 0, False
        super().data_received(data)
        # What came beside the end of another request is not told apart: the next bytes will be.
        if self._has_begun or self._is_message_over or self._parting_since is not None or self.transport.is_closing():
            return
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEADER_BYTES:
                self._refuse(_too_large())
            return
        self._body_bytes += self._body_now
        self._framing_bytes += len(data) - self._body_now
        if self._framing_bytes > FRAMING_BYTES + FRAMING_SHARE * self._body_bytes:
            self._refuse(ApiError("invalid_request", "The chunks of the body are too small or its trailers too large."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_message_over, self._is_in_head, self._has_begun = False, True, True
        self._head_bytes = self._header_bytes = self._framing_bytes = self._body_bytes = 0
        self._watch_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._header_bytes += len(name) + len(value)
        if len(self.headers) > HEADERS:
            self._fault = ApiError("invalid_request", f"The request has more than {HEADERS} headers.")
        elif self._header_bytes > HEADER_BYTES:
            self._fault = _too_large()
        if self._fault is not None:
            # The parser stops and calls `send_400_response`.
            raise self._fault

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_now += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_message_over = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.idle_since = time.monotonic()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        self.end()

    def _watch_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = self.loop.call_later(HEADER_SECONDS, self._give_up_head)

    def _give_up_head(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self.is_at_work:
            # A request before it is still at work; half of the next one can wait until that is answered.
            self._watch_head()
        elif self._is_in_head or self.cycle is None:
            self.end()

    # -- what goes out

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._watch_unsent()

    def _watch_unsent(self) -> None:
        self._taken_bytes = self.transport.written - self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(STALL_SECONDS, self._give_up_unsent)

    def _give_up_unsent(self) -> None:
        self._write_timer = None
        left = self.transport.get_write_buffer_size()
        is_waited_for = self.flow.write_paused or self.transport.is_closing()
        if is_waited_for and left and self.transport.written - left < self._taken_bytes + STALL_BYTES:
            self.transport.abort()
        elif left:
            self._watch_unsent()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        # To bytes that are no HTTP, and to a head that `on_header` refused. uvicorn answers in plain text.
        self._refuse(self._fault or ApiError("invalid_request", "This is not a request in HTTP/1.1."))

    def _refuse(self, error: ApiError) -> None:
        """Answer what is no request, and part. The answer to an earlier request on the connection goes first, alone."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self.cycle.response_started and self.cycle.more_body:
                self.transport.abort()
                return
            if not self.cycle.more_body:
                self.cycle.keep_alive = False
                self._begin_parting()
                return
            # To its route it looks as if the client had left.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        request_id = request_id_for(dict(self.headers or ()))
        answer = rendered(error, request_id)
        sent = {
            **SECURITY_HEADERS,
            **answer.headers,
            "X-Request-Id": request_id,
            "Content-Type": "application/json",
            "Content-Length": str(len(answer.body)),
            "Connection": "close",
        }
        lines = "".join(f"{name.lower()}: {value}\r\n" for name, value in sent.items()).encode("latin-1")
        self.transport.write(b"".join([STATUS_LINE[answer.status], lines, b"\r\n", answer.body]))
        _log.info("refused", extra={"request_id": request_id, "status": answer.status, "code": answer.code})
        self._is_message_over = False
        self._most_dropped = REFUSED_BYTES
        self.transport.close()

    # -- parting

    def _part(self) -> bool:
        """Begin to part where a request is not read to its end; False where there is none."""
        if self._is_message_over:
            return False
        self._begin_parting()
        self.transport.write_eof()
        self.flow.resume_reading()
        return True

    def _begin_parting(self) -> None:
        if self._parting_since is None:
            self._parting_since = time.monotonic()
        self._watch_parting()

    def _watch_parting(self) -> None:
        if self._parting_timer is not None:
            self._parting_timer.cancel()
        self._parting_timer = self.loop.call_later(PARTING_IDLE_SECONDS, self._end_parting)

    def _end_parting(self) -> None:
        if self.is_at_work:
            self._watch_parting()
        else:
            self.end()

    def _drop(self, size: int) -> None:
        self._dropped_bytes += size
        since = self._parting_since or 0.0
        if self._dropped_bytes > min(self._most_dropped, PARTING_BYTES) or time.monotonic() - since > PARTING_SECONDS:
            self.end()
        else:
            self._watch_parting()


def bounded(most: int) -> type[ClientConnection]:
    """The protocol of a server that has at most so many connections at once."""
    return type("ClientConnection", (ClientConnection,), {"most": most})


def _too_large() -> ApiError:
    return ApiError("invalid_request", f"The headers are larger than {HEADER_BYTES:,} bytes.")

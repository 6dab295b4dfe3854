"""Answers and path parameters, the same in every route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from litestar.connection import Request
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from api.schemas.errors import ApiError
from api.service import service_of

PIECE_BYTES = 256 * 1024
_encode = msgspec.json.Encoder().encode


def _nothing() -> None:
    pass


def json_answer(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> ASGIResponse:
    """`value` as a JSON body."""
    return ASGIResponse(body=_encode(value), status_code=status, media_type="application/json", headers=headers)


def encoded(value: object) -> bytes:
    """`value` as JSON, for threads that make large answers."""
    return _encode(value)


class PacedAnswer(ASGIResponse):
    """JSON that leaves as fast as its client takes it; what it holds is given back when it has left.

    Args:
        on_sent: called once, however sending ended.
    """

    def __init__(self, body: bytes, on_sent: Callable[[], None]) -> None:
        super().__init__(body=body, media_type="application/json")
        self._on_sent = on_sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_sent()

    async def send_body(self, send: Send, receive: Receive) -> None:  # noqa: ARG002
        """The body in pieces: a piece is taken when the one before it has nearly left."""
        for start in range(0, len(self.body), PIECE_BYTES):
            piece = self.body[start : start + PIECE_BYTES]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def large_answer(request: Request[Any, Any, Any], body: bytes, on_sent: Callable[[], None] = _nothing) -> PacedAnswer:
    """An answer that is JSON already and may be large.

    Raises:
        ApiError: `overloaded` when too much waits to be sent; `on_sent` is the caller's to call then.
    """
    memory = service_of(request).answers
    memory.hold(len(body))

    def free() -> None:
        memory.free(len(body))
        on_sent()

    return PacedAnswer(body, free)


def whole_number(request: Request[Any, Any, Any], name: str, most: int) -> int | None:
    """The query parameter `name`, from 1 to `most`; None when it is not given.

    Raises:
        ApiError: `invalid_request` when it is something else.
    """
    given = request.query_params.getall(name, [])
    if not given:
        return None
    text = given[-1]
    # int() takes signs, spaces and other scripts' digits, which nobody means here.
    if not (text.isascii() and text.isdigit() and len(text) < 17 and 1 <= int(text) <= most):
        raise ApiError("invalid_request", f"`{name}` is a whole number from 1 to {most:,}.", path=name)
    return int(text)


def decoded(segment: str, name: str) -> str:
    """A path segment without its percent-encoding, byte for byte.

    Routing works on the undecoded path, so what comes here may hold an encoded ``/``.

    Raises:
        ApiError: `invalid_request` when it is not UTF-8.
    """
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError as error:
        raise ApiError("invalid_request", f"`{name}` is not valid UTF-8.", path=name) from error

"""Answers and path parameters, the same in every route."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from litestar.connection import Request
from litestar.response.base import ASGIResponse

from api.schemas.errors import ApiError

_encode = msgspec.json.Encoder().encode


def json_answer(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> ASGIResponse:
    """`value` as a JSON body."""
    return ASGIResponse(body=_encode(value), status_code=status, media_type="application/json", headers=headers)


def encoded(value: object) -> bytes:
    """`value` as JSON, for threads that make large answers."""
    return _encode(value)


def json_bytes(body: bytes) -> ASGIResponse:
    """An answer that is JSON already."""
    return ASGIResponse(body=body, media_type="application/json")


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

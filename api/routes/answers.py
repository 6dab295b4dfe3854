"""Answers and path parameters, the same in every route."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

import msgspec
from litestar.response.base import ASGIResponse

from api.schemas.errors import ApiError

_encode = msgspec.json.Encoder().encode


def json_answer(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> ASGIResponse:
    """`value` as a JSON body."""
    return ASGIResponse(body=_encode(value), status_code=status, media_type="application/json", headers=headers)


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

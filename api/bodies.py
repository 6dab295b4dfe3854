"""Request bodies: received under a limit, then decoded into typed values."""

from __future__ import annotations

import asyncio
import re
from typing import Any, TypeVar

import msgspec
from litestar.connection import Request

from api.limits import UploadMemory
from api.schemas.errors import ApiError, ClientGone

T = TypeVar("T")

IDLE_SECONDS = 30.0
"""A body of which nothing arrives for so long is given up."""

_AT = re.compile(r" - at `(.*)`$")
_REGEX = re.compile(r"Expected `str` matching regex .*")


async def receive_body(request: Request[Any, Any, Any], limit: int, memory: UploadMemory | None = None) -> bytearray:
    """The body of a request that must have a JSON one.

    It is received into one growing buffer, so that it is in memory once.

    Args:
        limit: largest body, in bytes; checked before anything is read where the length is announced, and while reading.
        memory: accounts for the bytes while they are received; the caller frees them when the body is decoded.

    Raises:
        ApiError: `unsupported_media_type`, `payload_too_large`, `overloaded`, or `invalid_request` when the body is
            missing or stops arriving.
        ClientGone: the client left.
    """
    _check_headers(request, limit)
    body = bytearray()
    try:
        more = True
        while more:
            chunk, more = await _next_chunk(request)
            _check_size(len(body) + len(chunk), limit)
            if memory is not None:
                memory.hold(len(chunk))
            body += chunk
    except BaseException:
        if memory is not None:
            memory.free(len(body))
        raise
    return body


def decode_body(decoder: msgspec.json.Decoder[T], body: bytes | bytearray) -> T:
    """The body as a value.

    Raises:
        ApiError: `invalid_json` when it is no JSON in UTF-8 or nested too deeply, `invalid_request` with the path of
            the first fault when it is not what the decoder expects.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message, path = _readable(str(error))
        if message == "Number out of range":
            raise ApiError("invalid_json", "The body holds a number that is too large.", path=path) from error
        raise ApiError("invalid_request", message, path=path) from error
    except msgspec.DecodeError as error:
        raise ApiError("invalid_json", f"The body is not valid JSON: {error}.") from error
    except UnicodeDecodeError as error:
        raise ApiError("invalid_json", "The body is not valid UTF-8.") from error
    except RecursionError as error:
        raise ApiError("invalid_json", "The body is nested too deeply.") from error


def _check_headers(request: Request[Any, Any, Any], limit: int) -> None:
    headers = request.headers
    length = headers.get("content-length", "")
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        if not media and length in {"", "0"} and "transfer-encoding" not in headers:
            raise ApiError("invalid_request", "This request needs a JSON body.")
        raise ApiError("unsupported_media_type", "Send the body as `Content-Type: application/json`.")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError("unsupported_media_type", "Send the body without a `Content-Encoding`.")
    if length.isascii() and length.isdigit():
        _check_size(int(length), limit)


async def _next_chunk(request: Request[Any, Any, Any]) -> tuple[bytes, bool]:
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            message = await request.receive()
    except TimeoutError as error:
        text = f"No byte of the body arrived for {IDLE_SECONDS:g} seconds."
        raise ApiError("invalid_request", text, headers={"Connection": "close"}) from error
    if message["type"] == "http.request":
        return message["body"], message["more_body"]
    raise ClientGone


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        # What the client is still sending is not read, so the connection cannot be used again.
        headers = {"Connection": "close"}
        raise ApiError("payload_too_large", f"The body is larger than {limit:,} bytes.", headers=headers)


def _readable(text: str) -> tuple[str, str]:
    """A message of msgspec and the JSON path of its fault, in the notation of error details.

    >>> _readable("Expected `str`, got `int` - at `$.objective`")
    ('Expected `str`, got `int`', 'objective')
    >>> _readable("Object missing required field `message`")
    ('Object missing required field `message`', 'message')
    """
    match = _AT.search(text)
    path = "" if match is None else match[1].removeprefix("$").removeprefix(".")
    message = _REGEX.sub("Expected a text that is not blank", _AT.sub("", text))
    missing = re.search(r"missing required field `(\w+)`", message)
    if missing is not None:
        path = f"{path}.{missing[1]}" if path else missing[1]
    return message, path

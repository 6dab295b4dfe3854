"""Request bodies: received under a limit, then decoded into typed values."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import IO, Any, Generic, TypeVar, cast

import msgspec
from litestar.connection import Request

from api.limits import HeldMemory
from api.schemas.errors import ApiError, ClientGone
from api.spelling import nearest

T = TypeVar("T", bound=msgspec.Struct)

IGNORED = "ignored"
"""Where the state of a request keeps the names of the fields that were ignored."""

IDLE_SECONDS = 30.0
"""A body of which nothing arrives for so long is given up."""

_UNKNOWN = "Object contains unknown field"
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_AT = re.compile(r" - at `(.*)`$")
_REGEX = re.compile(r"Expected `str` matching regex .*")


async def receive_body(request: Request[Any, Any, Any], limit: int, memory: HeldMemory | None = None) -> bytearray:
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


async def receive_file(
    request: Request[Any, Any, Any], limit: int, file: IO[bytes], hold: Callable[[int], None]
) -> int:
    """Write the body of a request, bytes of any kind, to `file`; how many there were. `file` is at its beginning then.

    Args:
        limit: as for `receive_body`.
        hold: accounts for each chunk before it is written.

    Raises:
        ApiError: `unsupported_media_type` for an encoded body, `payload_too_large`, `invalid_request` when the body is
            missing or stops arriving, `storage_error` when there is no room for it.
        ClientGone: the client left.
    """
    _check_encoding(request, limit)
    size, more = 0, True
    while more:
        chunk, more = await _next_chunk(request)
        size += len(chunk)
        _check_size(size, limit)
        hold(len(chunk))
        try:
            await asyncio.to_thread(file.write, chunk)
        except OSError as error:
            raise ApiError("storage_error", "The server has no room for the file.") from error
    if not size:
        raise ApiError("invalid_request", "The body is the file; there is none.")
    await asyncio.to_thread(file.seek, 0)
    return size


class BodyDecoder(Generic[T]):
    """Decodes the bodies of one kind of request.

    Args:
        kind: the struct that a body is. Fields that it does not have are ignored.
    """

    def __init__(self, kind: type[T]) -> None:
        self._lenient = msgspec.json.Decoder(kind)
        strict = cast("type[T]", type(kind.__name__, (kind,), {}, forbid_unknown_fields=True))
        self._strict = msgspec.json.Decoder(strict)
        self._known = frozenset(field.encode_name for field in msgspec.structs.fields(cast("Any", kind)))

    def decode(self, body: bytes | bytearray, request: Request[Any, Any, Any] | None = None) -> T:
        """The body as a value.

        Args:
            request: is told which fields were ignored, for a header of the answer.

        Raises:
            ApiError: `invalid_json` when it is no JSON in UTF-8 or nested too deeply, `invalid_request` with the path
                of the first fault when it is not what the decoder expects, or has a field that is nearly a known one.
        """
        try:
            # Bodies without unknown fields, nearly all, are read once.
            return self._strict.decode(body)
        except msgspec.ValidationError as error:
            if not str(error).startswith(_UNKNOWN):
                raise _refusal(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _refusal(error) from error
        try:
            ignored = [name for name in _fields.decode(body) if name not in self._known]
            for name in ignored:
                if (meant := nearest(name, self._known)) is not None:
                    message = f"There is no field `{name}`; did you mean `{meant}`?"
                    raise ApiError("invalid_request", message, path=name)
            if request is not None:
                request.scope["state"][IGNORED] = ignored
            return self._lenient.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _refusal(error) from error


def _refusal(error: Exception) -> ApiError:
    match error:
        case msgspec.ValidationError():
            message, path = _readable(str(error))
            if message == "Number out of range":
                return ApiError("invalid_json", "The body holds a number that is too large.", path=path)
            return ApiError("invalid_request", message, path=path)
        case UnicodeDecodeError():
            return ApiError("invalid_json", "The body is not valid UTF-8.")
        case RecursionError():
            return ApiError("invalid_json", "The body is nested too deeply.")
        case _:
            return ApiError("invalid_json", f"The body is not valid JSON: {error}.")


def _check_headers(request: Request[Any, Any, Any], limit: int) -> None:
    headers = request.headers
    length = headers.get("content-length", "")
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        if not media and length in {"", "0"} and "transfer-encoding" not in headers:
            raise ApiError("invalid_request", "This request needs a JSON body.")
        raise ApiError("unsupported_media_type", "Send the body as `Content-Type: application/json`.")
    _check_encoding(request, limit)


def _check_encoding(request: Request[Any, Any, Any], limit: int) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError("unsupported_media_type", "Send the body without a `Content-Encoding`.")
    length = request.headers.get("content-length", "")
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

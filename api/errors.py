"""From exceptions to responses: the only table of codes and statuses.

A `QuarryError` has the entry of its most specific ancestor in `PUBLIC`. Messages of faults inside and of storage are
replaced: what went wrong there is for the log.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple, cast

import msgspec
from litestar.exceptions import HTTPException

import engine
from api.schemas.errors import ApiError, ErrorBody, ErrorCode, ErrorObject, FaultDetail

STATUS: Mapping[ErrorCode, int] = {
    "invalid_json": 400,
    "invalid_request": 400,
    "too_many_documents": 400,
    "invalid_document": 400,
    "invalid_schema": 400,
    "schema_conflict": 400,
    "invalid_filter": 400,
    "unknown_attribute": 400,
    "attribute_not_filterable": 400,
    "filter_type_mismatch": 400,
    "unauthenticated": 401,
    "invalid_api_key": 401,
    "permission_denied": 403,
    "not_found": 404,
    "namespace_not_found": 404,
    "document_not_found": 404,
    "session_not_found": 404,
    "api_key_not_found": 404,
    "method_not_allowed": 405,
    "session_busy": 409,
    "session_failed": 409,
    "session_expired": 410,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "rate_limited": 429,
    "internal_error": 500,
    "storage_error": 503,
    "model_unavailable": 503,
    "overloaded": 503,
    "search_timeout": 504,
}

PUBLIC: Mapping[type[engine.QuarryError], ErrorCode] = {
    engine.QuarryError: "internal_error",
    engine.RequestError: "invalid_request",
    engine.InvalidDocument: "invalid_document",
    engine.SchemaError: "invalid_schema",
    engine.SchemaConflict: "schema_conflict",
    engine.FilterError: "invalid_filter",
    engine.UnknownAttribute: "unknown_attribute",
    engine.AttributeNotFilterable: "attribute_not_filterable",
    engine.FilterTypeMismatch: "filter_type_mismatch",
    engine.NotFound: "not_found",
    engine.NamespaceNotFound: "namespace_not_found",
    engine.DocumentNotFound: "document_not_found",
    engine.SessionNotFound: "session_not_found",
    engine.SessionExpired: "session_expired",
    engine.ApiKeyNotFound: "api_key_not_found",
    engine.SessionConflict: "session_busy",
    engine.SessionBusy: "session_busy",
    engine.SessionFailed: "session_failed",
    # Both pass by themselves or by an operator's hand; a client does well to come back.
    engine.EngineClosed: "overloaded",
    engine.ConcurrentChange: "overloaded",
    engine.StorageError: "storage_error",
    engine.StorageFull: "overloaded",
    engine.ModelError: "model_unavailable",
    engine.SearchTimeout: "search_timeout",
    engine.Overloaded: "overloaded",
}

_ROUTING: Mapping[int, tuple[ErrorCode, str]] = {
    404: ("not_found", "There is no such route."),
    405: ("method_not_allowed", "This route does not take that method."),
    413: ("payload_too_large", "The body is too large."),
    415: ("unsupported_media_type", "The body's media type is not supported."),
    429: ("rate_limited", "Too many requests."),
}

_HEADERS: Mapping[ErrorCode, Mapping[str, str]] = {
    "overloaded": {"Retry-After": "1"},
    "storage_error": {"Retry-After": "5"},
    "model_unavailable": {"Retry-After": "5"},
    "session_busy": {"Retry-After": "1"},
    # Public clients retry every 409; a failed session stays failed.
    "session_failed": {"x-should-retry": "false"},
}

_INTERNAL = "Something went wrong inside the server. The request id names it in the server's log."
_STORAGE = "What is asked for is stored but cannot be read or written now; the server's log says why."
_HIDDEN: Mapping[ErrorCode, str] = {"internal_error": _INTERNAL, "storage_error": _STORAGE}
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("quarry.errors")


def public_code(kind: type[engine.QuarryError]) -> ErrorCode:
    """The wire code of an engine error: that of its most specific ancestor in `PUBLIC`."""
    return next(PUBLIC[ancestor] for ancestor in kind.__mro__ if ancestor in PUBLIC)


def public_code_of(code: str) -> ErrorCode:
    """The wire code of an engine error that is known only by its `code`, as in a failed search."""
    if code in STATUS:
        return cast("ErrorCode", code)
    kind = _by_code().get(code)
    return "internal_error" if kind is None else public_code(kind)


def describe(error: BaseException, request_id: str) -> tuple[ErrorObject, Mapping[str, str]]:
    """The error object of an exception and the headers that go with it. Logs what nobody did on purpose."""
    headers: Mapping[str, str] = {}
    if isinstance(error, ApiError):
        code, message, details, headers = error.code, error.message, error.details, error.headers
    elif isinstance(error, engine.QuarryError):
        code, message, details = public_code(type(error)), error.message, error.details
    elif isinstance(error, HTTPException):
        code, message = _ROUTING.get(error.status_code, ("invalid_request", "The request is malformed."))
        if error.status_code >= 500:
            code = "internal_error"
        details, headers = (), error.headers or {}
    else:
        code, message, details = "internal_error", _INTERNAL, ()
    if code in _HIDDEN:
        # The traceback names files and values: it belongs into the log and nowhere else.
        _log.error("request failed", exc_info=error, extra={"request_id": request_id})
        message, details = _HIDDEN[code], ()
    faults = [FaultDetail(detail.path, detail.message) for detail in details]
    body = ErrorObject(code=code, message=message, details=faults, request_id=request_id)
    return body, {**_HEADERS.get(code, {}), **headers}


def public_failure(code: str, message: str, request_id: str) -> ErrorObject:
    """The error object of a search that failed with the engine's `code`."""
    public = public_code_of(code)
    return ErrorObject(code=public, message=_HIDDEN.get(public, message), request_id=request_id)


class Rendered(NamedTuple):
    """The response that an exception becomes; the body is JSON."""

    code: ErrorCode
    status: int
    headers: Mapping[str, str]
    body: bytes


def rendered(error: BaseException, request_id: str) -> Rendered:
    """Status, headers and body for an exception."""
    body, headers = describe(error, request_id)
    return Rendered(body.code, STATUS[body.code], headers, _encode(ErrorBody(body)))


def _by_code() -> dict[str, type[engine.QuarryError]]:
    kinds: dict[str, type[engine.QuarryError]] = {}
    waiting: list[type[engine.QuarryError]] = [engine.QuarryError]
    while waiting:
        kind = waiting.pop()
        # A subclass without a code of its own shares its parent's; the parent speaks for it.
        kinds.setdefault(kind.code, kind)
        waiting.extend(kind.__subclasses__())
    return kinds

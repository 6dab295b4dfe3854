"""The one error body, and the exception that carries it through the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from engine import ErrorDetail

ErrorCode = Literal[
    "invalid_json",
    "invalid_request",
    "too_many_documents",
    "invalid_document",
    "invalid_schema",
    "schema_conflict",
    "invalid_filter",
    "unknown_attribute",
    "attribute_not_filterable",
    "filter_type_mismatch",
    "unauthenticated",
    "invalid_api_key",
    "permission_denied",
    "not_found",
    "namespace_not_found",
    "document_not_found",
    "session_not_found",
    "api_key_not_found",
    "method_not_allowed",
    "payload_too_large",
    "unsupported_media_type",
    "session_busy",
    "session_failed",
    "session_expired",
    "rate_limited",
    "internal_error",
    "storage_error",
    "model_unavailable",
    "overloaded",
    "search_timeout",
]


class FaultDetail(msgspec.Struct, frozen=True):
    """One fault of the request."""

    path: Annotated[str, msgspec.Meta(description="Where it stands.", examples=["filters.status"])]
    message: Annotated[str, msgspec.Meta(description="What is wrong with it.")]


class ErrorObject(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong. `code` is stable; `message` is for people and may change."""

    code: ErrorCode
    message: str
    details: list[FaultDetail] = []
    request_id: Annotated[str, msgspec.Meta(description="Also in the header X-Request-Id and in the server's log.")]


class ErrorBody(msgspec.Struct, frozen=True):
    """Body of every response that is not a success."""

    error: ErrorObject


class ApiError(Exception):
    """A refusal that only HTTP knows: of authentication, routing, media types, bodies and limits.

    Attributes:
        headers: sent beside the body, such as ``Retry-After``.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        path: str = "",
        details: tuple[ErrorDetail, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.details = details or ((ErrorDetail(path, message),) if path else ())
        self.headers = dict(headers or {})


class ClientGone(Exception):
    """The client closed the connection before the answer; nobody reads what is sent now."""

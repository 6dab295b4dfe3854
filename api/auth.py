"""Who asks, and what they may do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from api.schemas.errors import ApiError
from api.schemas.operation import ANY_KEY, OPERATION, Operation
from engine import DEFAULT_COMPANY, ApiKey, KeyStore

KEY = "api_key"
"""Where the state of a request keeps its `ApiKey`."""

_BEARER = re.compile(rb"bearer +([\x21-\x7e]+) *", re.IGNORECASE)
_MISSING = {"WWW-Authenticate": "Bearer"}
_WRONG = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


def authenticate(headers: Iterable[tuple[bytes, bytes]], keys: KeyStore) -> ApiKey:
    """The key that a request carries in ``Authorization: Bearer …`` (RFC 6750, section 2.1).

    Raises:
        ApiError: `unauthenticated` when the header is missing, malformed or there twice; `invalid_api_key`, with one
            text, when the key is unknown, revoked or expired.
    """
    values = [value for name, value in headers if name == b"authorization"]
    match = _BEARER.fullmatch(values[0].strip()) if len(values) == 1 else None
    if match is None:
        raise ApiError("unauthenticated", "Send an API key as `Authorization: Bearer <key>`.", headers=_MISSING)
    key = keys.verify(match[1].decode("ascii"))
    if key is None:
        raise ApiError("invalid_api_key", "The API key is not valid.", headers=_WRONG)
    return key


async def require_scope(connection: ASGIConnection[Any, Any, Any, Any], route_handler: BaseRouteHandler) -> None:
    """Guard of every route: the key must allow what the route's `Operation` asks for.

    Raises:
        ApiError: `permission_denied`; `unauthenticated` should a request come here without having been authenticated.
    """
    if connection.scope["type"] == "http" and connection.scope["method"] == "OPTIONS":
        # The framework's own handler: it names the methods of the path and touches nothing.
        return
    operation: Operation = route_handler.opt[OPERATION]
    if operation.scope is None:
        return
    key: ApiKey | None = connection.scope["state"].get(KEY)
    if key is None:
        raise ApiError("unauthenticated", "Send an API key as `Authorization: Bearer <key>`.", headers=_MISSING)
    if operation.scope != ANY_KEY and not key.allows(operation.scope):
        raise ApiError("permission_denied", f"This API key does not have the scope `{operation.scope}`.")


def require_operator(key: ApiKey) -> None:
    """Metrics add up all companies, so they are for admin keys of the company that runs the server.

    Raises:
        ApiError: `permission_denied`.
    """
    if not (key.allows("admin") and key.company_name == DEFAULT_COMPANY):
        raise ApiError("permission_denied", f"This needs an admin key of company `{DEFAULT_COMPANY}`.")

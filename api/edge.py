"""What happens to every request before it is routed, and to every answer after.

In this order: request id, cross-origin preflight, the path that routing works on, authentication of everything under
``/v1``, rate limit; then the route; then headers, metrics and one line of log.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote, quote_from_bytes

from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from api.auth import KEY
from api.bodies import IGNORED
from api.errors import rendered
from api.schemas.errors import ApiError
from api.service import CODE, REQUEST_ID, USAGE, Service
from api.usage import UsageNote
from engine import TENANT, ApiKey, QuarryError

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
CLIENT_GONE = 499
UNMATCHED = "unmatched"
KEYED = ("v1", "metrics")
"""First path segments under which every request needs a key, whether there is such a route or not."""

_SHOWN_NAMES, _SHOWN_NAME = 20, 64
_HEADER_NAMES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+(\s*,\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*", re.ASCII)
_NAMELESS = "/v1/namespaces//"
_NO_SESSION = re.compile(r"/v1/namespaces/[^/]+/search/+")
_NO_DOCUMENT = re.compile(r"/v1/namespaces/[^/]+/documents/")
_DOCUMENT = re.compile(r"/v1/namespaces/([^/]+)/documents/(.+)", re.DOTALL)
_ROUTES_BESIDE_IDS = ("delete", "list")
_OWN_ID = re.compile(rb"req_[A-Za-z0-9_-]{8,64}")
_CLIENT_ID = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")
_log = logging.getLogger("quarry.request")


class Edge:
    """The ASGI application around the router.

    Args:
        methods: value of the header ``Allow`` by path template. The framework knows the methods of a handler only.
    """

    def __init__(self, router: ASGIApp, service: Service, methods: Mapping[str, str]) -> None:
        self._router = router
        self._service = service
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = request_id_for(headers)
        scope["state"][REQUEST_ID] = request_id
        traces = self._service.traces
        if traces is None:
            await self._handle(scope, receive, send, headers, request_id)
            return
        with traces.request(scope["method"], scope["headers"]) as span:
            status = await self._handle(scope, receive, send, headers, request_id)
            span.finish(scope["method"], template_of(scope), status, request_id, scope["state"].get(CODE))

    async def _handle(
        self, scope: HTTPScope, receive: Receive, send: Send, headers: Mapping[bytes, bytes], request_id: str
    ) -> int:
        """Answer one request; the status that was sent."""
        begin = time.perf_counter()
        state = scope["state"]
        cors = self._cors(headers)
        path = routing_path(scope)
        status = CLIENT_GONE
        is_unread = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers

        async def receive_whole() -> Any:
            nonlocal is_unread
            message = await receive()
            if message["type"] == "http.request" and not message["more_body"]:
                is_unread = False
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                allowed = self._methods.get(template_of(scope), "") if scope["method"] == "OPTIONS" else ""
                own = {**cors, **_ignored(state), "X-Request-Id": request_id}
                if is_unread:
                    # Where the next request begins is not known before the rest of this one was read.
                    own["Connection"] = "close"
                message["headers"] = _completed(message["headers"], own | ({"Allow": allowed} if allowed else {}))
            await send(message)

        try:
            if scope["method"] == "OPTIONS" and cors and b"access-control-request-method" in headers:
                await _preflight(send_with_headers)
                return status
            if path.split("/", 2)[1] in KEYED:
                key = await self._service.key_in(scope["headers"])
                state[KEY] = key
                TENANT.set(key.id)
                self._service.rate.spend(key.id)
            _check_named(scope["method"], path)
            scope["path"] = path
            await self._router(scope, receive_whole, send_with_headers)
        except (ApiError, QuarryError) as error:
            answer = rendered(error, request_id)
            state[CODE] = answer.code
            response = ASGIResponse(body=answer.body, status_code=answer.status, headers=dict(answer.headers))
            await response(scope, receive_whole, send_with_headers)
        finally:
            seconds = time.perf_counter() - begin
            note: UsageNote | None = state.get(USAGE)
            if note is not None and status < 400:
                self._service.usage.add(state[KEY].company_id, note, request_id, seconds)
            self._report(scope, status, seconds, headers.get(b"x-request-id", b""))
        return status

    def _cors(self, headers: Mapping[bytes, bytes]) -> dict[str, str]:
        origins = self._service.settings.cors_origins
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origins or not origin:
            return {}
        if "*" not in origins and origin not in origins:
            return {}
        # Clients bring headers of their own. Which ones a page may send matters to no one once its origin is let in.
        asked = headers.get(b"access-control-request-headers", b"").decode("latin-1")
        return {
            "Access-Control-Allow-Origin": "*" if "*" in origins else origin,
            "Access-Control-Allow-Methods": "GET, POST, DELETE",
            "Access-Control-Allow-Headers": asked if _HEADER_NAMES.fullmatch(asked) else "Authorization, Content-Type",
            "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, x-should-retry, X-Quarry-Ignored",
            "Access-Control-Max-Age": "600",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "Vary": "Origin, Access-Control-Request-Headers" if asked else "Origin",
        }

    def _report(self, scope: HTTPScope, status: int, seconds: float, client_id: bytes) -> None:
        state: dict[str, Any] = scope["state"]
        route = template_of(scope)
        key: ApiKey | None = state.get(KEY)
        method = scope["method"] if route != UNMATCHED else "ANY"
        self._service.metrics.request(method, route, status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        fields = {
            "request_id": state[REQUEST_ID],
            "client_request_id": client_id.decode() if client_id and _CLIENT_ID.fullmatch(client_id) else None,
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1_000, 2),
            "code": state.get(CODE),
            "key_id": None if key is None else key.id,
            "company": None if key is None else key.company_name,
        }
        _log.info("request", extra=fields)


def _check_named(method: str, path: str) -> None:
    # The router would pass over the gap and read what follows as the name: `documents`, say, and delete that.
    if path.startswith(_NAMELESS):
        raise ApiError("invalid_request", "The name of the namespace is empty.", path="namespace")
    # It would take an empty id for none, and begin a new search or list all documents.
    if method == "POST" and _NO_SESSION.fullmatch(path):
        raise ApiError("session_not_found", "The id of the session is empty.")
    if method == "GET" and _NO_DOCUMENT.fullmatch(path):
        raise ApiError("document_not_found", "The id of the document is empty.")


def request_id_for(headers: Mapping[bytes, bytes]) -> str:
    """The id that a proxy gave, when it has our form, else a new one; any other incoming id is logged beside it."""
    given = headers.get(b"x-request-id", b"")
    return given.decode() if _OWN_ID.fullmatch(given) else f"req_{secrets.token_urlsafe(16)}"


def template_of(scope: HTTPScope) -> str:
    """The template of the route that a request was matched to."""
    return cast("dict[str, Any]", scope).get("path_template", UNMATCHED)


def routing_path(scope: HTTPScope) -> str:
    """The path as it came, still percent-encoded, with a document's id made one segment.

    Routers decode first, and then cannot tell ``a%2Fb`` from ``a/b``, nor keep ``a//b``. So routing works on the
    undecoded path, handlers decode their parameters, and a slash inside an id is written ``%2F`` here.
    """
    raw = scope["raw_path"] or quote(scope["path"]).encode()
    path = raw.decode() if raw.isascii() else quote_from_bytes(raw, safe="/%:@!$&'()*+,;=~-._")
    path = f"/{path.lstrip('/')}"
    match = _DOCUMENT.fullmatch(path)
    if match is None:
        return path
    namespace, document = match.groups()
    if document in _ROUTES_BESIDE_IDS:
        if scope["method"] != "GET":
            return path
        # To GET it is the id of a document; every other method means the route of that name.
        document = f"%{ord(document[0]):x}{document[1:]}"
    return f"/v1/namespaces/{namespace}/documents/{document.replace('/', '%2F')}"


def _completed(given: Iterable[tuple[bytes, bytes]], own: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with ours; those that it has stay, but for ``Allow``, of which the router knows less."""
    headers = [header for header in given if not ("Allow" in own and header[0].lower() == b"allow")]
    present = {name.lower() for name, _ in headers}
    for name, value in {**SECURITY_HEADERS, **own}.items():
        encoded = name.lower().encode()
        if encoded not in present:
            headers.append((encoded, value.encode("latin-1")))
    return headers


def _ignored(state: Mapping[str, Any]) -> dict[str, str]:
    """The header that names the fields of the body which mean nothing here, percent-encoded."""
    names: Sequence[str] = state.get(IGNORED, ())
    if not names:
        return {}
    shown = [quote(name[:_SHOWN_NAME], safe="$ ") for name in names[:_SHOWN_NAMES]]
    return {"X-Quarry-Ignored": ", ".join(shown + ["..."] * (len(names) > _SHOWN_NAMES))}


async def _preflight(send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b"", "more_body": False})

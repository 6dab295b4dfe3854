"""Puts the server together: `create_app` gives the ASGI application for one data directory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from litestar import Litestar
from litestar.connection import Request
from litestar.response import Response
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from api.auth import require_scope
from api.edge import CLIENT_GONE, Edge
from api.errors import STATUS, rendered
from api.routes import (
    about,
    account,
    admin,
    api_keys,
    attributes,
    console,
    documents,
    files,
    health,
    namespaces,
    retrieval,
    schema,
    search,
)
from api.schemas.errors import ClientGone
from api.schemas.openapi import Entry, openapi_document
from api.schemas.operation import OPERATION, Operation
from api.service import CODE, Service, request_id_of
from api.settings import Settings
from api.tracing import Traces, open_traces

ROUTES: tuple[ControllerRouterHandler, ...] = (
    search.search,
    search.continue_search,
    documents.upload_documents,
    files.upload_file,
    documents.get_document,
    documents.random_document,
    documents.delete_documents,
    documents.delete_documents_by_post,
    retrieval.retrieve,
    retrieval.list_documents,
    retrieval.list_documents_by_post,
    namespaces.list_namespaces,
    namespaces.namespace_stats,
    namespaces.get_namespace,
    namespaces.delete_namespace,
    attributes.attribute_values,
    api_keys.create_api_key,
    api_keys.list_api_keys,
    api_keys.delete_api_key,
    account.whoami,
    account.list_usage_events,
    account.get_usage_event,
    admin.backup,
    health.healthz,
    health.readyz,
    health.metrics,
    schema.openapi_json,
    schema.schema_json,
    schema.schema,
    schema.docs,
    about.about,
    console.root,
    console.console,
    console.console_file,
)


def create_app(settings: Settings, traces: Traces | None = None) -> Litestar:
    """The application. Its lifespan opens the data directory and closes it again.

    `app.state.service` is the `Service`, `app.state.document` the OpenAPI document.

    Args:
        traces: where spans go; None leaves that to the settings.

    Raises:
        SettingsError: the settings want something that is not installed.
    """
    service = Service(settings, traces or open_traces(settings))

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncGenerator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    handlers: dict[int | type[Exception], Any] = {Exception: _answer_error}
    app = Litestar(
        ROUTES,
        lifespan=[lifespan],
        guards=[require_scope],
        exception_handlers=handlers,
        openapi_config=None,
        logging_config=None,
        # Bodies are limited where they are received (api.bodies), with a limit for each kind.
        request_max_body_size=None,
        debug=False,
    )
    app.state.service = service
    entries = operations(app)
    app.state.document = openapi_document(entries, STATUS)
    app.asgi_handler = Edge(app.asgi_handler, service, _methods(entries))
    return app


def operations(app: Litestar) -> list[Entry]:
    """Every route with its documentation, by path and method."""
    found: list[Entry] = []
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler in route.route_handlers:
            operation: Operation | None = handler.opt.get(OPERATION)
            if operation is not None:
                method = next(iter(cast("set[str]", handler.http_methods)))
                found.append(Entry(method.lower(), route.path_format, operation))
    return sorted(found, key=lambda entry: (entry.path, entry.method))


def _methods(entries: list[Entry]) -> dict[str, str]:
    methods: dict[str, set[str]] = defaultdict(lambda: {"OPTIONS"})
    for entry in entries:
        methods[entry.path].add(entry.method.upper())
    return {path: ", ".join(sorted(names)) for path, names in methods.items()}


def _answer_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    if isinstance(error, ClientGone):
        return Response(b"", status_code=CLIENT_GONE)
    answer = rendered(error, request_id_of(request))
    request.scope["state"][CODE] = answer.code
    headers = dict(answer.headers)
    return Response(answer.body, status_code=answer.status, headers=headers, media_type="application/json")

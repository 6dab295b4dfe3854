"""``quarry mcp``: the documents as tools of an assistant."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import click

from api.cli.opened import existing
from api.cli.options import company_option, data_option
from api.cli.output import messages, reports_errors
from api.places import Place

if TYPE_CHECKING:
    import socket

    from engine import Engine

PATH = "/mcp"

Scope = dict[str, Any]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]


@click.command()
@click.option(
    "--http", is_flag=True, help="Listen over HTTP instead of standard input; every request needs an API key."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8001, show_default=True, help="Port; 0 takes a free one."
)
@data_option
@company_option
@reports_errors
def mcp(http: bool, host: str, port: int, data: Place | None, company: str) -> None:  # noqa: FBT001
    """Give an assistant the tools search, retrieve, get_document and list_namespaces (Model Context Protocol).

    Over standard input by default, as desktop assistants start it: their configuration names the command `quarry` with
    the arguments `mcp --data DIR`. The data directory is in use as long as it runs.
    """
    try:
        from api.integrations.mcp_server import make_server
    except ImportError as error:
        raise click.ClickException("this needs the extra 'mcp': pip install 'quarry-search[mcp]'") from error
    with existing(data, company) as quarry:
        quarry.warm()
        server = make_server(quarry, version("quarry-search"))
        with contextlib.suppress(KeyboardInterrupt):
            if http:
                _serve(with_keys(server.streamable_http_app(streamable_http_path=PATH, host=host), quarry), host, port)
            else:
                anyio.run(server.run_stdio_async)


def with_keys(app: App, quarry: Engine) -> App:
    """`app` for keys of the engine's company with the scopes ``read`` and ``search``; others get 401 or 403."""
    from api.auth import authenticate
    from api.schemas.errors import ApiError

    async def guarded(
        scope: Scope, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        status, headers = 403, dict[str, str]()
        try:
            key = await anyio.to_thread.run_sync(authenticate, scope["headers"], quarry.keys)
            if key.company_name == quarry.company and key.allows("read") and key.allows("search"):
                await app(scope, receive, send)
                return
        except ApiError as error:
            status, headers = 401, dict(error.headers or {})
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": [*raw, (b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    return guarded


def _serve(app: App, host: str, port: int) -> None:
    import uvicorn

    class Announcing(uvicorn.Server):
        """Says where it listens once it does."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            for listening in self.servers:
                for bound in listening.sockets:
                    messages.print(f"listening on http://{host}:{bound.getsockname()[1]}{PATH}")

    Announcing(uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=5)).run()

"""Runs the server: uvicorn in this process, which owns its data directory, or in several that share a database."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import uvicorn

from api.app import create_app
from api.connections import bounded
from api.logs import configure_logging
from api.memory import limit_arenas, settled
from api.service import Service
from api.settings import Settings, SettingsError, shown
from api.workers import run_workers
from engine import QuarryError

VERSION = version("quarry-search")
KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep their connections, so that it is the proxy that ends them."""

BACKLOG = 256
"""Connections that wait to be taken. Each is a descriptor as soon as it is."""

DESCRIPTORS = 65_536
"""Files and connections that may be open at once, where the system allows it."""

LAST_WORDS_SECONDS = 5.0
"""How long an answer may take to leave after its search was ended."""


_log = logging.getLogger("quarry.server")


def serve(settings: Settings, workers: int = 1) -> int:
    """Serve until SIGINT or SIGTERM; print ``listening on http://HOST:PORT`` once requests are answered.

    Told to stop, it takes no new connections, lets what runs go on for `shutdown_seconds`, and then ends open streams
    with an ``error`` event.

    Args:
        workers: processes; more than one only where data is in a database.

    Returns:
        Exit code: 0 after an orderly end, else 1; the log says why.

    Raises:
        SettingsError: the address cannot be listened on, or one process alone may use the data.
        QuarryError: the data directory could not be opened, or the key in the settings cannot be used.
    """
    limit_arenas()
    configure_logging(settings.log_level, settings.log_format)
    if workers > 1 and isinstance(settings.data, Path):
        raise SettingsError(
            "One process owns a data directory; several workers need a database: --data postgresql://…."
        )
    sockets = listening_sockets(settings.host, settings.port)
    if workers == 1:
        return _serve(settings, sockets)

    def work(is_first: bool) -> int:  # noqa: FBT001 - of `run_workers`
        try:
            return _serve(settings, sockets, announces=is_first)
        except (QuarryError, SettingsError) as error:
            _log.error("cannot start: %s", getattr(error, "message", error))
            return 1

    return run_workers(workers, sockets, work)


def _serve(settings: Settings, sockets: list[socket.socket], *, announces: bool = True) -> int:
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        lifespan="on",
        http=bounded(_connections(settings.connections)),
        backlog=BACKLOG,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.shutdown_seconds + LAST_WORDS_SECONDS) + 1,
    )
    server = _Server(config, app.state.service, settings, announces=announces)
    try:
        server.run(sockets)
    except SystemExit:
        # uvicorn's way to say that it could not begin; its codes are not ours.
        return 1
    return 0 if server.started else 1


def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of `host`, bound and not yet listening; port 0 binds the first address alone.

    Raises:
        SettingsError: says why not, and what can be done.
    """
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise SettingsError(f"{host!r} is no address of this machine; see --host and QUARRY_HOST.") from error
    sockets: list[socket.socket] = []
    for family, kind, protocol, _, address in found if port else found[:1]:
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            made.bind(address)
        except OSError as error:
            for each in (made, *sockets):
                each.close()
            raise SettingsError(_unbound(host, port, error)) from error
        sockets.append(made)
    return sockets


def _unbound(host: str, port: int, error: OSError) -> str:
    other = "choose another with --port or QUARRY_PORT; 0 takes a free one"
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} of {host} is in use: stop what listens there, or {other}."
        case errno.EACCES:
            return f"Port {port} of {host} may not be used without privileges: {other}."
        case errno.EADDRNOTAVAIL:
            return f"{host!r} is no address of this machine; see --host and QUARRY_HOST."
        case _:
            return f"Port {port} of {host} cannot be used ({error.strerror}): {other}."


def _connections(wanted: int) -> int:
    """How many connections there may be: half of the descriptors stay with the data, which needs them more."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        least = DESCRIPTORS if most == resource.RLIM_INFINITY else min(most, DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
    return min(wanted, max(least // 2, 16))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: Service, settings: Settings, *, announces: bool) -> None:
        super().__init__(config)
        self._service = service
        self._settings = settings
        self._announces = announces
        self._began = time.monotonic()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        # Opened here, so that an engine that cannot be opened raises its own error and not a failed lifespan.
        await self._service.open()
        with settled():
            await super().serve(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        with super().capture_signals():
            yield
            # uvicorn would raise the signal again and so end the process with it; an orderly end is no failure.
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            count = (await self._service.read(self._service.engine.totals)).namespaces
            _log.info("started", extra={"version": VERSION, "namespaces": count, "settings": shown(self._settings)})
            if not self._announces:
                return
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            written = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"listening on http://{written}:{port}\n")
            sys.stdout.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.stopping.set()
        ending = asyncio.get_running_loop().call_later(self._settings.shutdown_seconds, self._service.closing.set)
        await super().shutdown(sockets)
        ending.cancel()
        _log.info("stopped", extra={"version": VERSION, "uptime_s": round(time.monotonic() - self._began, 1)})

"""What the routes of one server share: the engine as each company sees it, worker threads, limits and metrics."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from litestar.connection import Request

import engine
from api.auth import KEY, authenticate
from api.limits import HeldMemory, RateLimit, SearchSlots
from api.metrics import Metrics
from api.settings import Settings
from api.tracing import Traces
from api.usage import UsageLog, UsageNote

T = TypeVar("T")
_log = logging.getLogger("quarry.models")
_start_log = logging.getLogger("quarry.start")

READERS, READERS_OF_ONE = 8, 6
WRITERS, WRITERS_OF_ONE = 3, 2
"""Threads that read and that write, in all and for one key."""
CONVERTERS = 2
"""Threads that read files, one at most for a key; each may have a process of its own."""

CHECKERS = 4
"""Threads that look up keys in a database."""

ANSWER_BYTES = 512 * 1024 * 1024
"""Large answers that are held at once, until their clients have taken them."""

REQUEST_ID = "request_id"
CODE = "code"
"""Where the state of a request keeps its id, and the error code of its answer for the log."""
USAGE = "usage"
"""Where it keeps its `UsageNote`."""


class Service:
    """Opened before the first request and closed after the last.

    Uploads have threads of their own: while they are written, reads go on. One key never has all threads of a kind.

    Attributes:
        traces: where spans go; None for nowhere.
        stopping: set when the server was told to stop; no new work should come.
        closing: set when the server gives up the searches that still run.
        usage: what companies have asked and written.
        backing_up: held while a backup is made.
    """

    def __init__(self, settings: Settings, traces: Traces | None = None) -> None:
        self.settings = settings
        self.traces = traces
        self.metrics = Metrics(None if traces is None else traces.stage)
        self.rate = RateLimit(settings.rate_limit)
        self.slots = SearchSlots(settings.key_searches, settings.searches)
        self.uploads = HeldMemory(
            settings.upload_memory_bytes, "The server is receiving too many large uploads. Try again."
        )
        self.files = HeldMemory(settings.upload_memory_bytes, "The server is reading too many files. Try again.")
        self.answers = HeldMemory(ANSWER_BYTES, "The server is sending too many large answers. Try again.")
        self.stopping = asyncio.Event()
        self.closing = asyncio.Event()
        self._pinging: asyncio.Future[None] | None = None
        self.usage = UsageLog(settings.usage_days)
        self.backing_up = asyncio.Lock()
        self._readers = engine.FairThreads(READERS, "read", per_tenant=READERS_OF_ONE)
        self._writers = engine.FairThreads(WRITERS, "write", per_tenant=WRITERS_OF_ONE)
        self._converters = engine.FairThreads(CONVERTERS, "file", per_tenant=1)
        # Keys have threads of their own: uploads and reads that wait for a database must not keep others out.
        self._checks = engine.FairThreads(CHECKERS, "key")
        self._engine: engine.Engine | None = None
        self._companies: dict[str, engine.Engine] = {}
        self.metrics.watch("quarry_searches", "Searches under way.", lambda: self.slots.running)
        self.metrics.watch("quarry_upload_bytes", "Bytes of uploads in memory.", lambda: self.uploads.held)
        self.metrics.watch("quarry_open_namespaces", "Namespaces that hold memory and files.", self._open_namespaces)

    async def open(self) -> None:
        """Open the data directory, unless it is open. Raises what `engine.open` raises."""
        if self._engine is not None:
            return
        settings = self.settings
        opened = await self.read(
            lambda: engine.open(
                settings.data, embedder=settings.embedder, settings=settings.engine_settings(), observer=self.metrics
            )
        )
        try:
            if settings.api_key is not None:
                opened.keys.register_root(settings.api_key)
            await self.read(opened.warm)
        except BaseException:
            opened.close()
            raise
        if settings.api_key is None and not await self.read(lambda: opened.has_keys):
            _start_log.warning(
                "there is no API key, so every request is refused: make one with "
                "`quarry keys create NAME --scope admin` while no server runs, or set QUARRY_API_KEY"
            )
        for notice in opened.notices:
            _start_log.warning(notice)
        if isinstance(folder := settings.data, Path):
            await self.read(lambda: self.usage.open(folder))
        else:
            _start_log.info("usage events are kept for data directories only; there are none here")
        self._engine = opened
        self._companies[opened.company] = opened
        # Beside the start and not before it: a model service that hangs must not keep documents from being served.
        self._readers.submit(None, lambda: self._warn_of_models(opened))

    def _open_namespaces(self) -> int:
        return 0 if self._engine is None else self._engine.open_namespaces

    def _warn_of_models(self, opened: engine.Engine) -> None:
        for problem in opened.model_problems():
            _log.warning("language model: %s", problem)

    async def close(self) -> None:
        """End what still runs, save and release the data directory."""
        self.closing.set()
        if self._engine is not None:
            await self.write(self._engine.close)
            await self.read(self.usage.close)
        self._checks.shutdown()
        self._readers.shutdown()
        self._writers.shutdown()
        self._converters.shutdown()
        if self.traces is not None:
            self.traces.close()

    @property
    def engine(self) -> engine.Engine:
        """The engine as the default company sees it. Raises `EngineClosed` before `open`."""
        if self._engine is None:
            raise engine.EngineClosed
        return self._engine

    async def key_in(self, headers: Iterable[tuple[bytes, bytes]]) -> engine.ApiKey:
        """As `authenticate`: at once from memory, or in a thread where a database must be asked."""
        quarry = self.engine
        if not quarry.is_shared:
            return authenticate(headers, quarry.keys)
        return await asyncio.wrap_future(self._checks.submit(None, lambda: authenticate(headers, quarry.keys)))

    async def engine_for(self, request: Request[Any, Any, Any]) -> engine.Engine:
        """The engine as the company of the request's key sees it."""
        name = key_of(request).company_name
        if name not in self._companies:
            self._companies[name] = await self.read(lambda: self.engine.for_company(name))
        return self._companies[name]

    def companies(self) -> list[engine.Engine]:
        """The companies that have been seen since the start."""
        return list(self._companies.values())

    async def ping(self) -> None:
        """Have storage answer a query; those who ask while it hangs wait for the same one."""
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.ensure_future(self.read(self.engine.ping))
            # Whoever asked may be gone when it fails.
            self._pinging.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._pinging)

    async def read(self, call: Callable[[], T]) -> T:
        """Run a blocking call that does not write documents. Keys are served in turn."""
        return await _run(self._readers, call, None)

    async def write(self, call: Callable[[], T], lane: Hashable | None = None) -> T:
        """Run a blocking call that writes documents, or decodes large bodies. Keys are served in turn.

        Args:
            lane: what no two calls write at once; the second one would only wait in a thread of its own.
        """
        return await _run(self._writers, call, lane)

    async def convert(self, call: Callable[[], T]) -> T:
        """Run a blocking call that reads a file and stores its documents; uploads of documents do not wait for it."""
        return await _run(self._converters, call, None)


async def _run(threads: engine.FairThreads, call: Callable[[], T], lane: Hashable | None) -> T:
    # With the context of the request, so that its stages become part of its trace.
    run = partial(contextvars.copy_context().run, call)
    return await asyncio.wrap_future(threads.submit(engine.TENANT.get(), run, lane))


def key_of(request: Request[Any, Any, Any]) -> engine.ApiKey:
    """The key that the request was authenticated with."""
    return request.scope["state"][KEY]


def note_usage(request: Request[Any, Any, Any], note: UsageNote) -> None:
    """Have the request recorded as usage of its company, should it succeed."""
    request.scope["state"][USAGE] = note


def request_id_of(request: Request[Any, Any, Any]) -> str:
    """The id of the request."""
    return request.scope["state"][REQUEST_ID]


def service_of(request: Request[Any, Any, Any]) -> Service:
    """The service of the application that the request came to."""
    return request.app.state.service

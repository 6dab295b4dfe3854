"""Puts the parts of an engine together and takes them apart again."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from datetime import timedelta
from pathlib import Path

from engine.agent.claude.agent import ClaudeAgent
from engine.agent.offline.agent import OfflineAgent
from engine.agent.searches import Searches
from engine.agent.workers import THREADS, WAITING_THREADS, Workers
from engine.backend.embedded.backend import NAMESPACES_FOLDER, EmbeddedBackend
from engine.backups import BackupReport, write_backup
from engine.embedding.protocol import Embedder
from engine.embedding.registry import load_embedder
from engine.embedding.wordllama import WordLlamaMean
from engine.errors import NamespaceNotFound, StorageError
from engine.ingest.pipeline import Ingest
from engine.llm.claude import ClaudeModel
from engine.llm.loop_thread import LoopThread
from engine.llm.protocol import TokenUsage
from engine.model.events import Event, StatusEvent
from engine.model.namespace import DEFAULT_COMPANY, NamespaceState, NamespaceStats, StorageTotals
from engine.model.observer import Observer
from engine.model.search import SearchResponse
from engine.ranking.cross_encoder import load_reranker
from engine.ranking.rerank import Reranker
from engine.retrieval.retriever import Retriever
from engine.settings import EngineSettings
from engine.storage.catalog import Catalog, Company
from engine.storage.catalog_file import CatalogFile
from engine.storage.clock import utc_now
from engine.storage.format import ensure_format
from engine.storage.keys import Keyring, KeyStore
from engine.storage.lock import DirectoryLock
from engine.storage.sessions import SessionStore
from engine.storage.upkeep import Task, Upkeep

_log = logging.getLogger(__name__)


class Core:
    """What all engines of one data directory share; owned by whoever called `engine.open`."""

    def __init__(
        self,
        directory: Path,
        lock: DirectoryLock,
        file: CatalogFile,
        embedder: Embedder,
        reranker: Reranker | None,
        settings: EngineSettings,
        observer: Observer,
    ) -> None:
        self._directory = directory
        self._lock = lock
        self._embedder = embedder
        self._file = file
        self.settings = settings
        self.closed = False
        self.catalog = Catalog(file)
        self.keyring = Keyring(file)
        self.sessions = SessionStore(file, timedelta(hours=settings.session_hours))
        self.backend = EmbeddedBackend(directory / NAMESPACES_FOLDER, settings, self._mirror)
        self.backend.recover(self.catalog.namespace_ids())
        self._reconcile()
        self.ingest = Ingest(self.catalog, self.backend, embedder, settings, observer)
        self.retriever = Retriever(self.backend, embedder, observer, reader=reranker)
        self._model = _model(settings, observer)
        self._workers = Workers(THREADS if isinstance(embedder, WordLlamaMean) else WAITING_THREADS)
        offline = OfflineAgent(embedder, self._workers.run)
        make_steps = offline.steps
        if self._model is not None:
            make_steps = ClaudeAgent(self._model, offline.steps, budget=settings.budget, observer=observer).steps
        self.searches = Searches(
            self.retriever,
            self.backend,
            self.sessions,
            make_steps,
            offline.planner.plan_now,
            settings.budget,
            observer,
            lambda: utc_now().date(),
            self._workers,
            tells_sentences=settings.stream_sentences,
        )
        self._runner = LoopThread("quarry-search")
        sessions = Task("sessions", 300.0, self.sessions.purge)
        counts, keys = Task("namespaces", 1.0, self.catalog.flush), Task("keys", 60.0, self.keyring.flush)
        self._upkeep = Upkeep(
            [counts, keys, sessions],
            first=[sessions],
        )

    def run(self, start: Callable[[], AsyncGenerator[Event]]) -> SearchResponse:
        """The last event's response of the stream that `start` makes, for callers without an event loop; blocks."""
        return self._runner.run_sync(_last(start()))

    @property
    def has_model(self) -> bool:
        """Whether searches use a language model."""
        return self._model is not None

    def warm(self) -> None:
        """Have the embedder load its model."""
        self._embedder.embed_queries(["warm"])

    def ping(self) -> None:
        """Have the catalog's database answer a query. Raises `StorageError` when it does not."""
        with self._file.read() as cursor:
            cursor.execute("SELECT generation FROM state").fetchone()

    def keys(self, company: Company) -> KeyStore:
        """The API keys of `company`."""
        return KeyStore(self.keyring, company)

    def model_problems(self) -> list[str]:
        """What is wrong with the key, the account or the models; empty without a model. Makes two small calls."""
        return [] if self._model is None else self._model.check()

    def model_tokens(self) -> dict[str, TokenUsage]:
        """Tokens used since opening, by model name."""
        return {} if self._model is None else self._model.counters.tokens()

    def stats(self, company_id: int) -> list[NamespaceStats]:
        """How large each namespace of the company is, by name."""
        return [
            NamespaceStats(
                id=record.id,
                name=record.name,
                created_at=record.created_at,
                updated_at=record.updated_at,
                documents=record.documents,
                passages=record.passages,
                storage_bytes=record.storage_bytes,
                problem=self.backend.problem(record.id),
            )
            for record in self.catalog.namespaces(company_id)
        ]

    def totals(self) -> StorageTotals:
        """What all companies store."""
        found = [stats for company in self.catalog.companies() for stats in self.stats(company.id)]
        return StorageTotals(
            namespaces=len(found),
            documents=sum(stats.documents for stats in found),
            passages=sum(stats.passages for stats in found),
            storage_bytes=sum(stats.storage_bytes for stats in found),
            damaged=sum(bool(stats.problem) for stats in found),
        )

    def problems(self, company: Company) -> list[str]:
        """What is wrong with the company's namespaces, one readable line a fault. Reads everything.

        For the default company, folders that the catalog does not have are named too.
        """
        found: list[str] = []
        for record in self.catalog.namespaces(company.id):
            with self.ingest.locked(company.id, record.name):
                problems, state = self.backend.verify(record.id)
                known = self.catalog.of_id(record.id)
            if known is None:
                continue
            if state is not None and (known.seq, known.documents, known.passages) != (
                state.seq,
                state.documents,
                state.passages,
            ):
                problems.append("the catalog has other counts than the namespace")
            if state is not None and state.schema not in (None, known.schema):
                problems.append("the catalog has another schema than the namespace")
            found += [f"{record.name}: {problem}" for problem in problems]
        if company.name == DEFAULT_COMPANY:
            unknown = self.backend.unknown(self.catalog.namespace_ids())
            found += [f"folder {name!r} belongs to no namespace of the catalog" for name in unknown]
        return found

    def _reconcile(self) -> None:
        """Take over what the catalog does not know of its namespaces: a crash came before it was written down.

        A namespace that is damaged is named by `stats` and `check`, and keeps no other from opening.
        """
        known = {n: record.seq for n in self.catalog.namespace_ids() if (record := self.catalog.of_id(n))}
        for number in self.backend.outdated(known):
            try:
                self._mirror(number, self.backend.read_state(number))
            except StorageError as error:
                _log.warning("Namespace %d cannot be used: %s", number, error.message)

    def _mirror(self, number: int, state: NamespaceState) -> None:
        # One that is being made has no row yet, one that is being dropped has none any more.
        with suppress(NamespaceNotFound):
            self.catalog.record(number, state)

    def backup(self, target: Path) -> BackupReport:
        """See `write_backup`."""
        return write_backup(self._file, self.catalog, self.backend, target)

    def close(self) -> None:
        """Save what makes the next open quick, and release the directory; a second call does nothing."""
        if self.closed:
            return
        self.closed = True
        self._runner.stop()
        self._workers.close()
        if self._model is not None:
            self._model.close()
        self._upkeep.stop()
        self.backend.close()
        for flush in (self.catalog.flush, self.keyring.flush):
            try:
                flush()
            except StorageError as error:
                # The next opening reads counts from the namespaces; when keys were last used is lost.
                _log.warning("The catalog could not be written at the end: %s", error.message)
        self._file.close()
        self._lock.release()


def assemble(directory: Path, embedder: str | Embedder, settings: EngineSettings, observer: Observer) -> Core:
    """Open a data directory, making it when it does not exist; see `engine.open` for the errors."""
    chosen = load_embedder(embedder, url=settings.embedder_url, key=settings.embedder_key)
    reranker = load_reranker(settings.reranker)
    lock = DirectoryLock.acquire(directory)
    try:
        ensure_format(directory)
        file = CatalogFile.open(directory)
        try:
            return Core(directory, lock, file, chosen, reranker, settings, observer)
        except BaseException:
            file.close()
            raise
    except BaseException:
        lock.release()
        raise


def _model(settings: EngineSettings, observer: Observer) -> ClaudeModel | None:
    """The language model that the settings ask for; None for the offline agent.

    Under ``agent="claude"`` without a key in the settings, the SDK looks for one by itself; `model_problems` tells.
    """
    if settings.agent == "offline" or (settings.agent == "auto" and not settings.llm.api_key):
        return None
    return ClaudeModel(settings.llm, observer)


async def _last(events: AsyncGenerator[Event]) -> SearchResponse:
    response: SearchResponse | None = None
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, StatusEvent):
                response = event.response
    if response is None:
        raise RuntimeError("a search ended without a result")
    return response

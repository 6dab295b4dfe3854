"""`Engine`: one method a verb; `open` puts the parts together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.agent.searches import Searches
from engine.assembly import Core, assemble
from engine.embedding.protocol import Embedder
from engine.embedding.registry import load_embedder
from engine.errors import InvalidRequest
from engine.model.document import DocumentBody
from engine.model.events import Event
from engine.model.ids import check_namespace_name
from engine.model.namespace import DEFAULT_COMPANY, StoredNamespace
from engine.model.observer import Observer, SilentObserver
from engine.model.search import SearchRequest, SearchResponse
from engine.reading import Reader
from engine.settings import EngineSettings, with_overrides
from engine.store.keys import KeyStore
from engine.store.opening import repair_store, restore_store
from engine.store.protocol import BackupReport, RepairReport
from engine.transfer import Move, Progress, transfer

MAX_DELETED = 10_000


class Engine(Reader):
    """Search over one data directory, seen by one company. Thread-safe; use it as a context manager, or `close` it.

    Every method but `close` raises `EngineClosed` after `close`, `InvalidRequest` for a malformed namespace name,
    `NamespaceNotFound` for one that is not there, and `StorageError` when the disk or the database fails.

    Attributes:
        keys: API keys of this company.
    """

    def __init__(self, core: Core, company: str) -> None:
        super().__init__(core, core.catalog.company(company))
        self.keys: KeyStore = core.keys(self._company)
        self._searches: Searches = core.searches

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def company(self) -> str:
        """Name of the company that this engine sees."""
        return self._company.name

    @property
    def open_namespaces(self) -> int:
        """How many namespaces hold memory and files now, of all companies; see `StorageSettings.open_namespaces`."""
        self._check_open()
        return self._core.store.open_namespaces

    @property
    def language_models(self) -> tuple[str, ...]:
        """The models that plan, judge and write, and that read; empty where answers are made offline."""
        return self._core.settings.llm.names if self._core.has_model else ()

    @property
    def notices(self) -> list[str]:
        """What this installation goes without, one readable line each; empty when nothing is missing."""
        return self._core.store.notices

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use the same data at once: a database does, a folder does not.

        Every lookup, that of a key included, then asks the database and is nothing for an event loop.
        """
        return self._core.store.capabilities.many_writers

    def for_company(self, name: str) -> Engine:
        """The same data as `name` sees it; the company is made when it does not exist."""
        self._check_open()
        return Engine(self._core, name)

    def upsert(self, namespace: str, documents: Iterable[DocumentBody], schema: Mapping[str, Any] | None = None) -> int:
        """Store documents, replacing those whose id exists; durable and findable when it returns.

        Args:
            documents: JSON objects with an `id`; any number; written in whole transactions of 10,000 at most.
            schema: attribute name to ``{"type", "is_searchable", "is_filterable"}``; merged into what is there.

        Returns:
            Distinct ids written.

        Raises:
            InvalidDocument, InvalidSchema, SchemaConflict: nothing of the batch at fault is written.
            InvalidRequest: no documents for a namespace that does not exist.
            ReindexRequired: the namespace was embedded by another embedder.
            StorageFull: the disk is nearly full; nothing is written.
        """
        self._check_open()
        check_namespace_name(namespace)
        return self._core.ingest.upsert(self._company, namespace, documents, schema)

    def delete(
        self,
        namespace: str,
        *,
        document_ids: Sequence[str] | None = None,
        root_document_ids: Sequence[str] | None = None,
    ) -> int:
        """How many documents were removed. Exactly one of both lists is given, not empty, of at most 10,000 ids.

        Args:
            document_ids: unknown ids are ignored; children stay.
            root_document_ids: each root goes with every document whose ``root_document_id`` names it.
        """
        if (document_ids is None) == (root_document_ids is None):
            raise InvalidRequest("Give either `document_ids` or `root_document_ids`.")
        name = "document_ids" if root_document_ids is None else "root_document_ids"
        given = document_ids if root_document_ids is None else root_document_ids
        if not given or len(given) > MAX_DELETED:
            raise InvalidRequest(f"`{name}` holds 1 to {MAX_DELETED:,} ids.", path=name)
        return self._core.ingest.delete(self.namespace(namespace), ids=document_ids, roots=root_document_ids)

    def drop(self, name: str) -> None:
        """Remove a namespace with its documents and search sessions."""
        self._core.ingest.drop(self.namespace(name))

    def search(
        self,
        namespace: str,
        *,
        objective: str,
        context: str,
        filters: Mapping[str, Any] | None = None,
        include_attributes: bool = False,
        multiturn: bool = False,
    ) -> SearchResponse:
        """Ask one namespace; the last event of `stream`.

        Raises:
            InvalidRequest: a text is blank or too long.
            FilterError: with the path of the fault.
        """
        request = SearchRequest(
            objective=objective,
            context=context,
            filters=filters,
            include_attributes=include_attributes,
            multiturn=multiturn,
        )
        record = self.namespace(namespace)
        return self._core.run(lambda: self._searches.start(record, request))

    def continue_search(
        self, namespace: str, session_id: str, *, message: str, include_attributes: bool | None = None
    ) -> SearchResponse:
        """Answer a clarification, or follow up on a completed search; the last event of `continue_stream`.

        Raises:
            SessionNotFound, SessionExpired, SessionBusy, SessionFailed: the session cannot be continued.
        """
        record = self.namespace(namespace)
        return self._core.run(
            lambda: self._searches.resume(record, session_id, message, include_attributes=include_attributes)
        )

    async def stream(
        self,
        namespace: str,
        *,
        objective: str,
        context: str,
        filters: Mapping[str, Any] | None = None,
        include_attributes: bool = False,
        multiturn: bool = False,
    ) -> AsyncGenerator[Event]:
        """As `search`, giving its events as they come.

        The await checks the request and raises; the generator it gives never raises a `QuarryError`. Closing the
        generator cancels the work.
        """
        request = SearchRequest(
            objective=objective,
            context=context,
            filters=filters,
            include_attributes=include_attributes,
            multiturn=multiturn,
        )
        record = await self._looked_up(namespace)
        if not filters:
            return self._searches.start(record, request)
        # A filter within the limits can still take long to read.
        return await asyncio.to_thread(self._searches.start, record, request)

    async def continue_stream(
        self, namespace: str, session_id: str, *, message: str, include_attributes: bool | None = None
    ) -> AsyncGenerator[Event]:
        """As `continue_search`, giving its events as they come."""
        record = await self._looked_up(namespace)
        # Claiming a session is a write to the catalog: tens of milliseconds that would hold up the event loop.
        return await asyncio.to_thread(
            self._searches.resume, record, session_id, message, include_attributes=include_attributes
        )

    async def _looked_up(self, namespace: str) -> StoredNamespace:
        if self.is_shared:
            return await asyncio.to_thread(self.namespace, namespace)
        return self.namespace(namespace)

    @property
    def has_keys(self) -> bool:
        """Whether any company has an API key that was not revoked."""
        self._check_open()
        return self._core.store.keyring.is_used

    def reindex(self, namespace: str, progress: Callable[[int], None] | None = None) -> int:
        """Cut and embed every document anew with the present settings and embedder; how many documents there are.

        Searches go on over the old state until the new one is whole; an exception leaves the old one.

        Args:
            progress: is told now and then how many documents more are done.
        """
        return self._core.ingest.reindex(self.namespace(namespace), progress)

    def maintain(self, namespace: str) -> None:
        """Wait until the vector graph holds every passage, and snapshot it. Searches need no such wait."""
        self._core.backend.maintain(self.namespace(namespace).id)

    def warm(self) -> None:
        """Load the embedder's model now rather than at the first text, as a server does before it answers."""
        self._check_open()
        self._core.warm()

    def ping(self) -> None:
        """Ask the disk, not the memory. Raises `StorageError` when storage does not answer."""
        self._check_open()
        self._core.store.ping()

    def check(self) -> list[str]:
        """What is wrong with the company's data, one readable line a fault; empty when all is well.

        Where searches use a language model, each model is asked a few tokens' worth; a key, account or model name
        that does not work is a fault too.
        """
        self._check_open()
        return [*self._core.problems(self._company), *self.model_problems()]

    def model_problems(self) -> list[str]:
        """What is wrong with the language models' key, account or names, one readable line each.

        Asks each model a few tokens' worth, which the provider bills. Empty when both answer, and without a model.
        """
        self._check_open()
        return self._core.model_problems()

    def backup(self, path: str | Path) -> BackupReport:
        """Write a consistent copy of all companies' data into the new folder `path`; searches and writes go on.

        Each namespace is as of one commit, and all of it is on disk when the call returns. `restore` makes a data
        directory of it; `open` takes it as it is, too.

        Raises:
            InvalidRequest: `path` exists; or the data is in a database, which has backups of its own.
        """
        self._check_open()
        return self._core.store.backup(Path(path))

    def close(self) -> None:
        """Save indexes and release the data directory; a second call does nothing."""
        self._core.close()


def open(  # noqa: A001 - `engine.open` reads like `shelve.open`
    path: str | Path = "quarry-data",
    *,
    embedder: str | Embedder = "wordllama",
    company: str = DEFAULT_COMPANY,
    settings: EngineSettings | None = None,
    observer: Observer | None = None,
    create: bool = True,
    **overrides: Any,
) -> Engine:
    """Open a data directory or a database, making what does not exist in it.

    Args:
        path: a folder, owned by one process at a time; or ``postgresql://USER@HOST:PORT/NAME``, a database of a
            PostgreSQL server with pgvector, which any number of processes may use. Password and TLS are as libpq has
            them: in the address, in ``PGPASSWORD`` or in a password file.
        embedder: ``wordllama``, ``sentence-transformers:NAME``, ``fastembed:NAME``, ``openai:NAME``, or any object with
            the `Embedder` protocol.
        company: whose namespaces the engine sees.
        settings: all tunable numbers; `overrides` replace single fields of it, such as ``agent="offline"``.
        observer: receives stage timings and counts.
        create: False refuses a path where there is no data directory yet.

    Raises:
        DataDirectoryLocked: another process owns `path`; the message names it.
        DataDirectoryNotFound: `create` is False and there is none.
        UnsupportedFormat: a newer version wrote `path`.
        CorruptData: acknowledged data is missing or damaged.
        StorageError: the database cannot be reached, refuses the user, or lacks what is needed; the message says which.
        InvalidRequest: the address cannot be read, or the extra ``postgres`` is not installed.
        TypeError: an override is not a field of `EngineSettings`.
    """
    chosen = with_overrides(settings or EngineSettings(), overrides)
    return Engine(assemble(path, embedder, chosen, observer or SilentObserver(), create=create), company)


def move(
    source: str | Path,
    target: str | Path,
    *,
    embedder: str | Embedder = "wordllama",
    settings: EngineSettings | None = None,
    progress: Progress | None = None,
) -> Move:
    """Bring all companies, namespaces, documents and keys of one data directory or database into another.

    The source is only read. Documents are cut and embedded anew; then counts, checksums and the answers to 100 queries
    are compared. Run again, it goes on where it was broken off. Search sessions stay behind.

    Args:
        source: nobody may write to it meanwhile.
        target: made where it does not exist.
        progress: is told a namespace, how many of its documents are done, and of how many.

    Raises:
        DataDirectoryNotFound: there is no source.
        ReindexRequired: a namespace was embedded by another embedder than `embedder`.
        InvalidRequest: both are one, or the target holds a namespace of the same name and another schema.
    """
    if str(source) == str(target):
        raise InvalidRequest("Source and target are the same.", path="target")
    chosen, silent = with_overrides(settings or EngineSettings(), {"agent": "offline"}), SilentObserver()
    loaded = load_embedder(embedder, url=chosen.embedder_url, key=chosen.embedder_key)
    old = assemble(source, loaded, chosen, silent, create=False)
    try:
        new = assemble(target, loaded, chosen, silent)
        try:
            return transfer(old, new, progress)
        finally:
            new.close()
    finally:
        old.close()


def repair(path: str | Path, *, settings: EngineSettings | None = None) -> RepairReport:
    """Make a damaged data directory usable from what can be read.

    The report is empty when nothing was damaged. The files as they were are copied into ``damaged/`` first.

    Raises:
        DataDirectoryLocked: an engine has it open.
        CorruptData: the catalog cannot be read at all: restore a backup.
    """
    return repair_store(path, settings or EngineSettings())


def restore(backup: str | Path, path: str | Path, *, settings: EngineSettings | None = None) -> BackupReport:
    """Make a data directory at `path` out of a backup, which stays as it is. Every database is opened and counted once.

    Raises:
        InvalidRequest: `backup` is no backup, or `path` holds something already.
        CorruptData: the backup is damaged; nothing is left at `path`.
        UnsupportedFormat: a newer version wrote it.
    """
    return restore_store(Path(backup), path, settings or EngineSettings())

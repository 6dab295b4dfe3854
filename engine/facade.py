"""`Engine`: the composition root; one method a verb, no logic."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.embedding.protocol import Embedder
from engine.model.document import DocumentBody, JsonValue
from engine.model.events import Event
from engine.model.hits import Hit
from engine.model.namespace import DEFAULT_COMPANY, Namespace, NamespaceStats
from engine.model.search import Mode, SearchResponse
from engine.settings import EngineSettings


class Engine:
    """Search over one data directory, seen by one company. Thread-safe; use it as a context manager, or `close` it.

    Every method but `close` raises `EngineClosed` after `close`, `InvalidRequest` for a malformed namespace name,
    and `StorageError` when the disk or the database fails.
    """

    # quarry.keys: engine.storage.keys.KeyStore with
    #   create(name, *, scopes=DEFAULT, expires_at=None, created_by=None) -> tuple[ApiKey, str]   (the raw key, shown once)
    #   list() -> list[ApiKey]     revoke(key_id) -> None (ApiKeyNotFound)     of this engine's company
    #   verify(raw) -> ApiKey | None     any company; constant time; None for unknown, revoked, expired; notes last_used_at lazily
    # quarry.metrics: engine counters for /metrics (see api)

    def for_company(self, name: str) -> Engine:
        """The same data as `name` sees it; the company is made when it does not exist."""

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
            StorageFull: the disk is nearly full; nothing is written.
        """

    def delete(
        self,
        namespace: str,
        *,
        document_ids: Sequence[str] | None = None,
        root_document_ids: Sequence[str] | None = None,
    ) -> int: ...

    def get(self, namespace: str, document_id: str) -> dict[str, JsonValue]: ...

    def random_document(self, namespace: str) -> dict[str, JsonValue]: ...

    def namespaces(self) -> list[Namespace]: ...

    def namespace(self, name: str) -> Namespace: ...

    def stats(self) -> list[NamespaceStats]: ...

    def drop(self, name: str) -> None: ...

    def retrieve(
        self,
        namespace: str,
        text: str,
        k: int = 10,
        filters: Mapping[str, Any] | None = None,
        mode: Mode = "hybrid",
    ) -> list[Hit]: ...

    def search(
        self,
        namespace: str,
        *,
        objective: str,
        context: str,
        filters: Mapping[str, Any] | None = None,
        include_attributes: bool = False,
        multiturn: bool = False,
    ) -> SearchResponse: ...

    def continue_search(
        self, namespace: str, session_id: str, *, message: str, include_attributes: bool | None = None
    ) -> SearchResponse: ...

    async def stream(
        self,
        namespace: str,
        *,
        objective: str,
        context: str,
        filters: Mapping[str, Any] | None = None,
        include_attributes: bool = False,
        multiturn: bool = False,
    ) -> AsyncIterator[Event]:
        """Checks the request (all `RequestError`s are raised by the await), then gives an async generator of events.

        ``async for event in await quarry.stream(...)``; ``aclose()`` of the generator cancels the work.
        """

    async def continue_stream(
        self, namespace: str, session_id: str, *, message: str, include_attributes: bool | None = None
    ) -> AsyncIterator[Event]: ...

    def reindex(self, namespace: str) -> int: ...

    def check(self) -> list[str]: ...

    def backup(self, path: str | Path) -> None: ...

    def close(self) -> None: ...


def open(  # noqa: A001 - `engine.open` reads like `shelve.open`
    path: str | Path = "quarry-data",
    *,
    embedder: str | Embedder = "wordllama",
    company: str = DEFAULT_COMPANY,
    settings: EngineSettings | None = None,
    **overrides: Any,
) -> Engine: ...

"""The upload path: check, infer, merge; cut and embed; write documents and schema in one commit; tell the catalog."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from engine.backend.protocol import Backend, DocumentWrite, NamespaceSpec
from engine.embedding.protocol import Embedder
from engine.errors import ConcurrentChange, InvalidRequest, QuarryError
from engine.ingest.derive import derive
from engine.model.checking import plan_upload
from engine.model.document import DocumentBody
from engine.model.hits import Vectors
from engine.model.namespace import Company, Namespace, check_embedder
from engine.model.observer import Observer, timed
from engine.model.schema import Schema, decode_schema
from engine.settings import EngineSettings
from engine.store.protocol import Catalog

_log = logging.getLogger(__name__)

_NONE: list[DocumentBody] = []
ATTEMPTS = 8
"""Of a batch whose namespace another process changes between reading its schema and writing; each begins anew."""


class Ingest:
    """Stores documents of any company's namespaces; one upload at a time a namespace."""

    def __init__(
        self,
        catalog: Catalog,
        backend: Backend,
        embedder: Embedder,
        settings: EngineSettings,
        observer: Observer,
    ) -> None:
        self._catalog = catalog
        self._backend = backend
        self._embedder = embedder
        self._settings = settings
        self._observer = observer
        self._locks: dict[tuple[int, str], threading.Lock] = {}
        self._locks_guard = threading.Lock()

    def upsert(
        self, company: Company, name: str, documents: Iterable[DocumentBody], raw_schema: Mapping[str, Any] | None
    ) -> int:
        """Distinct ids written; see `Engine.upsert`."""
        with self.locked(company.id, name):
            written = 0
            batches = self._batches(documents)
            first = next(batches, _NONE)
            if not first and self._catalog.find(company.id, name) is None:
                raise InvalidRequest("`documents` is empty and there is no such namespace yet.", path="documents")
            offset = 0
            for batch in _chain(first, batches):
                size = len(batch)
                written += self._upsert_whole(company, name, batch, raw_schema, offset)
                offset += size
            return written

    def reindex(self, namespace: Namespace, progress: Callable[[int], None] | None = None) -> int:
        """Derive every passage and vector anew with the present embedder; how many documents there are."""
        with self.locked(namespace.company_id, namespace.name):
            state = self._backend.state(namespace.id)
            with self._recorded(namespace.id):
                self._rederive(namespace.id, state.schema or namespace.schema, base=state.schema, progress=progress)
            return state.documents

    def delete(
        self, namespace: Namespace, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None
    ) -> int:
        """How many documents were removed."""
        with self.locked(namespace.company_id, namespace.name), self._recorded(namespace.id):
            return self._backend.delete(namespace.id, ids=ids, roots=roots)

    def drop(self, namespace: Namespace) -> None:
        """Remove a namespace with everything in it."""
        with self.locked(namespace.company_id, namespace.name):
            self._backend.drop(namespace.id, lambda: self._catalog.drop_namespace(namespace.id))

    @contextmanager
    def _recorded(self, number: int) -> Generator[None]:
        """Tell the catalog what the namespace is after the block, a failed one too: the commit may have come before."""
        try:
            yield
            self._catalog.record(number, self._backend.state(number))
        except BaseException:
            with suppress(QuarryError):
                self._catalog.record(number, self._backend.state(number))
            raise

    def locked(self, company_id: int, name: str) -> threading.Lock:
        """The lock that writers of one namespace hold, its maker and remover included."""
        with self._locks_guard:
            return self._locks.setdefault((company_id, name), threading.Lock())

    def _batches(self, documents: Iterable[DocumentBody]) -> Iterator[list[DocumentBody]]:
        source = iter(documents)
        while batch := list(islice(source, self._settings.storage.batch_documents)):
            yield batch

    def _spec(self, namespace_id: int, schema: Schema) -> NamespaceSpec:
        return NamespaceSpec(namespace_id, schema, self._embedder.name, self._embedder.dimension)

    def _upsert_whole(
        self,
        company: Company,
        name: str,
        batch: list[DocumentBody],
        raw_schema: Mapping[str, Any] | None,
        offset: int,
    ) -> int:
        """As `_upsert_batch`, again from the schema on when another process was quicker."""
        if not self._backend.capabilities.many_writers:
            return self._upsert_batch(company, name, batch, raw_schema, offset)
        for _ in range(ATTEMPTS - 1):
            with suppress(ConcurrentChange):
                return self._upsert_batch(company, name, batch.copy(), raw_schema, offset)
        return self._upsert_batch(company, name, batch, raw_schema, offset)

    def _upsert_batch(
        self,
        company: Company,
        name: str,
        batch: list[DocumentBody],
        raw_schema: Mapping[str, Any] | None,
        offset: int,
    ) -> int:
        """Distinct ids written. The list is emptied on the way, so that documents are not held beside their rows."""
        existing = self._catalog.find(company.id, name)
        current = Schema()
        if existing is not None:
            check_embedder(existing, self._embedder.name, self._embedder.dimension)
            # The namespace's own word, not the catalog's: after a crash it may know more.
            current = self._backend.state(existing.id).schema or existing.schema
        patch = decode_schema(raw_schema or {})
        schema, checked = plan_upload(current, patch, batch, start=offset)
        batch.clear()
        with timed(self._observer, "derive"):
            writes, vectors = derive(checked, schema.searchable(), self._embedder, self._settings.passages)
        with timed(self._observer, "write"):
            if existing is None:
                written = self._create(company, name, schema, writes, vectors)
            else:
                with self._recorded(existing.id):
                    written = self._write(existing.id, current, schema, writes, vectors)
        self._observer.count("documents_written", written)
        return written

    def _create(
        self, company: Company, name: str, schema: Schema, writes: list[DocumentWrite], vectors: Vectors
    ) -> int:
        """Make a namespace whole, then let it be found: until then no list, search or backup sees it."""
        number = self._catalog.reserve()
        while self._backend.exists(number):
            # Of a namespace that a repaired catalog forgot: it is left alone.
            number = self._catalog.reserve()
        try:
            self._backend.create(self._spec(number, schema))
            written = self._backend.upsert(number, writes, vectors, schema)
            self._catalog.add_namespace(company, name, number, self._backend.state(number))
        except BaseException:
            self._undo(number)
            raise
        self._backend.confirm(number)
        return written

    def _undo(self, number: int) -> None:
        """Take away a namespace whose first upload failed.

        Where it cannot be known whether the catalog has its row, the folder stays: the next opening decides by the row.
        """
        try:
            self._backend.drop(number, lambda: self._catalog.drop_namespace(number))
        except QuarryError:
            _log.warning("Namespace %d, whose first upload failed, is cleared away at the next opening", number)

    def _write(
        self, namespace_id: int, current: Schema, schema: Schema, writes: list[DocumentWrite], vectors: Vectors
    ) -> int:
        if not self._derivation_differs(namespace_id, current, schema):
            return self._backend.upsert(namespace_id, writes, vectors, schema, base=current)
        # Documents already stored are cut anew; they and the new ones take the place of the old state together.
        written = len(writes)
        self._rederive(namespace_id, schema, (writes, vectors), base=current)
        return written

    def _derivation_differs(self, namespace_id: int, current: Schema, schema: Schema) -> bool:
        """Whether documents already stored must be cut anew: another set of their attributes is searched now."""
        before = self._backend.searched(namespace_id)
        if before is None:
            return False
        known = set(current.attributes)
        return set(before) & known != set(schema.searchable()) & known

    def _rederive(
        self,
        namespace_id: int,
        schema: Schema,
        *uploaded: tuple[list[DocumentWrite], Vectors],
        base: Schema | None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        searched = schema.searchable()

        def derived() -> Iterator[tuple[list[DocumentWrite], Vectors]]:
            for batch in self._backend.scan(namespace_id, batch=2_000):
                _, checked = plan_upload(schema, {}, [document.body for document in batch])
                count = len(checked)
                yield derive(checked, searched, self._embedder, self._settings.passages)
                if progress is not None:
                    progress(count)
            yield from uploaded

        self._backend.replace_all(self._spec(namespace_id, schema), derived(), base=base)


def _chain(first: list[DocumentBody], rest: Iterator[list[DocumentBody]]) -> Iterator[list[DocumentBody]]:
    yield first
    yield from rest

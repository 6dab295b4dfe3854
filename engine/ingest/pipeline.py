"""The upload path: check, infer, merge; cut and embed; write; then tell the catalog."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from engine.backend.embedded.backend import EmbeddedBackend
from engine.backend.protocol import DocumentWrite, NamespaceSpec
from engine.embedding.protocol import Embedder
from engine.errors import InvalidRequest
from engine.ingest.derive import derive
from engine.model.checking import plan_upload
from engine.model.document import DocumentBody
from engine.model.hits import Vectors
from engine.model.namespace import Namespace
from engine.model.observer import Observer, timed
from engine.model.schema import Schema, decode_schema
from engine.settings import EngineSettings
from engine.storage.catalog import Catalog, Company, check_embedder

_NONE: list[DocumentBody] = []
SEARCHED_PROPERTY = "searched"
"""The attributes that the stored passages were derived from, as JSON; ``null`` while they are being derived anew."""


class Ingest:
    """Stores documents of any company's namespaces; one upload at a time a namespace."""

    def __init__(
        self,
        catalog: Catalog,
        backend: EmbeddedBackend,
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
        self.membership = threading.RLock()
        """Held while namespaces come and go, and by a backup, whose copies must be of the same namespaces."""

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
                written += self._upsert_batch(company, name, batch, raw_schema, offset)
                offset += size
            return written

    def reindex(self, namespace: Namespace) -> int:
        """Derive every passage and vector anew with the present embedder; how many documents there are."""
        with self.locked(namespace.company_id, namespace.name):
            done = self._rederive(namespace, namespace.schema)
            self._catalog.set_embedder(namespace.id, self._embedder.name, self._embedder.dimension)
            return done

    def delete(
        self, namespace: Namespace, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None
    ) -> int:
        """How many documents were removed."""
        with self.locked(namespace.company_id, namespace.name):
            removed = self._backend.delete(namespace.id, ids=ids, roots=roots)
        if removed:
            self._catalog.touch(namespace.id)
        return removed

    def drop(self, namespace: Namespace) -> None:
        """Remove a namespace with everything in it."""
        with self.locked(namespace.company_id, namespace.name), self.membership:
            self._catalog.drop_namespace(namespace.id)
            self._backend.drop(namespace.id)

    def locked(self, company_id: int, name: str) -> threading.Lock:
        """The lock that uploads to one namespace hold, and its removal too."""
        with self._locks_guard:
            return self._locks.setdefault((company_id, name), threading.Lock())

    def _batches(self, documents: Iterable[DocumentBody]) -> Iterator[list[DocumentBody]]:
        source = iter(documents)
        while batch := list(islice(source, self._settings.storage.batch_documents)):
            yield batch

    def _spec(self, namespace_id: int, schema: Schema) -> NamespaceSpec:
        return NamespaceSpec(namespace_id, schema, self._embedder.name, self._embedder.dimension)

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
        if existing is not None:
            check_embedder(existing, self._embedder.name, self._embedder.dimension)
        patch = decode_schema(raw_schema or {})
        current = existing.schema if existing else Schema()
        schema, checked = plan_upload(current, patch, batch, start=offset)
        batch.clear()
        searched = schema.searchable()
        with timed(self._observer, "derive"):
            writes, vectors = derive(checked, searched, self._embedder, self._settings.passages)
        with self.membership:
            namespace = existing or self._catalog.create_namespace(
                company, name, schema, embedder=self._embedder.name, dimension=self._embedder.dimension
            )
            spec = self._spec(namespace.id, schema)
            try:
                self._backend.ensure(spec)
            except BaseException:
                if existing is None:
                    self._undo(namespace)
                raise
        try:
            if existing is not None and self._derivation_differs(existing, schema):
                self._rederive(existing, schema)
            with timed(self._observer, "write"):
                written = self._backend.upsert(namespace.id, writes, vectors, {SEARCHED_PROPERTY: _encode(searched)})
        except BaseException:
            if existing is None:
                self._undo(namespace)
            raise
        self._catalog.update_schema(namespace.id, schema)
        self._observer.count("documents_written", written)
        return written

    def _undo(self, namespace: Namespace) -> None:
        """Take away a namespace whose first upload failed."""
        self._backend.drop(namespace.id)
        self._catalog.drop_namespace(namespace.id)

    def _derivation_differs(self, namespace: Namespace, schema: Schema) -> bool:
        """Whether documents already stored must be cut anew: another set of their attributes is searched now."""
        before = self._backend.property(namespace.id, SEARCHED_PROPERTY)
        if before is None:
            return False
        known = set(namespace.schema.attributes)
        return set(msgspec.json.decode(before, type=list[str])) & known != set(schema.searchable()) & known

    def _rederive(self, namespace: Namespace, schema: Schema) -> int:
        searched = schema.searchable()

        def derived() -> Iterator[tuple[list[DocumentWrite], Vectors]]:
            for batch in self._backend.scan(namespace.id, batch=2_000):
                _, checked = plan_upload(schema, {}, [document.body for document in batch])
                yield derive(checked, searched, self._embedder, self._settings.passages)

        spec = self._spec(namespace.id, schema)
        return self._backend.replace_all(spec, derived(), {SEARCHED_PROPERTY: _encode(searched)})


def _chain(first: list[DocumentBody], rest: Iterator[list[DocumentBody]]) -> Iterator[list[DocumentBody]]:
    yield first
    yield from rest


def _encode(searched: Sequence[str]) -> str:
    return msgspec.json.encode(sorted(searched)).decode()

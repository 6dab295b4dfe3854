"""`EmbeddedBackend`: DuckDB, tantivy and hnswlib in this process, a folder a namespace."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from engine.backend.embedded import writer
from engine.backend.embedded.catchup import rebuild_indexes, save_vectors
from engine.backend.embedded.columns import ensure_columns
from engine.backend.embedded.folders import REINDEXED, beside, recover_folders, remove_folder, swap_folders
from engine.backend.embedded.housekeeping import Housekeeping, tidy
from engine.backend.embedded.legs import run_legs
from engine.backend.embedded.opening import create_store, open_store
from engine.backend.embedded.paging import read_page
from engine.backend.embedded.pool import StorePool
from engine.backend.embedded.store import NamespaceStore
from engine.backend.embedded.verify import verify
from engine.backend.protocol import (
    Capabilities,
    DocumentPage,
    DocumentWrite,
    Legs,
    LegsQuery,
    Maintenance,
    NamespaceSpec,
    StoredDocument,
)
from engine.errors import NamespaceNotFound
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.model.document import JsonValue, Passage
from engine.model.hits import Labels, Vectors
from engine.model.namespace import StorageSize
from engine.settings import EngineSettings
from engine.storage import documents as documents_table
from engine.storage import passages as passages_table
from engine.storage.attributes import matching_ids, matching_keys
from engine.storage.files import folder_bytes
from engine.storage.properties import read_property
from engine.vector.hnsw import LIBRARY_VERSION, WITHOUT_LIBRARY

SAVE_AFTER_ROWS = 50_000
"""Rows added or removed since the last snapshot of the graph before maintenance writes the next one."""


class EmbeddedBackend:
    """Implements `engine.backend.protocol.Backend`.

    Args:
        root: the folder that holds one folder a namespace.
    """

    def __init__(self, root: Path, settings: EngineSettings) -> None:
        self._root = root
        self._settings = settings
        self._root.mkdir(parents=True, exist_ok=True)
        recover_folders(self._root)
        self._pool = StorePool(settings.storage.open_namespaces, self._open, save_vectors)
        self._lock = threading.Lock()
        self._housekeeping = Housekeeping(self._tidy)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities()

    @property
    def notices(self) -> list[str]:
        """What this installation goes without, one readable line each; empty when nothing is missing."""
        return [] if LIBRARY_VERSION is not None else [WITHOUT_LIBRARY]

    @property
    def open_namespaces(self) -> int:
        """How many namespaces are open now."""
        return len(self._pool)

    def _folder(self, namespace: int) -> Path:
        return self._root / str(namespace)

    def _open(self, namespace: int) -> NamespaceStore:
        folder = self._folder(namespace)
        if not folder.exists():
            # Between its row in the catalog and its folder, or between the end of the one and of the other.
            raise NamespaceNotFound
        store = open_store(folder, self._settings)
        # What a crash left in the log was replayed into memory.
        self._housekeeping.written(namespace)
        return store

    def ensure(self, spec: NamespaceSpec) -> None:
        with self._lock:
            if not self._folder(spec.id).exists():
                create_store(self._folder(spec.id), spec, self._settings)
        with self._pool.use(spec.id) as store:
            ensure_columns(store, spec.schema)

    def drop(self, namespace: int) -> None:
        self._pool.replace(namespace, lambda: remove_folder(self._folder(namespace)))

    def upsert(
        self,
        namespace: int,
        documents: list[DocumentWrite],
        vectors: Vectors,
        properties: Mapping[str, str] | None = None,
    ) -> int:
        with self._pool.use(namespace) as store:
            try:
                written = writer.upsert(store, documents, vectors, properties or {})
            finally:
                self._housekeeping.written(namespace)
            if store.unsaved_rows >= SAVE_AFTER_ROWS and store.vectors.is_built:
                save_vectors(store)
            return written

    def replace_all(
        self,
        spec: NamespaceSpec,
        batches: Iterator[tuple[list[DocumentWrite], Vectors]],
        properties: Mapping[str, str],
    ) -> int:
        """Put the documents of `batches` in place of everything the namespace holds, all at once; how many.

        `batches` may read the namespace while it runs; searches see the old state until the new one is whole.
        """
        folder = self._folder(spec.id)
        building = beside(folder, REINDEXED)
        shutil.rmtree(building, ignore_errors=True)
        create_store(building, spec, self._settings)
        store = open_store(building, self._settings)
        try:
            ensure_columns(store, spec.schema)
            done = sum(writer.upsert(store, writes, vectors, properties) for writes, vectors in batches)
            store.vectors.wait_until_built()
            save_vectors(store)
        except BaseException:
            store.close()
            shutil.rmtree(building, ignore_errors=True)
            raise
        store.close()
        self._pool.replace(spec.id, lambda: swap_folders(building, folder))
        return done

    def delete(self, namespace: int, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
        with self._pool.use(namespace) as store:
            try:
                return writer.delete(store, ids=ids, roots=roots)
            finally:
                self._housekeeping.written(namespace)

    def get(self, namespace: int, ids: Sequence[str], *, where: CheckedFilter | None = None) -> list[StoredDocument]:
        with self._pool.use(namespace) as store, store.reading() as cursor:
            if where is not None:
                kept = matching_ids(cursor, compile_filter(where, store.columns.sql_names()), ids)
                ids = [document_id for document_id in ids if document_id in kept]
            found = documents_table.bodies(cursor, ids)
        return [StoredDocument(document_id, found[document_id]) for document_id in ids if document_id in found]

    def random(self, namespace: int) -> StoredDocument | None:
        """One document, uniformly at random; None when there is none."""
        with self._pool.use(namespace) as store, store.reading() as cursor:
            body = documents_table.random_body(cursor)
        return None if body is None else StoredDocument(str(body["id"]), body)

    def legs(self, namespace: int, query: LegsQuery) -> Legs:
        with self._pool.use(namespace) as store:
            return run_legs(store, query)

    def rarity(self, namespace: int, text: str) -> dict[str, float]:
        with self._pool.use(namespace) as store:
            return store.snapshot.lexical.rarity(text)

    def hydrate(self, namespace: int, labels: Labels) -> list[Passage]:
        wanted: list[int] = labels.tolist()
        with self._pool.use(namespace) as store, store.reading() as cursor:
            found = passages_table.hydrate(cursor, wanted)
        return [found[label] for label in wanted if label in found]

    @contextmanager
    def hold_writes(self, namespace: int) -> Generator[None]:
        with self._pool.use(namespace) as store, store.write_lock:
            yield

    def count(self, namespace: int, where: CheckedFilter | None = None) -> int:
        with self._pool.use(namespace) as store, store.reading() as cursor:
            if where is None:
                return documents_table.count_documents(cursor)
            return len(matching_keys(cursor, compile_filter(where, store.columns.sql_names())))

    def scan(self, namespace: int, *, batch: int = 1000) -> Iterator[list[StoredDocument]]:
        with self._pool.use(namespace) as store, store.database.snapshot() as cursor:
            for rows in documents_table.scan_documents(cursor, batch=batch):
                yield [StoredDocument(row.id, documents_table.decode_body(row.body)) for row in rows]

    def page(
        self, namespace: int, *, where: CheckedFilter | None = None, limit: int = 100, cursor: str | None = None
    ) -> DocumentPage:
        with self._pool.use(namespace) as store:
            return read_page(store, where, limit, cursor)

    def values(
        self, namespace: int, attribute: str, *, where: CheckedFilter | None = None, limit: int = 10_000
    ) -> list[tuple[JsonValue, int]]:
        with self._pool.use(namespace) as store:
            snapshot = store.snapshot
            asked = (attribute, where, limit)
            if (known := snapshot.value_sets.get(asked)) is not None:
                return known
            predicate = None if where is None else compile_filter(where, store.columns.sql_names())
            with store.reading() as cursor:
                found = store.columns.values(cursor, attribute, limit, predicate)
            if store.committed_seq == snapshot.seq:
                snapshot.remember_values(asked, found)
            return found

    def generation(self, namespace: int) -> int:
        """Journal sequence of the last committed write."""
        with self._pool.use(namespace) as store:
            return store.committed_seq

    def property(self, namespace: int, name: str) -> str | None:
        """A value that an upsert wrote, or None."""
        with self._pool.use(namespace) as store, store.reading() as cursor:
            return read_property(cursor, name)

    def size(self, namespace: int) -> StorageSize:
        """Documents, passages and bytes on disk."""
        with self._pool.use(namespace) as store:
            with store.reading() as cursor:
                documents = documents_table.count_documents(cursor)
            passages = len(store.snapshot.labels)
        used = folder_bytes(self._folder(namespace))
        return StorageSize(documents=documents, passages=passages, storage_bytes=used)

    def maintain(self, namespace: int) -> Maintenance:
        with self._pool.use(namespace) as store:
            store.vectors.wait_until_built()
            before = store.saved_seq
            save_vectors(store)
            return Maintenance(saved_vectors=store.saved_seq != before)

    def rebuild(self, namespace: int) -> None:
        """Build both indexes anew from the stored passages and vectors."""
        with self._pool.use(namespace) as store:
            rebuild_indexes(store)

    def verify(self, namespace: int) -> list[str]:
        """What is wrong, readable; empty when all is well."""
        with self._pool.use(namespace) as store:
            return verify(store)

    def copy_to(self, namespace: int, target: Path) -> None:
        """Copy the database, as of one commit, into the new folder `target`, where indexes will be rebuilt."""
        with self._pool.use(namespace) as store, store.write_lock, store.database.frozen() as files:
            target.mkdir(parents=True)
            for file in (*files, store.manifest.path):
                if file.exists():
                    shutil.copy2(file, target / file.name)

    def remove_unknown(self, known: set[int]) -> None:
        """Remove folders of namespaces that the catalog does not know: left by a crash between the two."""
        for folder in self._root.iterdir():
            if folder.name.isdigit() and int(folder.name) not in known:
                remove_folder(folder)

    def close(self) -> None:
        self._housekeeping.stop()
        self._pool.close()

    def _tidy(self, namespace: int) -> bool:
        with self._pool.use_if_open(namespace) as store:
            return store is None or tidy(store)

"""`EmbeddedBackend`: DuckDB, tantivy and hnswlib in this process, a folder a namespace."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from engine.backend.embedded import remembered, writer
from engine.backend.embedded.catchup import save_indexes
from engine.backend.embedded.folders import (
    PENDING_FILE,
    REINDEXED,
    beside,
    clear_dropped,
    move_away,
    recover_folder,
    recover_folders,
    swap_folders,
    unknown_folders,
)
from engine.backend.embedded.housekeeping import Housekeeping, tidy
from engine.backend.embedded.legs import run_legs
from engine.backend.embedded.opening import create_store, is_settled, open_store, read_state
from engine.backend.embedded.paging import count_matching, read_page
from engine.backend.embedded.pool import StorePool
from engine.backend.embedded.store import MANIFEST_FILE, NamespaceStore
from engine.backend.embedded.verify import verify
from engine.backend.protocol import (
    Capabilities,
    DocumentPage,
    DocumentWrite,
    Extent,
    Legs,
    LegsQuery,
    NamespaceSpec,
    StoredDocument,
)
from engine.errors import ConcurrentChange, NamespaceNotFound, StorageError
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.interruption import unwatched
from engine.model.document import JsonValue, Passage
from engine.model.hits import Labels, Vectors
from engine.model.namespace import NamespaceState
from engine.model.schema import Schema
from engine.ranking.passage_terms import PassageTerms
from engine.settings import EngineSettings
from engine.storage import documents as documents_table
from engine.storage.attributes import matching_ids
from engine.storage.files import PRIVATE, copy_file, translated_os_errors
from engine.storage.hot_copy import copy_database
from engine.storage.manifest import Manifest
from engine.vector.hnsw import LIBRARY_VERSION, WITHOUT_LIBRARY

NAMESPACES_FOLDER = "namespaces"
"""Of a data directory: holds one folder a namespace."""

SAVE_AFTER_ROWS = 50_000
"""Rows added or removed since the last snapshot of the graph before maintenance writes the next one."""


class EmbeddedBackend:
    """Implements `engine.backend.protocol.Backend`.

    Args:
        root: the folder that holds one folder a namespace.
        opened: is told the state of each namespace when it is opened.
    """

    def __init__(
        self, root: Path, settings: EngineSettings, opened: Callable[[int, NamespaceState], None] | None = None
    ) -> None:
        self._root = root
        self._settings = settings
        self._opened = opened
        with translated_os_errors():
            self._root.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
            with suppress(OSError):
                self._root.chmod(PRIVATE)
        self._pool = StorePool(settings.storage.open_namespaces, self._open, save_indexes)
        self._housekeeping = Housekeeping(self._tidy)
        self._dropped: set[int] = set()
        self._problems: dict[int, str] = {}

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

    def recover(self, known: set[int]) -> None:
        """Finish or undo what was under way when the process ended; before anything is opened.

        Args:
            known: the namespaces that the catalog has.
        """
        with translated_os_errors():
            recover_folders(self._root, known)

    def unknown(self, known: set[int]) -> list[str]:
        """Names of folders that belong to no namespace of the catalog."""
        with translated_os_errors():
            return unknown_folders(self._root, known)

    def problem(self, namespace: int) -> str:
        """Why it could not be opened when that was last tried, readable; empty where nothing is wrong."""
        return self._problems.get(namespace, "")

    def outdated(self, known: Mapping[int, int]) -> list[int]:
        """Those of `known` (number to sequence) whose database has moved on, or may have. Opens none.

        A log that is left over belongs to a process that was killed: it may hold a write that nobody knows of.
        """
        return [n for n, seq in known.items() if not is_settled(self._folder(n), seq)]

    def read_state(self, namespace: int, *, accept_loss: bool = False) -> NamespaceState:
        """What its database says of a namespace that is not in use; cheaper than opening it.

        Args:
            accept_loss: carry on from what can be read, even if acknowledged writes are missing.

        Raises:
            CorruptData: the database is damaged or missing.
        """
        with self._noting_problems(namespace):
            return read_state(self._folder(namespace), self._settings, accept_loss=accept_loss)

    def state(self, namespace: int) -> NamespaceState:
        with self._pool.use(namespace) as store:
            return store.state()

    def _folder(self, namespace: int) -> Path:
        return self._root / str(namespace)

    def _open(self, namespace: int) -> NamespaceStore:
        if namespace in self._dropped:
            # Between the end of its folder and the end of its row in the catalog.
            raise NamespaceNotFound
        folder = self._folder(namespace)
        # An index may be built anew meanwhile; stopped with a search, it would begin from nothing with the next one.
        with unwatched(), self._noting_problems(namespace):
            if not folder.exists():
                recover_folder(folder)
            return self._welcomed(namespace, open_store(folder, self._settings))

    def _welcomed(self, namespace: int, store: NamespaceStore) -> NamespaceStore:
        try:
            if self._opened is not None:
                self._opened(namespace, store.state())
            # What a crash left in the log was replayed into memory.
            self._housekeeping.written(namespace)
            return store  # noqa: TRY300 - a failure here closes it too
        except BaseException:
            store.close()
            raise

    @contextmanager
    def _noting_problems(self, namespace: int) -> Generator[None]:
        try:
            yield
        except StorageError as error:
            self._problems[namespace] = error.message
            raise
        self._problems.pop(namespace, None)

    def create(self, spec: NamespaceSpec) -> None:
        """Make the namespace, empty and pending: until `confirm`, the next opening removes what the catalog lacks.

        Raises:
            StorageError: nothing is left of it.
        """
        folder = self._folder(spec.id)
        if folder.exists():
            raise StorageError(f"There is a folder of namespace {spec.id} already.")
        create_store(folder, spec, self._settings, pending=True)
        self._dropped.discard(spec.id)

    def exists(self, namespace: int) -> bool:
        return self._folder(namespace).exists()

    def confirm(self, namespace: int) -> None:
        """The catalog has the namespace: whatever it lacks from now on, its folder stays."""
        with suppress(OSError):
            (self._folder(namespace) / PENDING_FILE).unlink(missing_ok=True)

    def drop(self, namespace: int, forget: Callable[[], None] = lambda: None) -> None:
        def change() -> None:
            try:
                self._dropped.add(namespace)
                move_away(self._folder(namespace), forget)
            except BaseException:
                self._dropped.discard(namespace)
                raise

        self._pool.replace(namespace, change)
        self._problems.pop(namespace, None)
        clear_dropped(self._folder(namespace))

    def upsert(
        self,
        namespace: int,
        documents: list[DocumentWrite],
        vectors: Vectors,
        schema: Schema | None = None,
        *,
        base: Schema | None = None,
    ) -> int:
        with self._pool.use(namespace) as store:
            _check_base(store, base)
            try:
                written = writer.upsert(store, documents, vectors, schema)
            finally:
                self._housekeeping.written(namespace)
            if store.unsaved_rows >= SAVE_AFTER_ROWS and store.vectors.is_built:
                save_indexes(store)
            return written

    def replace_all(
        self,
        spec: NamespaceSpec,
        batches: Iterator[tuple[list[DocumentWrite], Vectors]],
        *,
        base: Schema | None = None,
    ) -> int:
        folder = self._folder(spec.id)
        with self._pool.use(spec.id) as store:
            _check_base(store, base)
            seq = store.committed_seq
        building = beside(folder, REINDEXED)
        shutil.rmtree(building, ignore_errors=True)
        try:
            # A sequence above that of the old state tells the catalog of the change.
            create_store(building, spec, self._settings, pending=False, seq=seq + 1)
            with closing(open_store(building, self._settings)) as store:
                done = sum(writer.upsert(store, writes, vectors, None) for writes, vectors in batches)
                store.vectors.wait_until_built()
                save_indexes(store)
            self._pool.replace(spec.id, lambda: swap_folders(building, folder))
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        return done

    def delete(self, namespace: int, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
        with self._pool.use(namespace) as store:
            try:
                return writer.delete(store, ids=ids, roots=roots)
            finally:
                self._housekeeping.written(namespace)

    def get(self, namespace: int, ids: Sequence[str], *, where: CheckedFilter | None = None) -> list[StoredDocument]:
        with self._pool.use(namespace) as store:
            if where is not None:
                predicate = compile_filter(where, store.columns.sql_names())
                with store.reading() as cursor:
                    kept = matching_ids(cursor, predicate, ids)
                ids = [document_id for document_id in ids if document_id in kept]
            found = remembered.bodies(store, ids)
        return [StoredDocument(document_id, found[document_id]) for document_id in ids if document_id in found]

    def random(self, namespace: int) -> StoredDocument | None:
        with self._pool.use(namespace) as store, store.reading() as cursor:
            body = documents_table.random_body(cursor)
        return None if body is None else StoredDocument(str(body["id"]), body)

    def legs(self, namespace: int, query: LegsQuery) -> Legs:
        with self._pool.use(namespace) as store:
            return run_legs(store, query)

    def rarity(self, namespace: int, text: str) -> dict[str, float]:
        with self._pool.use(namespace) as store:
            return store.snapshot.lexical.rarity(text)

    def languages(self, namespace: int) -> Mapping[str, int]:
        with self._pool.use(namespace) as store:
            return store.snapshot.lexical.languages

    def hydrate(self, namespace: int, labels: Labels) -> list[Passage]:
        wanted: list[int] = labels.tolist()
        with self._pool.use(namespace) as store:
            found = remembered.hydrated(store, wanted)
        return [found[label] for label in wanted if label in found]

    def passage_terms(self, namespace: int, labels: Labels) -> PassageTerms:
        with self._pool.use(namespace) as store:
            known = store.forward.reader().terms(labels)
        return PassageTerms.of(self.hydrate(namespace, labels)) if known is None else known

    @contextmanager
    def reading(self, namespace: int) -> Generator[None]:
        with self._pool.use(namespace) as store, store.write_lock:
            yield

    def count(self, namespace: int, where: CheckedFilter | None = None) -> int:
        with self._pool.use(namespace) as store:
            return store.record.documents if where is None else count_matching(store, where)

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

    def extent(self, namespace: int, attribute: str, *, where: CheckedFilter | None = None) -> Extent | None:
        with self._pool.use(namespace) as store, store.reading() as cursor:
            predicate = None if where is None else compile_filter(where, store.columns.sql_names())
            return store.columns.extent(cursor, attribute, predicate)

    def generation(self, namespace: int) -> int:
        with self._pool.use(namespace) as store:
            return store.committed_seq

    def searched(self, namespace: int) -> tuple[str, ...] | None:
        with self._pool.use(namespace) as store:
            return store.record.searched

    def maintain(self, namespace: int) -> None:
        with self._pool.use(namespace) as store:
            store.vectors.wait_until_built()
            save_indexes(store)

    def verify(self, namespace: int) -> tuple[list[str], NamespaceState | None]:
        """What is wrong, readable, empty when all is well; and the state, where the namespace can be opened."""
        try:
            with self._pool.use(namespace) as store, store.write_lock:
                return verify(store), store.state()
        except StorageError as error:
            return [error.message], None

    def copy_to(self, namespace: int, target: Path) -> int:
        """Copy the database, as of one commit, into the new folder `target`, where indexes will be rebuilt. Its bytes.

        Searches and writes go on.

        Raises:
            NamespaceNotFound: it was dropped.
            CorruptData: it cannot be opened; nothing was copied.
        """
        with ExitStack() as stack:
            store = stack.enter_context(self._pool.use(namespace))
            with store.write_lock:
                log_bytes = stack.enter_context(store.database.pinned())
                seq = store.committed_seq
            with translated_os_errors():
                target.mkdir(parents=True, mode=PRIVATE)
            size = copy_database(store.database, log_bytes, target)
        Manifest(target / MANIFEST_FILE).record(seq)
        return size

    def copy_damaged(self, namespace: int, target: Path) -> int:
        """Copy the files of a namespace that cannot be opened, as they are; how many bytes."""
        folder = self._folder(namespace)
        with translated_os_errors():
            target.mkdir(parents=True, mode=PRIVATE, exist_ok=True)
            files = [path for path in folder.iterdir() if path.is_file()] if folder.exists() else []
        return sum(copy_file(path, target / path.name) for path in files)

    def close(self) -> None:
        self._housekeeping.stop()
        self._pool.close()

    def _tidy(self, namespace: int) -> bool:
        with self._pool.use_if_open(namespace) as store:
            return store is None or tidy(store)


def _check_base(store: NamespaceStore, base: Schema | None) -> None:
    # Writers of one process queue at the upload's lock, so this cannot happen through the engine.
    if base is not None and (held := store.state().schema) is not None and held != base:
        raise ConcurrentChange

"""Making and opening a namespace's folder."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from engine.backend.embedded.blank import write_blank
from engine.backend.embedded.catchup import catch_up_forward, catch_up_lexical, catch_up_vectors
from engine.backend.embedded.folders import BUILDING, PENDING_FILE, beside
from engine.backend.embedded.record import Record, read_record
from engine.backend.embedded.store import (
    DATABASE_FILE,
    FORWARD_FOLDER,
    LEXICAL_FOLDER,
    MANIFEST_FILE,
    VECTORS_FOLDER,
    NamespaceStore,
)
from engine.backend.protocol import NamespaceSpec
from engine.errors import CorruptData, StorageError
from engine.lexical.forward import ForwardIndex
from engine.lexical.index import LexicalIndex
from engine.model.namespace import NamespaceState
from engine.settings import EngineSettings
from engine.storage.attributes import Columns, drop_retired, has_retired
from engine.storage.connection import Cursor, Database, connect
from engine.storage.files import PRIVATE, folder_bytes, make_private, sync_directory, translated_os_errors
from engine.storage.journal import read_counters
from engine.storage.manifest import Manifest
from engine.storage.migrate import applied, migrate, shipped
from engine.storage.passages import count_passages
from engine.storage.torn_log import open_mended
from engine.vector.index import VectorIndex


def open_store(folder: Path, settings: EngineSettings) -> NamespaceStore:
    """Open a namespace's folder and bring its indexes up to date.

    Raises:
        CorruptData: the database is damaged, or older than what was acknowledged.
    """
    opened = ExitStack()
    try:
        database = opened.enter_context(closing(_open_database(folder, settings)))
        with database.reader() as cursor:
            retired = has_retired(cursor)
        if retired:
            with database.transaction() as cursor:
                drop_retired(cursor)
        with database.reader() as cursor:
            seq, columns, record = read_counters(cursor).seq, Columns(cursor), read_record(cursor)
        return _assemble(folder, database, columns, record, settings, seq)
    except BaseException:
        opened.close()
        raise


def is_settled(folder: Path, seq: int) -> bool:
    """Whether the folder looks as if its last write was that of `seq`; opens no database."""
    try:
        recorded = Manifest(folder / MANIFEST_FILE).read()
    except StorageError:
        return False
    # Before its first write a namespace has no side file.
    return recorded == seq and not (folder / f"{DATABASE_FILE}.wal").exists()


def read_state(folder: Path, settings: EngineSettings, *, accept_loss: bool = False) -> NamespaceState:
    """What the database of a namespace that is not open says of it; its indexes are not opened.

    Args:
        accept_loss: carry on from what can be read, even if acknowledged writes are missing.

    Raises:
        CorruptData: as `open_store`.
    """
    with (
        closing(_open_database(folder, settings, accept_loss=accept_loss)) as database,
        database.reader() as cursor,
    ):
        seq, record, passages = read_counters(cursor).seq, read_record(cursor), count_passages(cursor)
    return NamespaceState(
        seq=seq,
        schema=record.schema,
        embedder=record.embedder,
        dimension=record.dimension,
        documents=record.documents,
        passages=passages,
        storage_bytes=folder_bytes(folder),
    )


def _open_database(folder: Path, settings: EngineSettings, *, accept_loss: bool = False) -> Database:
    if not (folder / DATABASE_FILE).exists():
        # DuckDB would make an empty one.
        raise CorruptData("The database of the namespace is missing.")
    path, manifest = folder / DATABASE_FILE, Manifest(folder / MANIFEST_FILE)
    opened = ExitStack()
    try:
        recorded = 0 if accept_loss else manifest.read()
        database = opened.enter_context(closing(open_mended(path, partial(_connect, path, settings), _seq, recorded)))
        migrate(database, shipped("namespace"))
        with database.reader() as cursor:
            manifest.check(read_counters(cursor).seq, accept_loss=accept_loss)
        return database  # noqa: TRY300 - a failure here closes it too
    except BaseException:
        opened.close()
        raise


def _connect(path: Path, settings: EngineSettings) -> Database:
    return connect(path, threads=settings.storage.threads, memory_limit=settings.storage.memory_limit)


def _seq(cursor: Cursor) -> int:
    return read_counters(cursor).seq if applied(cursor) else 0


def _assemble(
    folder: Path, database: Database, columns: Columns, record: Record, settings: EngineSettings, seq: int
) -> NamespaceStore:
    opened = ExitStack()
    try:
        lexical, lexical_seq = _open_lexical(folder / LEXICAL_FOLDER)
        opened.callback(lexical.close)
        vectors, vectors_seq = VectorIndex.open(folder / VECTORS_FOLDER, record.dimension, settings.vectors)
        opened.callback(vectors.close)
        forward, forward_seq = ForwardIndex.open(folder / FORWARD_FOLDER)
        opened.callback(forward.close)
        store = NamespaceStore(folder, database, lexical, vectors, forward, columns, settings, record)
        with store.reading() as cursor:
            catch_up_lexical(store, cursor, lexical_seq, seq)
            catch_up_vectors(store, cursor, vectors_seq, seq)
            catch_up_forward(store, cursor, forward_seq, seq)
        store.saved_seq = max(min(vectors_seq, forward_seq), 0)
        store.load(seq)
        make_private(folder)
        return store  # noqa: TRY300 - a failure here closes it too
    except BaseException:
        # A writer that stayed open would hold the index's lock against the next attempt.
        opened.close()
        raise


def _open_lexical(folder: Path) -> tuple[LexicalIndex, int]:
    try:
        return LexicalIndex.open(folder)
    except CorruptData:
        shutil.rmtree(folder, ignore_errors=True)
        return LexicalIndex.open(folder)


def create_store(folder: Path, spec: NamespaceSpec, settings: EngineSettings, *, pending: bool, seq: int = 0) -> None:
    """Make the folder and the database of a namespace, with schema and columns but no document: all of it or nothing.

    Args:
        pending: mark it as one that the catalog does not know yet.
        seq: journal sequence to go on from.
    """
    building = beside(folder, BUILDING)
    shutil.rmtree(building, ignore_errors=True)
    try:
        with translated_os_errors():
            building.mkdir(parents=True, mode=PRIVATE)
            if pending:
                (building / PENDING_FILE).touch()
        write_blank(building / DATABASE_FILE, spec, settings, seq)
        make_private(building)
        with translated_os_errors():
            sync_directory(building)
            building.rename(folder)
            sync_directory(folder.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise

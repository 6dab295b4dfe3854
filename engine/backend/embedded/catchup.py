"""Bringing a namespace's indexes up to its database: on open, after a fault, and on demand.

The database is the truth. Each index says which journal sequence it has applied; what is missing is replayed, and an
index that is damaged, or too far behind for the journal, is built anew from the stored passages.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from engine.backend.embedded.store import (
    DATABASE_FILE,
    LEXICAL_FOLDER,
    MANIFEST_FILE,
    VECTORS_FOLDER,
    NamespaceStore,
)
from engine.backend.protocol import NamespaceSpec
from engine.errors import CorruptData, StorageError
from engine.lexical.index import LexicalIndex, LexicalPassage
from engine.model.hits import Labels
from engine.model.schema import AttributeType, Schema, TypedValue
from engine.model.values import typed_value
from engine.settings import EngineSettings
from engine.storage.attributes import Columns
from engine.storage.connection import Cursor, Database, connect
from engine.storage.documents import decode_body, scan_documents
from engine.storage.journal import Change, changes_since, forget_changes, read_counters
from engine.storage.manifest import Manifest
from engine.storage.migrate import migrate, shipped
from engine.storage.passages import texts_between, vectors_between
from engine.storage.properties import read_property, write_property
from engine.vector.index import VectorIndex

DIMENSION_PROPERTY = "dimension"
EMBEDDER_PROPERTY = "embedder"


def open_store(folder: Path, settings: EngineSettings) -> NamespaceStore:
    """Open a namespace's folder and bring its indexes up to date.

    Raises:
        CorruptData: the database is damaged, or older than what was acknowledged.
    """
    database = connect(
        folder / DATABASE_FILE, threads=settings.storage.threads, memory_limit=settings.storage.memory_limit
    )
    try:
        migrate(database, shipped("namespace"))
        with database.reader() as cursor:
            seq = read_counters(cursor).seq
            Manifest(folder / MANIFEST_FILE).check(seq)
            dimension = int(read_property(cursor, DIMENSION_PROPERTY) or 0)
            columns = Columns(cursor)
        store = _assemble(folder, database, columns, dimension, settings, seq)
    except BaseException:
        database.close()
        raise
    return store


def create_store(folder: Path, spec: NamespaceSpec, settings: EngineSettings) -> NamespaceStore:
    """Make the folder and the empty database of a namespace, all of it or nothing, and open it."""
    building = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    database = connect(
        building / DATABASE_FILE, threads=settings.storage.threads, memory_limit=settings.storage.memory_limit
    )
    migrate(database, shipped("namespace"))
    with database.transaction() as cursor:
        write_property(cursor, DIMENSION_PROPERTY, str(spec.dimension))
        write_property(cursor, EMBEDDER_PROPERTY, spec.embedder)
    database.close()
    building.rename(folder)
    return open_store(folder, settings)


def ensure_columns(store: NamespaceStore, schema: Schema) -> None:
    """Give every filterable attribute its typed column, filled from the stored documents."""
    wanted = {name: schema.attributes[name].type for name in schema.filterable()}
    with store.write_lock:
        added = store.columns.missing(wanted)
        if not added:
            return
        try:
            with store.database.transaction() as cursor:
                for attribute, kind in added.items():
                    store.columns.add(cursor, attribute, kind)
                _backfill(store, cursor, added)
        except BaseException:
            with store.reading() as cursor:
                store.columns = Columns(cursor)
            raise


def _backfill(store: NamespaceStore, cursor: Cursor, added: Mapping[str, AttributeType]) -> None:
    values: dict[str, list[tuple[int, TypedValue]]] = {attribute: [] for attribute in added}
    for rows in scan_documents(cursor, batch=5_000):
        for row in rows:
            body = decode_body(row.body)
            for attribute, kind in added.items():
                value = typed_value(kind, body.get(attribute))
                if value is not None:
                    values[attribute].append((row.key, value))
    for attribute, pairs in values.items():
        if pairs:
            store.columns.fill(cursor, attribute, pairs)


def _assemble(
    folder: Path, database: Database, columns: Columns, dimension: int, settings: EngineSettings, seq: int
) -> NamespaceStore:
    lexical, lexical_seq = _open_lexical(folder / LEXICAL_FOLDER)
    vectors, vectors_seq = VectorIndex.open(folder / VECTORS_FOLDER, dimension, settings.vectors)
    store = NamespaceStore(folder, database, lexical, vectors, columns, dimension, settings)
    with store.reading() as cursor:
        catch_up_lexical(store, cursor, lexical_seq, seq)
        catch_up_vectors(store, cursor, vectors_seq, seq)
    store.saved_seq = max(vectors_seq, 0)
    store.load(seq)
    return store


def _open_lexical(folder: Path) -> tuple[LexicalIndex, int]:
    try:
        return LexicalIndex.open(folder)
    except CorruptData:
        shutil.rmtree(folder, ignore_errors=True)
        return LexicalIndex.open(folder)


def catch_up_lexical(store: NamespaceStore, cursor: Cursor, applied: int, seq: int) -> None:
    """Replay what the lexical index misses, or all of it."""
    if applied == seq:
        return
    changes = changes_since(cursor, applied) if 0 < applied < seq else None
    if changes is None:
        store.lexical.clear()
        first, removed = 0, np.empty(0, np.int64)
    else:
        first, removed = _span(changes)
    for rows in texts_between(cursor, first, read_counters(cursor).next_label):
        store.lexical.apply([LexicalPassage(label, header, text) for label, header, text in rows], removed, applied)
        removed = np.empty(0, np.int64)
    store.lexical.apply([], removed, seq)


def catch_up_vectors(store: NamespaceStore, cursor: Cursor, applied: int, seq: int) -> None:
    """Replay what the vector index misses, or all of it."""
    if applied == seq or store.dimension == 0:
        return
    changes = changes_since(cursor, applied) if 0 < applied < seq else None
    if changes is None:
        store.vectors.clear()
        first, removed = 0, np.empty(0, np.int64)
    else:
        first, removed = _span(changes)
    for labels, rows in vectors_between(cursor, first, read_counters(cursor).next_label, store.dimension):
        store.vectors.add(labels, rows)
    store.vectors.remove(removed)


def _span(changes: list[Change]) -> tuple[int, Labels]:
    """The first label that the changes added, and every label they removed."""
    first = min(change.first_label for change in changes)
    removed = np.unique(np.asarray([label for change in changes for label in change.removed], np.int64))
    return first, removed


def rebuild_indexes(store: NamespaceStore) -> None:
    """Build both indexes anew from the database and publish them. The caller holds the write lock or owns the store."""
    with store.write_lock, store.reading() as cursor:
        seq = read_counters(cursor).seq
        catch_up_lexical(store, cursor, 0, seq)
        catch_up_vectors(store, cursor, 0, seq)
        store.load(seq)


def verify(store: NamespaceStore) -> list[str]:
    """What is wrong with the namespace, readable; empty when all is well. Reads every row of every table."""
    problems: list[str] = []
    with store.write_lock, store.reading() as cursor:
        try:
            for table in ("documents", "passages", "attributes", "journal"):
                cursor.execute(f"SELECT sum(hash(t)) FROM {table} t").fetchone()  # noqa: S608 - a constant
        except StorageError as error:
            problems.append(f"the database cannot be read: {error.message}")
            return problems
        snapshot = store.snapshot
        stored = {label for (label,) in cursor.execute("SELECT label FROM passages").fetchall()}
    if set(snapshot.labels.tolist()) != stored:
        problems.append("the list of live passages differs from the database")
    if snapshot.lexical.num_passages != len(stored):
        problems.append(f"the lexical index holds {snapshot.lexical.num_passages} passages, not {len(stored)}")
    if len(snapshot.vectors) != len(stored):
        problems.append(f"the vector index holds {len(snapshot.vectors)} rows, not {len(stored)}")
    return problems


def save_vectors(store: NamespaceStore) -> None:
    """Snapshot the graph, then let go of the journal that no index needs any more."""
    with store.write_lock:
        seq = store.committed_seq
        if seq == store.saved_seq or not store.is_current:
            return
        store.vectors.save(store.folder / VECTORS_FOLDER, seq)
        store.saved_seq, store.unsaved_rows = seq, 0
        with store.database.transaction() as cursor:
            forget_changes(cursor, seq)

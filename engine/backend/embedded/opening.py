"""Making and opening a namespace's folder."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from engine.backend.embedded.catchup import catch_up_lexical, catch_up_vectors
from engine.backend.embedded.folders import BUILDING, beside
from engine.backend.embedded.store import (
    DATABASE_FILE,
    LEXICAL_FOLDER,
    MANIFEST_FILE,
    VECTORS_FOLDER,
    NamespaceStore,
)
from engine.backend.protocol import NamespaceSpec
from engine.errors import CorruptData
from engine.lexical.index import LexicalIndex
from engine.settings import EngineSettings
from engine.storage.attributes import Columns
from engine.storage.connection import Database, connect
from engine.storage.journal import read_counters
from engine.storage.manifest import Manifest
from engine.storage.migrate import migrate, shipped
from engine.storage.properties import read_property, write_property
from engine.vector.index import VectorIndex

DIMENSION_PROPERTY = "dimension"
EMBEDDER_PROPERTY = "embedder"
EPOCH_PROPERTY = "epoch"
"""Another text for each database that a namespace has had: keys of documents mean nothing in the next one."""


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


def _assemble(
    folder: Path, database: Database, columns: Columns, dimension: int, settings: EngineSettings, seq: int
) -> NamespaceStore:
    lexical, lexical_seq = _open_lexical(folder / LEXICAL_FOLDER)
    vectors, vectors_seq = VectorIndex.open(folder / VECTORS_FOLDER, dimension, settings.vectors)
    store = NamespaceStore(folder, database, lexical, vectors, columns, dimension, settings)
    try:
        with store.reading() as cursor:
            catch_up_lexical(store, cursor, lexical_seq, seq)
            catch_up_vectors(store, cursor, vectors_seq, seq)
        store.saved_seq = max(vectors_seq, 0)
        store.load(seq)
    except BaseException:
        # A writer that stayed open would hold the index's lock against the next attempt.
        store.close()
        raise
    return store


def _open_lexical(folder: Path) -> tuple[LexicalIndex, int]:
    try:
        return LexicalIndex.open(folder)
    except CorruptData:
        shutil.rmtree(folder, ignore_errors=True)
        return LexicalIndex.open(folder)


def create_store(folder: Path, spec: NamespaceSpec, settings: EngineSettings) -> None:
    """Make the folder and the empty database of a namespace, all of it or nothing."""
    building = beside(folder, BUILDING)
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    database = connect(
        building / DATABASE_FILE, threads=settings.storage.threads, memory_limit=settings.storage.memory_limit
    )
    try:
        migrate(database, shipped("namespace"))
        with database.transaction() as cursor:
            write_property(cursor, DIMENSION_PROPERTY, str(spec.dimension))
            write_property(cursor, EMBEDDER_PROPERTY, spec.embedder)
            write_property(cursor, EPOCH_PROPERTY, secrets.token_hex(4))
    finally:
        database.close()
    building.rename(folder)

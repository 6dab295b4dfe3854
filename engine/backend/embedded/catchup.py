"""Bringing a namespace's indexes up to its database: on open, after a fault, and on demand.

The database is the truth. Each index says which journal sequence it has applied; what is missing is replayed, and an
index that is damaged, or too far behind for the journal, is built anew from the stored passages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.backend.embedded.store import (
    VECTORS_FOLDER,
    NamespaceStore,
)
from engine.lexical.forward import ForwardPassage
from engine.lexical.index import LexicalPassage
from engine.model.hits import Labels
from engine.storage.connection import Cursor
from engine.storage.files import make_private
from engine.storage.journal import changes_since, forget_changes, read_counters
from engine.storage.passages import passages_between, vectors_between


def catch_up_lexical(store: NamespaceStore, cursor: Cursor, applied: int, seq: int) -> None:
    """Replay what the lexical index misses, or all of it."""
    if applied == seq:
        return
    first, removed = _missing(cursor, applied, seq, store.lexical.clear)
    for rows in passages_between(cursor, first, read_counters(cursor).next_label):
        store.lexical.apply([LexicalPassage(p.label, p.header, p.text) for p in rows], removed, applied)
        removed = np.empty(0, np.int64)
    store.lexical.apply([], removed, seq)


def catch_up_vectors(store: NamespaceStore, cursor: Cursor, applied: int, seq: int) -> None:
    """Replay what the vector index misses, or all of it."""
    if applied == seq or store.dimension == 0:
        return
    first, removed = _missing(cursor, applied, seq, store.vectors.clear)
    for labels, rows in vectors_between(cursor, first, read_counters(cursor).next_label, store.dimension):
        store.vectors.add(labels, rows)
    store.vectors.remove(removed)


def catch_up_forward(store: NamespaceStore, cursor: Cursor, applied: int, seq: int) -> None:
    """Analyse the passages that the forward index misses, or all of them; it keeps those that are removed."""
    if applied == seq:
        return
    first, _ = _missing(cursor, applied, seq, store.forward.clear)
    for rows in passages_between(cursor, first, read_counters(cursor).next_label):
        store.forward.add([ForwardPassage(passage) for passage in rows])


def _missing(cursor: Cursor, applied: int, seq: int, clear: Callable[[], None]) -> tuple[int, Labels]:
    """The first label to add, and every label to remove; the index is cleared where the journal does not reach."""
    changes = changes_since(cursor, applied) if 0 < applied < seq else None
    if changes is None:
        clear()
        return 0, np.empty(0, np.int64)
    removed = np.unique(np.asarray([label for change in changes for label in change.removed], np.int64))
    return min(change.first_label for change in changes), removed


def rebuild_indexes(store: NamespaceStore) -> None:
    """Build the indexes anew from the database and publish them. The caller holds the write lock or owns the store."""
    with store.write_lock, store.reading() as cursor:
        seq = read_counters(cursor).seq
        catch_up_lexical(store, cursor, 0, seq)
        catch_up_vectors(store, cursor, 0, seq)
        catch_up_forward(store, cursor, 0, seq)
        store.load(seq)


def save_indexes(store: NamespaceStore) -> None:
    """Write what is only in memory, then let go of the journal that no index needs any more."""
    with store.write_lock:
        seq = store.committed_seq
        if seq == store.saved_seq or not store.is_current:
            return
        store.forward.save(seq, store.snapshot.labels)
        store.vectors.save(store.folder / VECTORS_FOLDER, seq)
        store.saved_seq, store.unsaved_rows = seq, 0
        with store.database.transaction() as cursor:
            forget_changes(cursor, seq)
        make_private(store.folder)

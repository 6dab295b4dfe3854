"""Writes to one namespace: a database transaction first, then both indexes, then the next snapshot."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np

from engine.backend.embedded.catchup import rebuild_indexes
from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import DocumentWrite
from engine.errors import QuarryError, StorageError
from engine.lexical.index import LexicalPassage
from engine.model.hits import Labels, Vectors
from engine.storage.attributes import delete_attributes
from engine.storage.connection import Cursor
from engine.storage.documents import DocumentRow, delete_documents, insert_documents, keys_of, keys_of_roots
from engine.storage.files import require_free_space
from engine.storage.journal import Counters, append_change, read_counters
from engine.storage.passages import PassageRow, delete_passages, insert_passages, labels_of
from engine.storage.properties import write_property

_log = logging.getLogger(__name__)


def upsert(
    store: NamespaceStore,
    documents: Sequence[DocumentWrite],
    vectors: Vectors,
    properties: Mapping[str, str],
) -> int:
    """Replace or insert `documents` (distinct ids) and set `properties` in one transaction; findable on return.

    Args:
        vectors: shape ``(sum of passages, dimension)``, in the order of the documents' passages.

    Raises:
        ValueError: as many vectors as passages were not given; nothing is written.
        StorageFull: too little free space; nothing is written.
        StorageError: the database failed; nothing is written. Or an index failed after the commit and could not be
            rebuilt: the documents are stored, and found after the next open.
    """
    if (passages := sum(len(document.passages) for document in documents)) != len(vectors):
        raise ValueError(f"{passages} passages but {len(vectors)} vectors")
    guard_space(store, documents, vectors)
    with store.write_lock:
        mend(store)
        with store.database.transaction() as cursor:
            before = read_counters(cursor)
            removed = _remove(cursor, keys_of(cursor, [d.id for d in documents]))
            rows = _insert(store, cursor, documents, vectors, before)
            after = Counters(before.next_key + len(documents), before.next_label + len(rows), before.seq + 1)
            append_change(cursor, before, after, "upsert", removed)
            for name, value in properties.items():
                write_property(cursor, name, value)
        _apply(store, after.seq, rows, vectors, np.asarray(removed, np.int64))
    return len(documents)


def delete(store: NamespaceStore, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
    """How many documents were removed; a root takes its children with it."""
    with store.write_lock:
        mend(store)
        with store.database.transaction() as cursor:
            keys = keys_of(cursor, ids or []) if roots is None else keys_of_roots(cursor, roots)
            if not keys:
                return 0
            before = read_counters(cursor)
            removed = _remove(cursor, keys)
            after = Counters(before.next_key, before.next_label, before.seq + 1)
            append_change(cursor, before, after, "delete", removed)
        _apply(store, after.seq, [], np.empty((0, store.dimension), np.float32), np.asarray(removed, np.int64))
    return len(keys)


def _remove(cursor: Cursor, keys: Sequence[int]) -> list[int]:
    if not keys:
        return []
    removed = labels_of(cursor, keys)
    delete_documents(cursor, keys)
    delete_attributes(cursor, keys)
    delete_passages(cursor, removed)
    return removed


def _insert(
    store: NamespaceStore,
    cursor: Cursor,
    documents: Sequence[DocumentWrite],
    vectors: Vectors,
    before: Counters,
) -> list[PassageRow]:
    insert_documents(
        cursor,
        (
            DocumentRow(document.id, key, document.root_id, document.body.decode())
            for key, document in enumerate(documents, before.next_key)
        ),
    )
    store.columns.insert(cursor, [(key, d.values) for key, d in enumerate(documents, before.next_key)])
    labels = count(before.next_label)
    stored = np.ascontiguousarray(vectors, dtype="<f4")
    rows = [
        PassageRow(
            label,
            key,
            document.id,
            passage.attribute,
            passage.start,
            passage.end,
            passage.text,
            passage.header,
            stored[label - before.next_label].tobytes(),
        )
        for key, document in enumerate(documents, before.next_key)
        for passage in document.passages
        for label in [next(labels)]
    ]
    insert_passages(cursor, rows)
    return rows


def _apply(store: NamespaceStore, seq: int, passages: Sequence[PassageRow], vectors: Vectors, removed: Labels) -> None:
    """Bring both indexes to `seq`; the transaction is committed, so a failure here may cost time but no document."""
    store.committed_seq = seq
    added = np.fromiter((p.label for p in passages), np.int64, len(passages))
    added_keys = np.fromiter((p.key for p in passages), np.int64, len(passages))
    try:
        store.lexical.apply([LexicalPassage(p.label, p.header, p.text) for p in passages], removed, seq)
        if len(added):
            store.vectors.add(added, vectors)
        if len(removed):
            store.vectors.remove(removed)
    except Exception as error:  # noqa: BLE001 - whatever an index raises, the documents are committed
        _log.exception("An index refused a committed write; both are built anew")
        try:
            rebuild_indexes(store)
        except QuarryError:
            raise StorageError("The documents are stored, but cannot be searched before the next write.") from error
    else:
        store.publish(seq, added, added_keys, removed)
    store.unsaved_rows += len(added) + len(removed)
    # Last: a side file behind the database is harmless, and a write is acknowledged only when it stands.
    store.manifest.record(seq)


def mend(store: NamespaceStore) -> None:
    """Build the indexes anew where an earlier write left them behind the database. The caller holds the write lock."""
    if not store.is_current:
        rebuild_indexes(store)


def guard_space(store: NamespaceStore, documents: Sequence[DocumentWrite], vectors: Vectors) -> None:
    """Raises `StorageFull` when the write could fill the disk: a full disk in a checkpoint stops reads too."""
    size = sum(len(d.body) for d in documents) + vectors.nbytes
    require_free_space(store.folder, max(store.settings.storage.min_free_bytes, 3 * size))

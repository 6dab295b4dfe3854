"""Writes to one namespace: a database transaction first, then both indexes, then the next snapshot."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import msgspec
import numpy as np

from engine.analysis.analyzer import language_of
from engine.backend.embedded.catchup import rebuild_indexes
from engine.backend.embedded.columns import fitted
from engine.backend.embedded.record import read_record, with_epoch, write_schema
from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import DocumentWrite
from engine.errors import QuarryError, StorageError
from engine.lexical.forward import ForwardPassage
from engine.lexical.index import LexicalPassage
from engine.model.document import Passage, PassageDraft
from engine.model.hits import Labels, Vectors
from engine.model.schema import Schema
from engine.storage import allocator
from engine.storage.attributes import Columns, delete_attributes
from engine.storage.connection import Cursor
from engine.storage.documents import DocumentRow, delete_documents, insert_documents, keys_of, keys_of_roots
from engine.storage.files import make_private, require_free_space
from engine.storage.journal import Counters, append_change, read_counters
from engine.storage.passages import (
    STORED_VECTORS,
    PassageRow,
    as_stored,
    delete_passages,
    insert_passages,
    labels_of,
)

_log = logging.getLogger(__name__)


LARGE = 32 * 2**20
"""Bytes of bodies."""


class Added(NamedTuple):
    """A passage that a write brings."""

    label: int
    key: int
    document_id: str
    draft: PassageDraft

    def stored(self) -> Passage:
        draft = self.draft
        return Passage(
            label=self.label,
            document_id=self.document_id,
            attribute=draft.attribute,
            start=draft.start,
            end=draft.end,
            text=draft.text,
            header=draft.header,
        )


def upsert(
    store: NamespaceStore,
    documents: list[DocumentWrite],
    vectors: Vectors,
    schema: Schema | None,
) -> int:
    """Replace or insert `documents` (distinct ids) under `schema`, all in one transaction; findable on return.

    Args:
        documents: emptied on the way, so that bodies are not held beside the database's copy of them.
        vectors: shape ``(sum of passages, dimension)``, in the order of the documents' passages.
        schema: its typed columns come and go with the same commit; None leaves everything as it is.

    Raises:
        ValueError: as many vectors as passages were not given; nothing is written.
        StorageFull: too little free space; nothing is written.
        StorageError: the database failed; nothing is written. Or an index failed after the commit and could not be
            rebuilt: the documents are stored, and found after the next open.
    """
    if (passages := sum(len(document.passages) for document in documents)) != len(vectors):
        raise ValueError(f"{passages} passages but {len(vectors)} vectors")
    guard_space(store, documents, vectors)
    vectors = as_stored(vectors)
    with store.write_lock, settled(store):
        columns = store.columns
        with store.database.transaction() as cursor:
            before, record = read_counters(cursor), with_epoch(cursor, store.record)
            if schema is not None:
                columns, record = fitted(cursor, columns, schema), write_schema(cursor, record, schema)
            replaced = keys_of(cursor, [d.id for d in documents])
            removed = _remove(cursor, replaced)
            written, size = len(documents), sum(len(document.body) for document in documents)
            added = _insert(columns, cursor, documents, vectors, before)
            after = Counters(before.next_key + written, before.next_label + len(added), before.seq + 1)
            append_change(cursor, before, after, "upsert", removed)
            if size >= LARGE:
                # The commit is about to need as much as the bodies have left.
                allocator.trim()
        store.columns = columns
        store.record = msgspec.structs.replace(record, documents=record.documents + written - len(replaced))
        _apply(store, after.seq, added, vectors, np.asarray(removed, np.int64))
    return written


def delete(store: NamespaceStore, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
    """How many documents were removed; a root takes its children with it."""
    with store.write_lock, settled(store):
        with store.database.transaction() as cursor:
            keys = keys_of(cursor, ids or []) if roots is None else keys_of_roots(cursor, roots)
            if not keys:
                return 0
            before = read_counters(cursor)
            removed = _remove(cursor, keys)
            after = Counters(before.next_key, before.next_label, before.seq + 1)
            append_change(cursor, before, after, "delete", removed)
        store.record = msgspec.structs.replace(store.record, documents=store.record.documents - len(keys))
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
    columns: Columns,
    cursor: Cursor,
    documents: list[DocumentWrite],
    vectors: Vectors,
    before: Counters,
) -> list[Added]:
    keyed = list(enumerate(documents, before.next_key))
    drafts = ((key, document.id, draft) for key, document in keyed for draft in document.passages)
    added = [Added(label, *held) for label, held in enumerate(drafts, before.next_label)]
    columns.insert(cursor, [(key, document.values) for key, document in keyed])
    insert_passages(cursor, _passage_rows(added, vectors))
    keyed.clear()
    insert_documents(cursor, _document_rows(documents, before.next_key))
    return added


def _passage_rows(added: Sequence[Added], vectors: Vectors) -> Iterator[PassageRow]:
    stored = vectors.astype(STORED_VECTORS)
    for (label, key, document_id, draft), vector in zip(added, stored, strict=True):
        yield PassageRow(
            label,
            key,
            document_id,
            draft.attribute,
            draft.start,
            draft.end,
            draft.text,
            draft.header,
            vector.tobytes(),
        )


def _document_rows(documents: list[DocumentWrite], first_key: int) -> Iterator[DocumentRow]:
    documents.reverse()
    key = first_key
    while documents:
        document = documents.pop()
        yield DocumentRow(document.id, key, document.root_id, document.body.decode())
        key += 1


def _apply(store: NamespaceStore, seq: int, passages: Sequence[Added], vectors: Vectors, removed: Labels) -> None:
    """Bring both indexes to `seq`; the transaction is committed, so a failure here may cost time but no document."""
    store.committed_seq = seq
    added = np.fromiter((p.label for p in passages), np.int64, len(passages))
    added_keys = np.fromiter((p.key for p in passages), np.int64, len(passages))
    try:
        spoken = [language_of(p.draft.text) for p in passages]
        words = [ForwardPassage(p.stored(), language) for p, language in zip(passages, spoken, strict=True)]
        store.lexical.apply([LexicalPassage(p.label, p.header, p.text, spoken) for p, spoken in words], removed, seq)
        store.forward.add(words)
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
    make_private(store.folder)
    # Last: a side file behind the database is harmless, and a write is acknowledged only when it stands.
    store.manifest.record(seq)


@contextmanager
def settled(store: NamespaceStore) -> Generator[None]:
    """A write within which `store` may differ from its database; it does not before, nor after one that failed.

    The caller holds the write lock. Where a failed write cannot be settled either, the next one does it.
    """
    if not store.is_settled:
        settle(store)
    store.is_settled = False
    try:
        yield
    except BaseException:
        with suppress(QuarryError):
            settle(store)
        raise
    store.is_settled = True


def settle(store: NamespaceStore) -> None:
    """Have what the store has in memory say what its database says, and both indexes show it."""
    with store.reading() as cursor:
        seq = read_counters(cursor).seq
        store.columns, store.record = Columns(cursor), read_record(cursor)
    store.committed_seq = seq
    if not store.is_current:
        rebuild_indexes(store)
    store.is_settled = True


def guard_space(store: NamespaceStore, documents: Sequence[DocumentWrite], vectors: Vectors) -> None:
    """Raises `StorageFull` when the write could fill the disk: a full disk in a checkpoint stops reads too."""
    size = sum(len(d.body) for d in documents) + vectors.nbytes
    require_free_space(store.folder, max(store.settings.storage.min_free_bytes, 3 * size))

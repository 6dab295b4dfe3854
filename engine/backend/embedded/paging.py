"""Documents of a namespace that satisfy a filter: in pages, in the order of upload, and how many."""

from __future__ import annotations

from engine.backend.cursors import PAGE_BYTES, decode_cursor, encode_cursor
from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import DocumentPage, StoredDocument
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.storage.attributes import matching_keys, matching_keys_after
from engine.storage.documents import decode_body, first_documents, keys_after


def read_page(store: NamespaceStore, where: CheckedFilter | None, limit: int, cursor: str | None) -> DocumentPage:
    """See `Backend.page`."""
    epoch = store.record.epoch
    after = -1 if cursor is None else decode_cursor(cursor, epoch)
    with store.database.snapshot() as reader:
        if where is None:
            keys = keys_after(reader, after, limit + 1)
        else:
            predicate = compile_filter(where, store.columns.sql_names())
            keys = matching_keys_after(reader, predicate, after, limit + 1)
        rows = first_documents(reader, keys[:limit], PAGE_BYTES)
    following = encode_cursor(epoch, rows[-1].key) if len(rows) < len(keys) else None
    return DocumentPage([StoredDocument(row.id, decode_body(row.body)) for row in rows], following)


def count_matching(store: NamespaceStore, where: CheckedFilter) -> int:
    """How many documents satisfy a filter."""
    with store.reading() as cursor:
        return len(matching_keys(cursor, compile_filter(where, store.columns.sql_names())))

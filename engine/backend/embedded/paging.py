"""Documents of a namespace in pages, in the order of upload."""

from __future__ import annotations

import base64
import binascii

from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import DocumentPage, StoredDocument
from engine.errors import InvalidRequest
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.storage.attributes import matching_keys_after
from engine.storage.documents import decode_body, first_documents, keys_after

PAGE_BYTES = 16 * 2**20
"""A page ends before its documents are larger; a document that is larger alone is a page of its own."""


def read_page(store: NamespaceStore, where: CheckedFilter | None, limit: int, cursor: str | None) -> DocumentPage:
    """See `Backend.page`."""
    epoch = store.record.epoch
    after = -1 if cursor is None else _decode(cursor, epoch)
    with store.database.snapshot() as reader:
        if where is None:
            keys = keys_after(reader, after, limit + 1)
        else:
            predicate = compile_filter(where, store.columns.sql_names())
            keys = matching_keys_after(reader, predicate, after, limit + 1)
        rows = first_documents(reader, keys[:limit], PAGE_BYTES)
    following = _encode(epoch, rows[-1].key) if len(rows) < len(keys) else None
    return DocumentPage([StoredDocument(row.id, decode_body(row.body)) for row in rows], following)


def _encode(epoch: str, key: int) -> str:
    return base64.urlsafe_b64encode(f"{epoch}.{key}".encode()).decode().rstrip("=")


def _decode(cursor: str, epoch: str) -> int:
    try:
        text = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    given, _, key = text.rpartition(".")
    if not (key.isascii() and key.isdigit() and len(key) < 19) or _encode(given, int(key)) != cursor:
        raise InvalidRequest("`cursor` is not one that a list of documents gave.", path="cursor")
    if given != epoch:
        raise InvalidRequest("The namespace was built anew since this page was given. List it anew.", path="cursor")
    return int(key)

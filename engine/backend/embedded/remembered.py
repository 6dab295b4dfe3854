"""Passages and documents that were read lately, of all open namespaces together.

A search reads the same rows several times, and searches of one collection meet the same ones again. Passages that are
not remembered come from the forward index; a lookup in DuckDB takes milliseconds, and unpacks the neighbours of a long
body with it. What is remembered is a version: a label stands for one passage for ever, and a document's `key` for one
version of it. Whether that version still stands is asked of the snapshot, or of the database while a write is under
way, so that nothing replaced or deleted comes back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import cast

import numpy as np

from engine.backend.embedded.recent import BODIES, MOST_BYTES, PASSAGES
from engine.backend.embedded.store import NamespaceStore
from engine.model.document import JsonValue, Passage
from engine.storage import documents as documents_table
from engine.storage import passages as passages_table
from engine.storage.connection import Cursor
from engine.storage.files import translated_os_errors

_OVERHEAD = 600
"""Bytes that an entry takes beside its text."""
SEVERAL = 4
"""Documents that are missing at once from which a small namespace is read whole: in long bodies DuckDB unpacks what
stands before a row for each of them. Of 609 articles of 10 KB, one took 4.4 ms of processor time, all of them 20."""
UNPACKED_TOGETHER = 2_048
"""Rows that DuckDB packs together."""
READ_WHOLE = 2 * MOST_BYTES
"""Bytes of a database, packed, from which its documents would not stay in memory."""
_UNKNOWN = -1
"""Sequence of what was read while the memory of a namespace may differ from its database."""


def hydrated(store: NamespaceStore, labels: Sequence[int]) -> dict[int, Passage]:
    """The live passages among `labels`."""
    snapshot = store.snapshot
    if not store.is_settled or store.committed_seq != snapshot.seq:
        # A write is being applied, or has failed: only the database knows what stands.
        with store.reading() as cursor:
            return passages_table.hydrate(cursor, labels)
    wanted = np.asarray(labels, np.int64)
    places = np.searchsorted(snapshot.labels, wanted)
    places[places == len(snapshot.labels)] = 0
    live: list[int] = wanted[snapshot.labels[places] == wanted].tolist() if len(snapshot.labels) else []
    found = cast("dict[int, Passage]", PASSAGES.take(store.token, live))
    missing = [label for label in live if label not in found]
    if missing:
        read = _read_passages(store, missing)
        found |= read
        PASSAGES.keep(store.token, [(label, passage, _size(passage)) for label, passage in read.items()])
    return found


def _read_passages(store: NamespaceStore, live: Sequence[int]) -> dict[int, Passage]:
    held = store.forward.reader().passages(np.asarray(live, np.int64))
    if held is not None:
        return {passage.label: passage for passage in held}
    with store.reading() as cursor:
        return passages_table.hydrate(cursor, live)


def bodies(store: NamespaceStore, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
    """Documents by id, each of them the caller's own; ids that do not exist are left out."""
    seq = store.committed_seq if store.is_settled else _UNKNOWN
    held = cast("dict[str, tuple[int, int, str]]", BODIES.take(store.token, ids))
    found = {document_id: body for document_id, (known, _, body) in held.items() if known == seq != _UNKNOWN}
    rest = [document_id for document_id in dict.fromkeys(ids) if document_id not in found]
    if rest:
        stale = [document_id for document_id in rest if document_id in held]
        with store.reading() as cursor:
            # Something was written since: most documents are still what they were.
            keys = documents_table.versions(cursor, stale)
            same = {i: held[i] for i in stale if keys.get(i) == held[i][1]}
            read = _read_bodies(store, cursor, [i for i in rest if i not in same])
        fresh = [*((i, key, body) for i, (_, key, body) in same.items()), *read]
        found |= {document_id: body for document_id, _, body in fresh}
        # Those that were asked for last, so that they stay where there is not room for all.
        fresh.sort(key=lambda row: row[0] in rest)
        BODIES.keep(store.token, [(i, (seq, key, body), sys.getsizeof(body) + _OVERHEAD) for i, key, body in fresh])
    return {i: documents_table.decode_body(found[i]) for i in dict.fromkeys(ids) if i in found}


def _read_bodies(store: NamespaceStore, cursor: Cursor, ids: Sequence[str]) -> list[tuple[str, int, str]]:
    """The bodies of `ids`; of a few long documents all of them, where reading these takes as long."""
    if len(ids) >= SEVERAL and store.record.documents <= UNPACKED_TOGETHER and _database_bytes(store) <= READ_WHOLE:
        return documents_table.all_bodies(cursor)
    return documents_table.raw_bodies(cursor, ids)


def _database_bytes(store: NamespaceStore) -> int:
    with translated_os_errors():
        return store.database.path.stat().st_size


def _size(passage: Passage) -> int:
    return sys.getsizeof(passage.text) + sys.getsizeof(passage.header) + _OVERHEAD

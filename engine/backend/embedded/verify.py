"""Comparing what a namespace's three stores hold."""

from __future__ import annotations

from collections.abc import Iterator

from engine.backend.embedded.store import NamespaceStore
from engine.errors import StorageError
from engine.storage.connection import Cursor

_AGREEMENTS = {
    "documents lack their attribute values": "documents t ANTI JOIN attributes a ON t.key = a.key",
    "attribute values belong to no document": "attributes t ANTI JOIN documents d ON t.key = d.key",
    "passages belong to no document": "passages t ANTI JOIN documents d ON t.key = d.key AND t.document_id = d.id",
}
"""What rows mean that such a join leaves."""


def verify(store: NamespaceStore) -> list[str]:
    """What is wrong with the namespace, readable; empty when all is well. Reads every row of every table.

    The caller holds the write lock.
    """
    with store.reading() as cursor:
        try:
            for table in ("documents", "passages", "attributes", "journal"):
                cursor.execute(f"SELECT sum(hash(t)) FROM {table} t").fetchone()  # noqa: S608 - a constant
            stored = {label for (label,) in cursor.execute("SELECT label FROM passages").fetchall()}
            problems = [*_disagreements(cursor, store), *_wrong_columns(store)]
        except StorageError as error:
            return [f"the database cannot be read: {error.message}"]
    return [*problems, *_wrong_indexes(store, stored), *store.lexical.problems(), *store.forward.problems()]


def _disagreements(cursor: Cursor, store: NamespaceStore) -> Iterator[str]:
    for meaning, query in _AGREEMENTS.items():
        row = cursor.execute(f"SELECT count(*) FROM {query}").fetchone()  # noqa: S608 - a constant
        if row is not None and row[0]:
            yield f"{row[0]:,} {meaning}"
    row = cursor.execute("SELECT count(*) FROM documents").fetchone()
    if row is not None and row[0] != store.record.documents:
        yield f"there are {row[0]:,} documents, not {store.record.documents:,}"


def _wrong_columns(store: NamespaceStore) -> Iterator[str]:
    schema, held = store.record.schema, store.columns.types()
    if schema is None:
        return
    wanted = {name: schema.attributes[name].type for name in schema.filterable() if name in schema.attributes}
    for name in sorted(wanted.keys() | held.keys()):
        if held.get(name) is not wanted.get(name):
            there, asked = held.get(name, "no column"), wanted.get(name, "not filterable")
            yield f"attribute {name!r} is {asked} in the schema and has {there} in the table"


def _wrong_indexes(store: NamespaceStore, stored: set[int]) -> Iterator[str]:
    snapshot = store.snapshot
    if set(snapshot.labels.tolist()) != stored:
        yield "the list of live passages differs from the database"
    if snapshot.lexical.num_passages != len(stored):
        yield f"the lexical index holds {snapshot.lexical.num_passages} passages, not {len(stored)}"
    if len(snapshot.vectors) != len(stored):
        yield f"the vector index holds {len(snapshot.vectors)} rows, not {len(stored)}"

"""Comparing what a namespace's three stores hold."""

from __future__ import annotations

from collections.abc import Iterator

from engine.backend.embedded.store import NamespaceStore
from engine.storage.connection import Cursor

_AGREEMENTS = {
    "documents lack their attribute values": "documents t ANTI JOIN attributes a ON t.key = a.key",
    "attribute values belong to no document": "attributes t ANTI JOIN documents d ON t.key = d.key",
    "passages belong to no document": "passages t ANTI JOIN documents d ON t.key = d.key AND t.document_id = d.id",
}
"""What rows mean that such a join leaves."""


_KEYED = {
    "documents": "SELECT id, key, NULL, '' FROM documents",
    "passages": "SELECT label, key, '', '', 0, 0, '', '', ''::BLOB FROM passages",
}
"""Rows with the keys of a table, and nothing else of it."""


def verify(store: NamespaceStore) -> list[str]:
    """What is wrong with the namespace, readable; empty when all is well. Reads every row of every table.

    The caller holds the write lock.

    Raises:
        CorruptData: some of the database cannot be read.
    """
    with store.reading() as cursor:
        for table in ("documents", "passages", "attributes", "journal"):
            cursor.execute(f"SELECT sum(hash(t)) FROM {table} t").fetchone()  # noqa: S608 - a constant
        stored = {label for (label,) in cursor.execute("SELECT label FROM passages").fetchall()}
        problems = [*_disagreements(cursor, store), *_wrong_columns(store)]
    problems += _wrong_keys(store)
    return [*problems, *_wrong_indexes(store, stored), *store.lexical.problems(), *store.forward.problems()]


def _wrong_keys(store: NamespaceStore) -> Iterator[str]:
    """Look every row up by its key, as gets and uploads do: reading all rows touches no index of the database.

    DuckDB looks up so many only where rows conflict, so they are added once more. A cursor that fails is closed, which
    ends its transaction too.
    """
    with store.reading() as cursor:
        cursor.execute("BEGIN TRANSACTION")
        for table, rows in _KEYED.items():
            row = cursor.execute(f"INSERT INTO {table} {rows} ON CONFLICT DO NOTHING").fetchone()
            if row is not None and row[0]:
                yield f"{row[0]:,} {table} are not found by their keys"
        cursor.execute("ROLLBACK")


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

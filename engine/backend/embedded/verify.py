"""Comparing what a namespace's three stores hold."""

from __future__ import annotations

from engine.backend.embedded.store import NamespaceStore
from engine.errors import StorageError


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

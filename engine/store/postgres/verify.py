"""What is wrong with a namespace in a database, read in one snapshot."""

from __future__ import annotations

from engine.store.postgres.connection import Connection
from engine.store.postgres.writing import read_state

_CHECKS = (
    ("documents", "SELECT count(*) FROM quarry.documents WHERE part = %s"),
    ("passages", "SELECT count(*) FROM quarry.passages WHERE part = %s"),
    ("bytes", "SELECT coalesce(sum(octet_length(body)), 0) FROM quarry.documents WHERE part = %s"),
)
_FAULTS = (
    (
        "passages belong to no document",
        """SELECT count(*) FROM quarry.passages p WHERE part = %s AND NOT EXISTS
        (SELECT 1 FROM quarry.documents d WHERE d.part = p.part AND d.key = p.key)""",
    ),
    (
        "passages have a vector of another length than the namespace",
        """SELECT count(*) FROM quarry.passages p JOIN quarry.namespaces n ON n.part = p.part
        WHERE p.part = %s AND vector_dims(embedding) <> n.dimension""",
    ),
    (
        "rows of postings are cut short",
        "SELECT count(*) FROM quarry.postings WHERE part = %s AND octet_length(postings) <> 10 * passages",
    ),
    (
        "postings point beyond the last passage",
        """SELECT count(*) FROM quarry.postings t JOIN quarry.namespaces n ON n.part = t.part
        WHERE t.part = %s AND t.first_label >= n.next_label""",
    ),
)


def verify(connection: Connection, namespace: int) -> list[str]:
    """One readable line a fault; reads every row."""
    connection.execute("SET LOCAL statement_timeout = 0")
    state = read_state(connection, namespace)
    found: list[str] = []
    for name, statement in _CHECKS:
        row = connection.execute(statement.encode(), [state.part]).fetchone()
        if row is not None and int(row[0]) != getattr(state, name):
            found.append(f"it holds {int(row[0]):,} {name}, but counts {getattr(state, name):,}")
    for fault, statement in _FAULTS:
        row = connection.execute(statement.encode(), [state.part]).fetchone()
        if row is not None and row[0]:
            found.append(f"{row[0]:,} {fault}; reindex it")
    return found

"""What a namespace gets when it has grown: a graph over its vectors, and postings in few rows."""

from __future__ import annotations

import numpy as np

from engine.store.postgres.connection import Connection
from engine.store.postgres.postings import RECORD
from engine.store.postgres.writing import read_state

GRAPH_FROM = 10_000
"""Passages from which a namespace has an HNSW index of its own; fewer are scanned in milliseconds."""
M, EF_CONSTRUCTION = 16, 80
DEAD_SHARE = 0.2
"""Share of removed passages in the postings from which on they are compacted; until then they count in BM25."""
MOST_ROWS = 32
"""Rows of one term before the postings are compacted: every upload adds a row to each of its terms."""


def maintain(connection: Connection, namespace: int) -> None:
    """Build the graph where it is due, and compact the postings where they are worn."""
    state = read_state(connection, namespace, hold=True)
    row = connection.execute("SELECT count(*) FROM quarry.passages WHERE namespace = %s", [namespace]).fetchone()
    live = int(row[0]) if row else 0
    if live > GRAPH_FROM and not state.has_graph:
        connection.execute("SET LOCAL statement_timeout = 0")
        statement = (
            f"CREATE INDEX passages_near_{int(namespace)} ON quarry.passages "
            f"USING hnsw ((embedding::halfvec({int(state.dimension)})) halfvec_ip_ops) "
            f"WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE namespace = {int(namespace)}"
        )
        connection.execute(statement.encode())
        connection.execute("UPDATE quarry.namespaces SET has_graph = true WHERE namespace = %s", [namespace])
    if state.indexed - live > DEAD_SHARE * state.indexed or _most_rows(connection, namespace) > MOST_ROWS:
        connection.execute("SET LOCAL statement_timeout = 0")
        compact(connection, namespace)


def drop_graph(connection: Connection, namespace: int) -> None:
    """Take the namespace's own index away."""
    connection.execute(f"DROP INDEX IF EXISTS quarry.passages_near_{int(namespace)}".encode())


def compact(connection: Connection, namespace: int) -> None:
    """Write the postings of the live passages anew, one row a term, and count them anew.

    The caller holds the namespace's row.
    """
    labels = connection.execute("SELECT label FROM quarry.passages WHERE namespace = %s", [namespace]).fetchall()
    live = np.sort(np.fromiter((label for (label,) in labels), np.int64, len(labels)))
    fresh: list[tuple[str, int, int, bytes]] = []
    rows = connection.execute(
        "SELECT term, array_agg(first_label ORDER BY first_label), array_agg(postings ORDER BY first_label) "
        "FROM quarry.postings WHERE namespace = %s GROUP BY term",
        [namespace],
        binary=True,
    )
    body_terms = header_terms = 0
    for term, firsts, packed in rows:
        records = np.concatenate([np.frombuffer(each, RECORD) for each in packed])
        held = np.repeat(firsts, [len(each) // RECORD.itemsize for each in packed]) + records["label"].astype(np.int64)
        keep = np.isin(held, live)
        if not keep.any():
            continue
        kept, at = records[keep].copy(), held[keep]
        body_terms += int(kept["body"].sum())
        header_terms += int(kept["header"].sum())
        kept["label"] = at - at[0]
        fresh.append((term, int(at[0]), len(kept), kept.tobytes()))
    connection.execute("DELETE FROM quarry.postings WHERE namespace = %s", [namespace])
    with connection.cursor().copy(
        "COPY quarry.postings (namespace, term, first_label, passages, postings) FROM STDIN"
    ) as copy:
        for row in fresh:
            copy.write_row((namespace, *row))
    connection.execute(
        "UPDATE quarry.namespaces SET indexed = %s, body_terms = %s, header_terms = %s WHERE namespace = %s",
        [len(live), body_terms, header_terms, namespace],
    )


def _most_rows(connection: Connection, namespace: int) -> int:
    row = connection.execute(
        "SELECT max(rows) FROM (SELECT count(*) AS rows FROM quarry.postings WHERE namespace = %s GROUP BY term) AS t",
        [namespace],
    ).fetchone()
    return int(row[0] or 0) if row else 0

"""What a namespace gets when it has grown: a graph over its vectors, and postings in few rows."""

from __future__ import annotations

import numpy as np

from engine.settings import VectorSettings
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.graphs import DUE, build_graph, drop_graphs, stray_parts
from engine.store.postgres.postings import RECORD, PostingRow
from engine.store.postgres.text import unescaped
from engine.store.postgres.writing import read_state, write_postings

DEAD_SHARE = 0.2
"""Share of removed passages in the postings from which on they are compacted; until then they count in BM25."""
MANY_WRITES, MOST_WRITES, FRESH_SHARE = 32, 1_000, 0.1
"""Every write adds a row to each of its terms. Postings are compacted after so many writes that brought this share of
the passages, and at the latest after the most: a compaction writes every posting of the namespace anew."""
_WORN = (
    f"(indexed - passages > {DEAD_SHARE} * indexed OR writes > {MOST_WRITES} "
    f"OR (writes > {MANY_WRITES} AND indexed - compacted > {FRESH_SHARE} * indexed))"
)
"""SQL: the postings of a namespace are worn."""


def maintain(pool: Pool, namespace: int, settings: VectorSettings) -> None:
    """Build a graph where one is due, and compact the postings where they are worn."""
    with pool.reading() as connection:
        state = read_state(connection, namespace)
        row = connection.execute(
            f"SELECT {DUE}, {_WORN} FROM quarry.namespaces WHERE namespace = %(namespace)s".encode(),
            {"namespace": namespace, "graph_from": settings.graph_from},
        ).fetchone()
    is_due, is_worn = row or (False, False)
    if is_due:
        build_graph(pool, namespace, state.part, state.dimension, settings)
    if is_worn:
        pool.written(lambda connection: compact(connection, namespace))


def due(pool: Pool, settings: VectorSettings) -> list[int]:
    """Namespaces that `maintain` would do something for."""
    with pool.reading() as connection:
        rows = connection.execute(
            f"SELECT namespace FROM quarry.namespaces WHERE name IS NOT NULL AND ({DUE} OR {_WORN})".encode(),
            {"graph_from": settings.graph_from},
        ).fetchall()
    return [namespace for (namespace,) in rows]


def sweep(pool: Pool) -> int:
    """Remove parts that no namespace has any more, and namespaces that a crash left half made; how many.

    One that is being made has no name yet, so only those of an hour ago go.
    """
    with pool.reading() as connection:
        forgotten = [
            number
            for (number,) in connection.execute(
                "SELECT namespace FROM quarry.namespaces WHERE name IS NULL "
                "AND updated_at < (extract(epoch FROM clock_timestamp()) * 1000)::int8 - 3600000"
            )
        ]
        parts = stray_parts(connection)
    for number in forgotten:
        remove(pool, number)
    for part in parts:
        drop_graphs(pool, part)
    return len(forgotten) + len(parts)


def remove(pool: Pool, namespace: int) -> None:
    """Remove a namespace that nobody can find any more."""

    def work(connection: Connection) -> int | None:
        row = connection.execute(
            "DELETE FROM quarry.namespaces WHERE namespace = %s RETURNING part, graph_upto", [namespace]
        ).fetchone()
        if row is None:
            return None
        clear_part(connection, row[0])
        return int(row[0]) if row[1] else None

    part = pool.written(work)
    if part is not None:
        drop_graphs(pool, part)


def clear_part(connection: Connection, part: int) -> None:
    """Delete the rows of a part, however many."""
    connection.execute("SET LOCAL statement_timeout = 0")
    for table in ("postings", "passages", "documents"):
        connection.execute(f"DELETE FROM quarry.{table} WHERE part = %s".encode(), [part])


def compact(connection: Connection, namespace: int) -> None:
    """Write the postings of the live passages anew, one row a term, and count them anew."""
    part = read_state(connection, namespace, hold=True).part
    connection.execute("SET LOCAL statement_timeout = 0")
    labels = connection.execute("SELECT label FROM quarry.passages WHERE part = %s", [part]).fetchall()
    live = np.sort(np.fromiter((label for (label,) in labels), np.int64, len(labels)))
    fresh: list[PostingRow] = []
    rows = connection.execute(
        "SELECT term, array_agg(first_label ORDER BY first_label), array_agg(postings ORDER BY first_label) "
        "FROM quarry.postings WHERE part = %s GROUP BY term",
        [part],
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
        fresh.append(PostingRow(unescaped(term), int(at[0]), len(kept), kept.tobytes()))
    connection.execute("DELETE FROM quarry.postings WHERE part = %s", [part])
    write_postings(connection, part, fresh)
    connection.execute(
        "UPDATE quarry.namespaces SET indexed = %s, body_terms = %s, header_terms = %s, writes = 0, compacted = %s, "
        "compactions = compactions + 1 WHERE part = %s",
        [len(live), body_terms, header_terms, len(live), part],
    )

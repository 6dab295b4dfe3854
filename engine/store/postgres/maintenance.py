"""What a namespace gets when it has grown: a graph over its vectors, and postings in few rows."""

from __future__ import annotations

import numpy as np

from engine.settings import VectorSettings
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.postings import RECORD
from engine.store.postgres.writing import read_state

DEAD_SHARE = 0.2
"""Share of removed passages in the postings from which on they are compacted; until then they count in BM25."""
MANY_WRITES, MOST_WRITES, FRESH_SHARE = 32, 1_000, 0.1
"""Every write adds a row to each of its terms. Postings are compacted after so many writes that brought this share of
the passages, and at the latest after the most: a compaction writes every posting of the namespace anew."""
_LOCK = 0x51554153
"""Of advisory locks with a part's number: one server at a time tidies it."""
_GRAPH = "passages_near_"
_WORN = (
    f"(indexed - passages > {DEAD_SHARE} * indexed OR writes > {MOST_WRITES} "
    f"OR (writes > {MANY_WRITES} AND indexed - compacted > {FRESH_SHARE} * indexed))"
)
"""SQL: the postings of a namespace are worn."""


def maintain(pool: Pool, namespace: int, settings: VectorSettings) -> None:
    """Build the graph where it is due, and compact the postings where they are worn."""
    with pool.reading() as connection:
        state = read_state(connection, namespace)
        row = connection.execute(
            f"SELECT {_WORN} FROM quarry.namespaces WHERE namespace = %s".encode(),
            [namespace],
        ).fetchone()
        is_worn = bool(row and row[0])
    if state.passages > settings.graph_from and not state.has_graph:
        build_graph(pool, namespace, state.part, state.dimension, settings)
    if is_worn:
        pool.written(lambda connection: compact(connection, namespace))


def due(pool: Pool, settings: VectorSettings) -> list[int]:
    """Namespaces that `maintain` would do something for."""
    with pool.reading() as connection:
        rows = connection.execute(
            (
                "SELECT namespace FROM quarry.namespaces WHERE name IS NOT NULL "
                f"AND ((passages > %s AND NOT has_graph) OR {_WORN})"
            ).encode(),
            [settings.graph_from],
        ).fetchall()
    return [namespace for (namespace,) in rows]


def build_graph(pool: Pool, namespace: int, part: int, dimension: int, settings: VectorSettings) -> None:
    """Build the part's own HNSW index while reads and writes go on; where another server does, wait for it."""
    index = f"{_GRAPH}{int(part)}"
    with pool.apart() as connection:
        try:
            connection.execute("SET statement_timeout = 0")
            connection.execute("SELECT pg_advisory_lock(%s, %s)", [_LOCK, part % 2**31])
            row = connection.execute("SELECT has_graph FROM quarry.namespaces WHERE part = %s", [part]).fetchone()
            if row != (False,):
                return
            # One that a crash left half built is never used, and is in the way.
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS quarry.{index}".encode())
            statement = (
                f"CREATE INDEX CONCURRENTLY {index} ON quarry.passages "
                f"USING hnsw ((embedding::halfvec({int(dimension)})) halfvec_ip_ops) "
                f"WITH (m = {settings.m}, ef_construction = {settings.ef_construction}) WHERE part = {int(part)}"
            )
            connection.execute(statement.encode())
            # A large upload was just written; what the planner believes of the tables is from before.
            connection.execute("ANALYZE quarry.documents, quarry.passages, quarry.postings")
            connection.execute(
                "UPDATE quarry.namespaces SET has_graph = true WHERE namespace = %s AND part = %s", [namespace, part]
            )
        finally:
            # Its settings and its lock go with it.
            connection.close()


def drop_graph(pool: Pool, part: int) -> None:
    """Take a part's own index away."""
    with pool.apart() as connection:
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS quarry.{_GRAPH}{int(part)}".encode())


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
        graphs = connection.execute(
            "SELECT substring(indexname FROM %s)::int8 FROM pg_indexes WHERE schemaname = 'quarry' "
            "AND indexname LIKE %s EXCEPT SELECT part FROM quarry.namespaces",
            [len(_GRAPH) + 1, f"{_GRAPH}%"],
        ).fetchall()
    for number in forgotten:
        remove(pool, number)
    for (part,) in graphs:
        drop_graph(pool, part)
    return len(forgotten) + len(graphs)


def remove(pool: Pool, namespace: int) -> None:
    """Remove a namespace that nobody can find any more."""

    def work(connection: Connection) -> int | None:
        row = connection.execute(
            "DELETE FROM quarry.namespaces WHERE namespace = %s RETURNING part, has_graph", [namespace]
        ).fetchone()
        if row is None:
            return None
        clear_part(connection, row[0])
        return int(row[0]) if row[1] else None

    part = pool.written(work)
    if part is not None:
        drop_graph(pool, part)


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
    fresh: list[tuple[str, int, int, bytes]] = []
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
        fresh.append((term, int(at[0]), len(kept), kept.tobytes()))
    connection.execute("DELETE FROM quarry.postings WHERE part = %s", [part])
    with connection.cursor().copy(
        "COPY quarry.postings (part, term, first_label, passages, postings) FROM STDIN"
    ) as copy:
        for row in fresh:
            copy.write_row((part, *row))
    connection.execute(
        "UPDATE quarry.namespaces SET indexed = %s, body_terms = %s, header_terms = %s, writes = 0, compacted = %s "
        "WHERE part = %s",
        [len(live), body_terms, header_terms, len(live), part],
    )

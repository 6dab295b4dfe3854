"""Graphs over vectors: an HNSW index of its own for each large namespace, over the passages below a label.

An insertion into such an index takes a millisecond and more, so that an upload of thousands would take minutes. The
index of a namespace therefore never grows: passages that came after it are scanned, and once they are many, a larger
index is built beside reads and writes and takes its place.
"""

from __future__ import annotations

import time

from engine.settings import VectorSettings
from engine.store.postgres.connection import Connection, Pool

GROWTH = 0.15
"""Share of passages after a graph from which on a larger one is due. Smaller scans less and builds more often."""
_LOCK = 0x51554153
"""Of advisory locks with a part's number: one server at a time builds for it."""
POLL_S = 0.5
MOST_MEMORY_KB = 2**20
"""That a build asks of the database beyond its `maintenance_work_mem`: a graph that does not fit takes many times as
long."""
_MEMORY = (
    "SELECT set_config('maintenance_work_mem', greatest(setting::int8, least(%s, %s)) || 'kB', false) "
    "FROM pg_settings WHERE name = 'maintenance_work_mem'"
)
_GRAPH = "passages_near_"
DUE = f"(passages > %(graph_from)s AND next_label - graph_upto > greatest(%(graph_from)s, {GROWTH} * graph_upto))"
"""SQL: a namespace is to get a graph, or a larger one."""


def build_graph(pool: Pool, namespace: int, part: int, dimension: int, settings: VectorSettings) -> None:
    """Build the part's next graph while reads and writes go on; where another server does, wait for it."""
    with pool.apart() as connection:
        try:
            connection.execute(
                "SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)"
            )
            _lock(connection, part)
            row = connection.execute(
                f"SELECT next_label FROM quarry.namespaces WHERE part = %(part)s AND {DUE}".encode(),
                {"part": part, "graph_from": settings.graph_from},
            ).fetchone()
            if row is None:
                return
            upto = int(row[0])
            index = f"{_GRAPH}{part}_{upto}"
            # One that a crash left half built is never used, and is in the way.
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS quarry.{index}".encode())
            statement = (
                f"CREATE INDEX CONCURRENTLY {index} ON quarry.passages "
                f"USING hnsw ((embedding::halfvec({int(dimension)})) halfvec_ip_ops) "
                f"WITH (m = {settings.m}, ef_construction = {settings.ef_construction}) "
                f"WHERE part = {part} AND label < {upto}"
            )
            connection.execute(_MEMORY, [(2 * dimension + 60 * settings.m + 300) * upto // 1024, MOST_MEMORY_KB])
            connection.execute(statement.encode())
            # A large upload was just written; what the planner believes of the tables is from before.
            connection.execute("ANALYZE quarry.documents, quarry.passages, quarry.postings")
            connection.execute(
                "UPDATE quarry.namespaces SET graph_upto = %s WHERE namespace = %s AND part = %s",
                [upto, namespace, part],
            )
            _drop(connection, [name for name in _graphs_of(connection, part) if name != index])
        finally:
            # Its settings and its lock go with it.
            connection.close()


def _lock(connection: Connection, part: int) -> None:
    # Waiting within a statement would keep a snapshot, for whose end the build of the other server waits.
    statement = "SELECT pg_try_advisory_lock(%s, %s)"
    while connection.execute(statement, [_LOCK, part % 2**31]).fetchone() != (True,):
        time.sleep(POLL_S)


def drop_graphs(pool: Pool, part: int) -> None:
    """Take a part's graphs away."""
    with pool.apart() as connection:
        _drop(connection, _graphs_of(connection, part))


def stray_parts(connection: Connection) -> list[int]:
    """Parts that no namespace has any more, but a graph."""
    held = {part for (part,) in connection.execute("SELECT part FROM quarry.namespaces")}
    return sorted({_part(name) for name in _graphs(connection)} - held)


def _graphs_of(connection: Connection, part: int) -> list[str]:
    return [name for name in _graphs(connection) if _part(name) == part]


def _graphs(connection: Connection) -> list[str]:
    rows = connection.execute(
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'quarry' AND starts_with(indexname, %s)", [_GRAPH]
    )
    return [name for (name,) in rows]


def _part(index: str) -> int:
    return int(index.removeprefix(_GRAPH).partition("_")[0])


def _drop(connection: Connection, indexes: list[str]) -> None:
    for index in indexes:
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS quarry.{index}".encode())

"""The vector leg: a graph in the database for most of a large namespace, and a scan for the rest.

What is scanned is remembered by this process: the database takes a microsecond a passage, a product of arrays a
thirtieth of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pgvector import HalfVector, Vector

from engine.backend.recent import Recent
from engine.model.hits import Labels, Vectors
from engine.settings import VectorSettings
from engine.store.postgres.connection import EF_SEARCH, Connection
from engine.store.postgres.postings import Found
from engine.store.postgres.writing import State

MOST_EF_SEARCH = 1000
"""What pgvector accepts."""
MOST_BYTES = 96 * 2**20
"""Of one server process; 10,000 passages of 256 dimensions take 10."""
MOST_STREAMED = 4_000
"""Rows of a graph that are read to be filtered here; for rarer ones the database looks at the allowed rows alone."""


class _Rows(NamedTuple):
    """Vectors of consecutive passages: labels from `since` on and below `upto`, removed ones included."""

    since: int
    upto: int
    labels: Labels
    vectors: Vectors


class VectorMemory:
    """Vectors of passages that no graph holds. Thread-safe."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: Recent[_Rows] = Recent(most_bytes, largest=0.5)

    def rows(self, connection: Connection, state: State) -> tuple[Labels, Vectors] | None:
        """Labels and vectors of the passages that are not in the graph; None where they are too many.

        Some may have been removed. The caller has read `state` in the same snapshot.
        """
        since, upto, width = state.graph_upto, state.next_label, state.dimension
        if 4 * width * min(state.passages, upto - since) > self._most / 2:
            return None
        key = f"{width}"
        held = self._held.take(state.part, [key]).get(key)
        if held is None or held.since > since or len(held.labels) > 2 * state.passages:
            held = _Rows(since, since, np.empty(0, np.int64), np.empty((0, width), np.float32))
        if held.upto < upto:
            labels, vectors = _read(connection, state.part, width, max(held.upto, since), upto)
            held = _Rows(
                held.since, upto, np.concatenate([held.labels, labels]), np.concatenate([held.vectors, vectors])
            )
        begin, end = np.searchsorted(held.labels, [since, upto]).tolist()
        labels, vectors = held.labels[begin:end], held.vectors[begin:end]
        if held.since < since:
            held = _Rows(since, held.upto, held.labels[begin:].copy(), held.vectors[begin:].copy())
        self._held.keep(state.part, [(key, held, held.labels.nbytes + held.vectors.nbytes)])
        return labels, vectors


def _read(connection: Connection, part: int, width: int, since: int, upto: int) -> tuple[Labels, Vectors]:
    row = connection.execute(
        "SELECT string_agg(int8send(label), ''::bytea ORDER BY label), "
        "string_agg(halfvec_send(embedding), ''::bytea ORDER BY label) "
        "FROM quarry.passages WHERE part = %s AND label >= %s AND label < %s",
        [part, since, upto],
        binary=True,
    ).fetchone()
    labels, vectors = row if row is not None and row[0] is not None else (b"", b"")
    # Each vector begins with its width and an unused field, of two bytes each.
    halves = np.frombuffer(vectors, ">f2").reshape(-1, width + 2)[:, 2:]
    return np.frombuffer(labels, ">i8").astype(np.int64), halves.astype(np.float32)


def nearest(
    connection: Connection,
    state: State,
    query: Vectors,
    k: int,
    allowed: Labels | None,
    settings: VectorSettings,
    memory: VectorMemory,
) -> Found:
    """At least the nearest `k` passages, unless there are fewer, in any order; some may have been removed."""
    if state.graph_upto and allowed is not None and len(allowed) <= settings.exact_limit:
        return _exact(connection, state, query, k, allowed)
    rows = memory.rows(connection, state)
    if rows is None:
        after = (state.graph_upto, state.next_label)
        found = [_exact(connection, state, query, k, allowed, between=after)]
    else:
        labels, vectors = rows
        if allowed is not None:
            keep = np.isin(labels, allowed, assume_unique=True)
            labels, vectors = labels[keep], vectors[keep]
        found = [(labels, np.clip(vectors @ query, -1.0, 1.0))]
    if state.graph_upto:
        found.append(_graph(connection, state, query, k, allowed, settings))
    return np.concatenate([labels for labels, _ in found]), np.concatenate([scores for _, scores in found])


def _exact(
    connection: Connection,
    state: State,
    query: Vectors,
    k: int,
    allowed: Labels | None,
    *,
    between: tuple[int, int] | None = None,
) -> Found:
    """By the database, which looks at every row. Half precision takes a third of the time; the best are then exact."""
    width = int(state.dimension)
    source, params = "part = %s", list[object]([state.part])
    if between is not None:
        source, params = f"{source} AND label >= %s AND label < %s", [*params, *between]
    if allowed is not None:
        source, params = f"{source} AND label = ANY(%s)", [*params, allowed.tolist()]
    statement = (
        f"SELECT label, embedding::vector({width}) <#> %s::vector({width}) FROM "
        f"(SELECT label, embedding FROM quarry.passages WHERE {source} ORDER BY embedding <#> %s LIMIT %s) AS found"
    )
    asked = [Vector(query), *params, HalfVector(query), 2 * k]
    return _found(connection.execute(statement.encode(), asked, binary=True).fetchall())


def _graph(
    connection: Connection, state: State, query: Vectors, k: int, allowed: Labels | None, settings: VectorSettings
) -> Found:
    """The nearest by the graph. It is read further until enough of `allowed` came by; rare ones are looked up."""
    held = allowed if allowed is None else allowed[: int(np.searchsorted(allowed, state.graph_upto))]
    if held is None:
        return _stream(connection, state, query, k, settings)
    wanted = min(k, len(held))
    asked = int(1.5 * k * state.graph_upto / max(len(held), 1)) + 32
    while wanted and asked <= MOST_STREAMED:
        labels, scores = _stream(connection, state, query, asked, settings)
        keep = np.isin(labels, held)
        if np.count_nonzero(keep) >= wanted:
            return labels[keep], scores[keep]
        asked *= 4
    return _exact(connection, state, query, k, held)


def _stream(connection: Connection, state: State, query: Vectors, k: int, settings: VectorSettings) -> Found:
    width = int(state.dimension)
    breadth = min(settings.ef_search + k, MOST_EF_SEARCH)
    if breadth != EF_SEARCH:
        connection.execute(f"SET LOCAL hnsw.ef_search = {breadth}".encode())
    # Numbers stand in the text: a plan over the part's own partial index is found only by constants.
    nearest = (
        f"SELECT label, embedding FROM quarry.passages WHERE part = {int(state.part)} AND "
        f"label < {int(state.graph_upto)} ORDER BY embedding::halfvec({width}) <#> %s LIMIT %s"
    )
    statement = f"SELECT label, embedding::vector({width}) <#> %s::vector({width}) FROM ({nearest}) AS found"
    rows = connection.execute(statement.encode(), [Vector(query), HalfVector(query), k], binary=True).fetchall()
    if breadth != EF_SEARCH:
        connection.execute(f"SET LOCAL hnsw.ef_search = {EF_SEARCH}".encode())
    return _found(rows)


def _found(rows: Sequence[tuple[int, float]]) -> Found:
    labels = np.fromiter((label for label, _ in rows), np.int64, len(rows))
    scores = np.fromiter((-distance for _, distance in rows), np.float32, len(rows))
    return labels, np.clip(scores, -1.0, 1.0)

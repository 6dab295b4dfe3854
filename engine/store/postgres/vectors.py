"""The vector leg: a graph in the database for most of a large namespace, and a scan for the rest.

What is scanned is remembered by this process: the database takes a microsecond a passage, a product of arrays a
thirtieth of that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from pgvector import HalfVector, Vector

from engine.backend.recent import Recent
from engine.model.hits import Labels, Vectors
from engine.settings import VectorSettings
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.postings import Found
from engine.store.postgres.remembered import StateGone
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

    def rows(self, pool: Pool, state: State) -> tuple[Labels, Vectors] | None:
        """Labels and vectors of the passages that are not in the graph; None where they are too many.

        Some may have been removed.

        Raises:
            StateGone: what is not remembered can no longer be read.
        """
        since, upto, width = state.graph_upto, state.next_label, state.dimension
        if 4 * width * min(state.passages, upto - since) > self._most / 2:
            return None
        key = f"{width}"
        held = self._held.take(state.part, [key]).get(key)
        if held is None or held.since > since or len(held.labels) > 2 * state.passages:
            held = _Rows(since, since, np.empty(0, np.int64), np.empty((0, width), np.float32))
        if held.upto < upto:
            begin = max(held.upto, since)
            labels, vectors = pool.read(lambda connection: _read(connection, state.part, width, begin, upto))
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
        "string_agg(halfvec_send(embedding), ''::bytea ORDER BY label), "
        "(SELECT part FROM quarry.namespaces n WHERE n.part = %s) "
        "FROM quarry.passages WHERE part = %s AND label >= %s AND label < %s",
        [part, part, since, upto],
        binary=True,
    ).fetchone()
    labels, vectors, is_there = row or (None, None, None)
    if is_there is None:
        raise StateGone
    # Each vector begins with its width and an unused field, of two bytes each.
    halves = np.frombuffer(vectors or b"", ">f2").reshape(-1, width + 2)[:, 2:]
    return np.frombuffer(labels or b"", ">i8").astype(np.int64), halves.astype(np.float32)


class VectorLeg(NamedTuple):
    """The nearest `k` of those passages of a namespace that are `allowed`; None allows all.

    Attributes:
        from_graph: what `graph_statement` gave, where it was asked already.
    """

    pool: Pool
    state: State
    settings: VectorSettings
    memory: VectorMemory
    query: Vectors
    k: int
    allowed: Labels | None
    from_graph: Found | None = None

    def found(self) -> Found:
        """At least `k` passages, unless there are fewer, in any order; some may have been removed."""
        state, allowed = self.state, self.allowed
        if state.graph_upto and allowed is not None and len(allowed) <= self.settings.exact_limit:
            return self._exact(allowed)
        rows = self.memory.rows(self.pool, state)
        if rows is None:
            parts = [self._exact(allowed, between=(state.graph_upto, state.next_label))]
        else:
            labels, vectors = rows
            if allowed is not None:
                keep = np.isin(labels, allowed, assume_unique=True)
                labels, vectors = labels[keep], vectors[keep]
            # Not `@`, whose threads wait for one another on a busy machine; see engine/vector/exact.py.
            parts = [(labels, np.clip(np.vecdot(vectors, self.query), -1.0, 1.0))]
        if state.graph_upto:
            parts.append(self._graph())
        return np.concatenate([labels for labels, _ in parts]), np.concatenate([scores for _, scores in parts])

    def _graph(self) -> Found:
        """The nearest by the graph, read further until enough of `allowed` came by; rare ones are looked up."""
        if self.from_graph is not None:
            return self.from_graph
        if self.allowed is None:
            return self._streamed(self.k)
        held = self.allowed[: int(np.searchsorted(self.allowed, self.state.graph_upto))]
        wanted = min(self.k, len(held))
        asked = int(1.5 * self.k * self.state.graph_upto / max(len(held), 1)) + 32
        while wanted and asked <= MOST_STREAMED:
            labels, scores = self._streamed(asked)
            keep = np.isin(labels, held)
            if np.count_nonzero(keep) >= wanted:
                return labels[keep], scores[keep]
            asked *= 4
        return self._exact(held)

    def _streamed(self, k: int) -> Found:
        statement, params = graph_statement(self.state, self.query, k)
        breadth = min(self.settings.ef_search + k, MOST_EF_SEARCH)
        with self.pool.snapshot() as connection:
            connection.execute(f"SET LOCAL hnsw.ef_search = {breadth}".encode())
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            row = connection.execute(f"SELECT {statement}".encode(), params, binary=True).fetchone()
        return unpacked(None if row is None else row[0])

    def _exact(self, allowed: Labels | None, *, between: tuple[int, int] | None = None) -> Found:
        """By the database, which looks at every row. Half precision takes a third of the time; the best are exact."""
        width = int(self.state.dimension)
        source, params = "part = %s", list[object]([self.state.part])
        if between is not None:
            source, params = f"{source} AND label >= %s AND label < %s", [*params, *between]
        if allowed is not None:
            source, params = f"{source} AND label = ANY(%s)", [*params, allowed.tolist()]
        near = f"SELECT label, embedding FROM quarry.passages WHERE {source} ORDER BY embedding <#> %s LIMIT %s"
        statement = f"SELECT {_packed(near, width)}".encode()
        asked = [Vector(self.query), *params, HalfVector(self.query), 2 * self.k]
        row = self.pool.read(lambda connection: connection.execute(statement, asked, binary=True).fetchone())
        return unpacked(None if row is None else row[0])


def graph_statement(state: State, query: Vectors, k: int) -> tuple[str, list[object]]:
    """An expression of SQL for the nearest `k` in the graph, for `unpacked`, and its parameters."""
    width = int(state.dimension)
    # Numbers stand in the text: a plan over the part's own partial index is found only by constants.
    near = (
        f"SELECT label, embedding FROM quarry.passages WHERE part = {int(state.part)} AND "
        f"label < {int(state.graph_upto)} ORDER BY embedding::halfvec({width}) <#> %s LIMIT %s"
    )
    return _packed(near, width), [Vector(query), HalfVector(query), k]


def _packed(near: str, width: int) -> str:
    """Labels and distances of the rows of `near` as one value: as rows they take a multiple of the time to be read."""
    record = f"int8send(label) || float8send(embedding::vector({width}) <#> %s::vector({width}))"
    return f"(SELECT string_agg({record}, ''::bytea) FROM ({near}) AS found)"


def unpacked(packed: bytes | None) -> Found:
    """Labels and cosines."""
    records = np.frombuffer(packed or b"", [("label", ">i8"), ("distance", ">f8")])
    return records["label"].astype(np.int64), np.clip(-records["distance"], -1.0, 1.0).astype(np.float32)

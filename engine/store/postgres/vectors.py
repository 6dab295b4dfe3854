"""The vector leg: a graph in the database for most of a large namespace, and a scan for the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from pgvector import HalfVector, Vector

from engine.model.hits import Labels, Scores, Vectors
from engine.settings import VectorSettings
from engine.store.postgres.connection import Pool
from engine.store.postgres.postings import Found
from engine.store.postgres.text import array_of
from engine.store.postgres.vector_memory import VectorMemory
from engine.store.postgres.writing import State

MOST_EF_SEARCH = 1000
"""What pgvector accepts."""
MOST_STREAMED = 4_000
"""Rows of a graph that are read to be filtered here; for rarer ones the database looks at the allowed rows alone."""
COMPARED_FOR_STREAMED = 20
"""Allowed rows that the database compares in the time of reading one more of a graph: 11,000 take it 15 ms, 1,500 of a
graph 46 and 500 of them 15 (processor time, 100,000 passages of 256 dimensions)."""


class VectorLeg(NamedTuple):
    """The nearest `k` of those passages of a namespace that are `allowed`; None allows all.

    Attributes:
        where: tells the filter that allows them from others; empty without one.
        from_graph: what `graph_statement` gave, where it was asked already.
    """

    pool: Pool
    state: State
    settings: VectorSettings
    memory: VectorMemory
    query: Vectors
    k: int
    allowed: Labels | None
    where: str = ""
    from_graph: Found | None = None

    def found(self) -> Found:
        """At least `k` passages, unless there are fewer, in any order; some may have been removed."""
        state, allowed = self.state, self.allowed
        if state.graph_upto and allowed is not None:
            most = max(self.settings.exact_limit, COMPARED_FOR_STREAMED * self._to_stream(len(allowed)))
            if len(allowed) <= most:
                vectors = self.memory.allowed(self.pool, state, self.where, allowed)
                return self._exact(allowed) if vectors is None else (allowed, self._cosines(vectors))
        rows = self.memory.rows(self.pool, state)
        if rows is None:
            parts = [self._exact(allowed, between=(state.graph_upto, state.next_label))]
        else:
            labels, vectors = rows
            if allowed is not None:
                keep = np.isin(labels, allowed, assume_unique=True)
                labels, vectors = labels[keep], vectors[keep]
            parts = [(labels, self._cosines(vectors))]
        if state.graph_upto:
            parts.append(self._graph())
        return np.concatenate([labels for labels, _ in parts]), np.concatenate([scores for _, scores in parts])

    def _cosines(self, vectors: Vectors) -> Scores:
        # Not `@`, whose threads wait for one another on a busy machine; see engine/vector/exact.py.
        return np.clip(np.vecdot(vectors, self.query), -1.0, 1.0)

    def _graph(self) -> Found:
        """The nearest by the graph, read further until enough of `allowed` came by; rare ones are looked up."""
        if self.from_graph is not None:
            return self.from_graph
        if self.allowed is None:
            return self._streamed(self.k)
        held = self.allowed[: int(np.searchsorted(self.allowed, self.state.graph_upto))]
        wanted = min(self.k, len(held))
        asked = self._to_stream(len(held))
        while wanted and asked <= MOST_STREAMED:
            labels, scores = self._streamed(asked)
            keep = np.isin(labels, held)
            if np.count_nonzero(keep) >= wanted:
                return labels[keep], scores[keep]
            asked *= 4
        return self._exact(held)

    def _to_stream(self, allowed: int) -> int:
        """Rows of the graph among which `k` of so many allowed ones are expected."""
        return int(1.5 * self.k * self.state.graph_upto / max(allowed, 1)) + 32

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
            source, params = f"{source} AND label = ANY(%s::int8[])", [*params, array_of(allowed)]
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

"""Vectors that queries compared lately, remembered by this process: of passages without a graph, and of filters.

The database takes a microsecond and more to compare a passage, a product of arrays a thirtieth of that. A vector never
changes under its label, so only what is new is read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.backend.recent import Recent
from engine.model.hits import Labels, Vectors
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.posting_memory import StateGone
from engine.store.postgres.text import array_of
from engine.store.postgres.writing import State

MOST_BYTES = 96 * 2**20
"""Of one server process; 10,000 passages of 256 dimensions take 10."""


class _Rows(NamedTuple):
    """Vectors of passages by label. Consecutive ones, removed ones included, have labels from `since` to `upto`."""

    since: int
    upto: int
    labels: Labels
    vectors: Vectors


class VectorMemory:
    """Vectors of passages that no graph holds, and of those that filters allow. Thread-safe."""

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
            between = "label >= %s AND label < %s"
            labels, vectors = pool.read(lambda connection: _read(connection, state.part, width, between, [begin, upto]))
            held = _Rows(
                held.since, upto, np.concatenate([held.labels, labels]), np.concatenate([held.vectors, vectors])
            )
        begin, end = np.searchsorted(held.labels, [since, upto]).tolist()
        labels, vectors = held.labels[begin:end], held.vectors[begin:end]
        if held.since < since:
            held = _Rows(since, held.upto, held.labels[begin:].copy(), held.vectors[begin:].copy())
        self._held.keep(state.part, [(key, held, held.labels.nbytes + held.vectors.nbytes)])
        return labels, vectors

    def allowed(self, pool: Pool, state: State, where: str, allowed: Labels) -> Vectors | None:
        """Vectors of `allowed`, in that order; None the first time, as many filters are asked for once only.

        None, too, where they would take a quarter of the memory from what others need.

        Args:
            where: tells filters apart.
            allowed: live labels of the snapshot that this thread holds, strictly increasing.
        """
        width = state.dimension
        if 4 * width * len(allowed) > self._most / 4:
            return None
        key = f"{width} {where}"
        held = self._held.take(state.part, [key]).get(key)
        if held is None:
            self._held.keep(state.part, [(key, _nothing(width), len(key))])
            return None
        if not np.array_equal(held.labels, allowed):
            held = self._with(pool, state, held, allowed)
            self._held.keep(state.part, [(key, held, len(key) + held.labels.nbytes + held.vectors.nbytes)])
        return held.vectors

    @staticmethod
    def _with(pool: Pool, state: State, held: _Rows, allowed: Labels) -> _Rows:
        """Those of `allowed`: what is held, and what the database has of the rest."""
        width = state.dimension
        missing = np.setdiff1d(allowed, held.labels, assume_unique=True)
        labels, fresh = pool.read(
            lambda connection: _read(connection, state.part, width, "label = ANY(%s::int8[])", [array_of(missing)])
        )
        vectors = np.empty((len(allowed), width), np.float32)
        for have, found in ((held.labels, held.vectors), (labels, fresh)):
            _, here, there = np.intersect1d(allowed, have, assume_unique=True, return_indices=True)
            vectors[here] = found[there]
        return _Rows(0, 0, allowed, vectors)


def _nothing(width: int) -> _Rows:
    return _Rows(0, 0, np.empty(0, np.int64), np.empty((0, width), np.float32))


def _read(connection: Connection, part: int, width: int, which: str, params: list[object]) -> tuple[Labels, Vectors]:
    """Labels and vectors of the rows of a part that are `which`, by label."""
    row = connection.execute(
        (
            "SELECT string_agg(int8send(label), ''::bytea ORDER BY label), "
            "string_agg(halfvec_send(embedding), ''::bytea ORDER BY label), "
            "(SELECT part FROM quarry.namespaces n WHERE n.part = %s) "
            f"FROM quarry.passages WHERE part = %s AND {which}"
        ).encode(),
        [part, part, *params],
        binary=True,
    ).fetchone()
    labels, vectors, is_there = row or (None, None, None)
    if is_there is None:
        raise StateGone
    # Each vector begins with its width and an unused field, of two bytes each.
    halves = np.frombuffer(vectors or b"", ">f2").reshape(-1, width + 2)[:, 2:]
    return np.frombuffer(labels or b"", ">i8").astype(np.int64), halves.astype(np.float32)

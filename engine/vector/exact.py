"""Exact search by scanning rows: the oracle, the way for small sets, and for rows that no graph holds yet.

``np.vecdot`` rather than ``@``: as fast on one thread, and it starts none. A product on the threads of a BLAS takes
ten times as long as soon as another thread has work (100,000 x 256 beside a graph being built: 43 ms against 8 ms).
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import cast

import numpy as np

from engine.model.hits import Candidates, Labels, Scores, Vectors, top_k
from engine.vector.table import BLOCK_ROWS, Rows, RowView, check_query

GATHERED_ROWS = 512
"""Rows copied together at a time: half a megabyte of 256 dimensions stays in the cache for the product."""
DENSE_SHARE = 0.2
"""From this share of a stretch of rows on, all of it is scanned instead of gathering the wanted ones.

Reading in order costs 0.03 µs a row on a free machine and a busy one; gathering 0.09 µs and 0.2 µs.
"""
SHARED_ROWS = 40_000
"""From here on two threads share a scan; for fewer rows waiting for the second costs more on a busy machine."""

_scratch = threading.local()


def similarities(view: RowView, query: Vectors, rows: Rows) -> Scores:
    """Dot product of `query` with each of `rows` (ascending), shape ``(len(rows),)``."""
    scores = np.empty(len(rows), np.float32)
    parts = view.by_block(rows)
    if len(rows) < SHARED_ROWS or len(parts) < 2:
        _score(view, query, rows, parts, scores)
    else:
        # Memory is the limit, and one thread alone does not reach it: a BLAS takes 3.3 ms for 100,000 x 256 on one
        # thread, 2.0 ms on two.
        middle = len(parts) // 2
        other = _pool().submit(_score, view, query, rows, parts[middle:], scores)
        _score(view, query, rows, parts[:middle], scores)
        other.result()
    return scores


def _score(view: RowView, query: Vectors, rows: Rows, parts: list[tuple[int, int, int]], scores: Scores) -> None:
    for block, begin, end in parts:
        local = rows[begin:end] - block * BLOCK_ROWS
        first, last = int(local[0]), int(local[-1]) + 1
        if len(local) >= DENSE_SHARE * (last - first):
            dense = np.vecdot(view.blocks[block][first:last], query)
            scores[begin:end] = dense if len(local) == last - first else dense[local - first]
        else:
            _gather(view.blocks[block], query, local, scores[begin:end])


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="vector scan")


def scan(view: RowView, query: Vectors, k: int, rows: Rows | None = None) -> Candidates:
    """The best `k` of the live `rows` (ascending; all live ones, if None)."""
    if rows is None:
        rows = np.arange(len(view)) if view.live == len(view) else np.flatnonzero(view.alive)
    return top_k(view.labels[rows], bounded(similarities(view, query, rows)), k)


def bounded(scores: Scores) -> Scores:
    """Scores in [-1, 1], in place: rounding may pass the ends by a few 1e-7."""
    return np.clip(scores, -1.0, 1.0, out=scores)


class ExactReader:
    """`VectorReader` that scans every allowed row."""

    def __init__(self, view: RowView) -> None:
        self._view = view

    @property
    def dimension(self) -> int:
        return self._view.dimension

    def __len__(self) -> int:
        return self._view.live

    def search(self, query: Vectors, k: int, *, allowed: Labels | None = None) -> Candidates:
        check_query(query, self.dimension)
        return scan(self._view, query, k, None if allowed is None else self._view.allowed_rows(allowed))

    def scores(self, query: Vectors, labels: Labels) -> Scores:
        return scores_of(self._view, query, labels)


def scores_of(view: RowView, query: Vectors, labels: Labels) -> Scores:
    """Similarity of each label, in the order given; -1.0 for a label without a live row."""
    check_query(query, view.dimension)
    rows, position = np.unique(view.rows_of(labels), return_inverse=True)
    scores = np.full(len(rows), -1.0, np.float32)
    known = rows >= 0
    scores[known] = bounded(similarities(view, query, rows[known]))
    return scores[position]


def _gather(block: Vectors, query: Vectors, local: Rows, scores: Scores) -> None:
    buffer = _buffer(block.shape[1])
    for start in range(0, len(local), GATHERED_ROWS):
        part = local[start : start + GATHERED_ROWS]
        # `clip` lets take write into the buffer directly; the rows are in range.
        gathered = np.take(block, part, axis=0, out=buffer[: len(part)], mode="clip")
        np.vecdot(gathered, query, out=scores[start : start + len(part)])


def _buffer(dimension: int) -> Vectors:
    """A buffer of this thread: a new one each time would be paged in anew."""
    kept = cast("Vectors | None", getattr(_scratch, "rows", None))
    if kept is None or kept.shape[1] != dimension:
        kept = np.empty((GATHERED_ROWS, dimension), np.float32)
        _scratch.rows = kept
    return kept

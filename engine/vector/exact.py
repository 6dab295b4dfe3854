"""Exact search by scanning rows: the oracle, the way for small sets, and for rows that no graph holds yet.

``np.vecdot`` rather than ``@``: as fast on one thread, and it starts none. A product on the threads of a BLAS takes
ten times as long as soon as another thread has work (100,000 x 256 beside a graph being built: 43 ms against 8 ms).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from engine.model.hits import Candidates, Labels, Scores, Vectors, top_k
from engine.vector.table import BLOCK_ROWS, Rows, RowView, check_query

DENSE_SHARE = 0.2
"""From this share of a stretch of rows on, all of it is scanned instead of gathering the wanted ones.

Chosen with rows of float32, of which reading in order cost 0.03 µs and gathering 0.09 µs (0.2 µs on a busy machine).
"""
CERTAIN = 6.0
"""A row may rank higher than its coarse similarity says by this many standard deviations of its error, no more."""
MOST_REFINED = 4096
"""Rows of nearly equal similarity that are told apart by their fine codes, at most, beyond twice the `k` wanted."""
SHARED_ROWS = 40_000
"""From here on two threads share a scan; for fewer rows waiting for the second costs more on a busy machine."""


def similarities(view: RowView, query: Vectors, rows: Rows) -> Scores:
    """Dot product of `query` with each of `rows` (ascending), shape ``(len(rows),)``."""
    scores = coarse_similarities(view, query, rows)
    _refine(view, query, rows, scores)
    return scores


def coarse_similarities(view: RowView, query: Vectors, rows: Rows) -> Scores:
    """`similarities` by the coarse codes alone; `RowView.coarse_error` says how near they are."""
    scores = np.empty(len(rows), np.float32)
    parts = view.by_block(rows)
    if len(rows) < SHARED_ROWS or len(parts) < 2:
        _score(view, query, rows, parts, scores)
    else:
        middle = len(parts) // 2
        other = _pool().submit(_score, view, query, rows, parts[middle:], scores)
        _score(view, query, rows, parts[:middle], scores)
        other.result()
    return scores


def _score(view: RowView, query: Vectors, rows: Rows, parts: list[tuple[int, int, int]], scores: Scores) -> None:
    for block, begin, end in parts:
        local = rows[begin:end] - block * BLOCK_ROWS
        first, last = int(local[0]), int(local[-1]) + 1
        codes = view.blocks[block]
        if len(local) == last - first:
            codes.coarse_scores(query, slice(first, last), scores[begin:end])
        elif len(local) >= DENSE_SHARE * (last - first):
            dense = np.empty(last - first, np.float32)
            codes.coarse_scores(query, slice(first, last), dense)
            scores[begin:end] = dense[local - first]
        else:
            codes.coarse_scores(query, local, scores[begin:end])


def _refine(view: RowView, query: Vectors, rows: Rows, scores: Scores) -> None:
    for block, begin, end in view.by_block(rows):
        view.blocks[block].add_fine_scores(query, rows[begin:end] - block * BLOCK_ROWS, scores[begin:end])


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="vector scan")


def scan(view: RowView, query: Vectors, k: int, rows: Rows | None = None) -> Candidates:
    """The best `k` of the live `rows` (ascending; all live ones, if None).

    The coarse codes of all rows choose those whose fine codes are read: all that may belong to the best `k`.
    """
    if rows is None:
        rows = np.arange(len(view)) if view.live == len(view) else np.flatnonzero(view.alive)
    scores = coarse_similarities(view, query, rows)
    if 0 < k < len(rows):
        last = np.partition(scores, len(rows) - k)[len(rows) - k]
        near = np.flatnonzero(scores >= last - 2 * CERTAIN * view.coarse_error)
        if len(near) > 2 * k + MOST_REFINED:
            best = np.argpartition(scores, len(rows) - 2 * k - MOST_REFINED)[len(rows) - 2 * k - MOST_REFINED :]
            near = np.sort(best)
        rows, scores = rows[near], scores[near]
    _refine(view, query, rows, scores)
    return top_k(view.labels[rows], bounded(scores), k)


def bounded(scores: Scores) -> Scores:
    """Scores in [-1, 1], in place: rounding may pass the ends by a few 1e-7."""
    return np.clip(scores, -1.0, 1.0, out=scores)


class ExactReader:
    """`VectorReader` that computes every similarity in full: the slow twin of `scan`."""

    def __init__(self, view: RowView) -> None:
        self._view = view

    @property
    def dimension(self) -> int:
        return self._view.dimension

    def __len__(self) -> int:
        return self._view.live

    def search(self, query: Vectors, k: int, *, allowed: Labels | None = None) -> Candidates:
        check_query(query, self.dimension)
        view = self._view
        rows = np.flatnonzero(view.alive) if allowed is None else view.allowed_rows(allowed)
        return top_k(view.labels[rows], bounded(similarities(view, query, rows)), k)

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

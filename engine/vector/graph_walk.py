"""One query through the graph, merged with the rows that the graph does not hold.

Under a filter the graph is asked for more rows than needed and the others are dropped. How many more follows from a
first, narrow look: the share of allowed rows near the query, which for a filter that goes with the topic is nothing
like their share of all rows. Where that costs more than a scan, or finds too little, there is no answer from here and
the caller scans: so a filter far from the query costs time, never recall.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.model.hits import Candidates, Scores, Vectors, top_k
from engine.vector.epoch import Epoch
from engine.vector.exact import DENSE_SHARE, bounded, similarities
from engine.vector.hnsw import HnswGraph
from engine.vector.table import Mask, Rows, RowView

ROWS_A_STEP = 20.0
"""A graph query of breadth b costs about as much as gathering and scanning ``20 * b`` rows.

Measured at 100,000 x 256 (``benchmarks/vector_speed.py``): 1.7 µs a step of breadth, 0.085 µs a gathered row.
"""
BREADTH = 2.0
BREADTH_A_RANK = 6.0
"""Breadth ``2 * ef_search + 6 * rank`` brings up the true rows down to `rank` with recall .99 (same source)."""
EF_ROWS = 100_000
EF_GROWTH = 0.5
"""`ef_search` is meant for so many rows, and grows with this power of them beyond. In a graph over a million rows in
400 clusters (``benchmarks/peers``) a breadth of 410 finds .950 of the ten nearest, 600 finds .974, 1,300 no more than
.981."""
SURE = 10
"""Of the rows that are wanted, so many are found nearly all; `ef_search` is chosen for them."""
_SLACK = 2.0
"""How far beyond the planned rank the k-th allowed row may stand; chance moves it by a third at k = 10."""


def breadth_at(ef_search: int, rows: int) -> int:
    """Breadth of a query without a filter in a graph of `rows`: more rows need a broader one for the same recall.

    >>> breadth_at(200, 20_000), breadth_at(200, 1_000_000)
    (200, 632)
    """
    return int(ef_search * max(1.0, rows / EF_ROWS) ** EF_GROWTH)


@dataclass
class GraphWalk:
    """A query over the rows of one view.

    Attributes:
        built: rows ``[0, built)`` are in the graph, the others wait for it.
        rows: allowed live rows, ascending; None for all.
        fetched: rows that the graph has brought up so far.
        scanned: rows whose similarity was computed one by one.
    """

    epoch: Epoch
    view: RowView
    graph: HnswGraph
    built: int
    ef_search: int
    query: Vectors
    k: int
    rows: Rows | None
    fetched: int = field(default=0, init=False)
    scanned: int = field(default=0, init=False)

    def run(self) -> Candidates | None:
        """The best `k`; None when a scan of all allowed rows is the better way."""
        waiting = self._waiting_rows()
        in_graph = (self.view.live if self.rows is None else len(self.rows)) - len(waiting)
        cost_of_scan = min(in_graph, DENSE_SHARE * self.built)
        found = self._unfiltered(cost_of_scan) if self.rows is None else self._filtered(cost_of_scan, in_graph)
        if found is None:
            return None
        rows, scores = found
        lost = self._lost_rows()
        if len(lost):
            outside = ~np.isin(rows, lost)
            rows, scores = rows[outside], scores[outside]
        if len(rows) < min(self.k, in_graph - len(lost)):
            return None
        exact = np.union1d(waiting, lost) if len(lost) else waiting
        self.scanned = len(exact)
        if len(exact):
            rows = np.concatenate((rows, exact))
            scores = np.concatenate((scores, bounded(similarities(self.view, self.query, exact))))
        return top_k(self.view.labels[rows], scores, self.k)

    def _unfiltered(self, cost_of_scan: float) -> tuple[Rows, Scores] | None:
        # The last of many candidates need not be found as surely as the ten that a query of vectors alone returns.
        breadth = max(breadth_at(self.ef_search, self.built) + min(self.k, SURE), 2 * self.k)
        return self._fetch(breadth) if breadth * ROWS_A_STEP < cost_of_scan else None

    def _filtered(self, cost_of_scan: float, in_graph: int) -> tuple[Rows, Scores] | None:
        look = max(breadth_at(self.ef_search, self.built) // 2, 1)
        expected_rank = self.k * self.built / max(in_graph, 1)
        if (look + self._breadth(expected_rank)) * ROWS_A_STEP >= cost_of_scan:
            return None
        near = self._fetch(look)
        if near is None:
            return None
        rank = self.k * look / max(len(near[0]), 0.5)
        breadth = self._breadth(rank)
        if (look + breadth) * ROWS_A_STEP >= cost_of_scan:
            return None
        wide = self._fetch(breadth, trusted=rank * _SLACK)
        return wide if wide is not None and len(wide[0]) >= self.k else None

    def _breadth(self, rank: float) -> int:
        return int(BREADTH * breadth_at(self.ef_search, self.built) + BREADTH_A_RANK * rank)

    def _fetch(self, breadth: int, *, trusted: float | None = None) -> tuple[Rows, Scores] | None:
        """Allowed rows among the nearest `breadth`, best first, with scores; of the first `trusted` only, if given."""
        nearest = self.graph.nearest(self.query, breadth)
        if nearest is None:
            return None
        self.fetched += len(nearest)
        stop = len(nearest) if trusted is None else int(trusted)
        rows, scores = self.view.rows_of(nearest.labels[:stop]), nearest.scores[:stop]
        # Rows that came into the graph since are scanned with those that wait.
        keep = self._allowed(rows) & (rows < self.built)
        return rows[keep], scores[keep]

    def _allowed(self, rows: Rows) -> Mask:
        if self.rows is None:
            return rows >= 0
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return self.rows[place] == rows

    def _waiting_rows(self) -> Rows:
        """Allowed rows that are not in the graph yet."""
        if self.rows is not None:
            return self.rows[np.searchsorted(self.rows, self.built) :]
        return self.built + np.flatnonzero(self.view.alive[self.built :])

    def _lost_rows(self) -> Rows:
        """Allowed rows that live in this view but were removed since, so that the graph may leave them out."""
        lost = self.epoch.lost_rows(self.view, self.built)
        if lost is None:
            return np.empty(0, np.int64)
        if self.rows is None:
            return np.flatnonzero(lost)
        in_graph = self.rows[: np.searchsorted(self.rows, self.built)]
        return in_graph[lost[in_graph]]

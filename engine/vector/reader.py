"""Search of one view: through the graph, or by a scan where that is faster or where the graph does not reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from engine.model.hits import Candidates, Labels, Scores, Vectors
from engine.settings import VectorSettings
from engine.vector.epoch import Epoch
from engine.vector.exact import scan, scores_of
from engine.vector.graph_walk import GraphWalk
from engine.vector.table import Rows, RowView, check_query

Strategy: TypeAlias = Literal["none", "exact", "graph", "graph, then exact"]


@dataclass(frozen=True, slots=True)
class Explained:
    """A ranking and how it was found.

    Attributes:
        scanned: rows whose similarity was computed one by one.
        fetched: rows that the graph brought up.
    """

    candidates: Candidates
    strategy: Strategy
    scanned: int = 0
    fetched: int = 0


class IndexReader:
    """`VectorReader` over the rows that were live when it was made. Any thread may use it, also after later writes."""

    def __init__(self, epoch: Epoch, view: RowView, settings: VectorSettings) -> None:
        self._epoch = epoch
        self._view = view
        self._settings = settings

    @property
    def dimension(self) -> int:
        return self._view.dimension

    def __len__(self) -> int:
        return self._view.live

    def search(self, query: Vectors, k: int, *, allowed: Labels | None = None) -> Candidates:
        return self.explain(query, k, allowed=allowed).candidates

    def scores(self, query: Vectors, labels: Labels) -> Scores:
        return scores_of(self._view, query, labels)

    def explain(self, query: Vectors, k: int, *, allowed: Labels | None = None) -> Explained:
        """As `search`, with the way it went.

        Raises:
            ValueError: a query of another width or type or not of unit length, a negative `k`, or `allowed` not
                strictly increasing.
        """
        check_query(query, self.dimension)
        if k < 0:
            raise ValueError(f"k must be >= 0, got {k}")
        rows = None if allowed is None else self._rows_of(allowed)
        if rows is not None and len(rows) == self._view.live:
            rows = None
        count = self._view.live if rows is None else len(rows)
        if k == 0 or count == 0:
            return Explained(Candidates.empty(), "none")
        built = self._epoch.built
        if built.graph is None or count <= self._settings.exact_limit:
            return Explained(scan(self._view, query, k, rows), "exact", count)
        walk = GraphWalk(self._epoch, self._view, built.graph, built.rows, self._settings.ef_search, query, k, rows)
        found = walk.run()
        if found is not None:
            return Explained(found, "graph", walk.scanned, walk.fetched)
        strategy: Strategy = "graph, then exact" if walk.fetched else "exact"
        return Explained(scan(self._view, query, k, rows), strategy, walk.scanned + count, walk.fetched)

    def _rows_of(self, allowed: Labels) -> Rows:
        if not (allowed[1:] > allowed[:-1]).all():
            raise ValueError("allowed labels must increase strictly")
        return self._view.allowed_rows(allowed)

"""A table with the graph over its first rows: what readers share until the index is built anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.model.hits import Labels
from engine.vector.hnsw import HnswGraph
from engine.vector.table import Mask, RowTable, RowView


@dataclass(frozen=True, slots=True)
class Built:
    """How far the graph has come: rows ``[0, rows)`` of the table are in it, unless they were dead by then."""

    graph: HnswGraph | None = None
    rows: int = 0


class Epoch:
    """Rows are only appended or removed within an epoch; compaction and `clear` begin the next one.

    A reader keeps its epoch, so rows keep their positions for it; the graph of an old epoch changes no more.
    Changes are made under the index's lock; readers read `built` and `alive` without one.
    """

    def __init__(self, table: RowTable, built: Built | None = None) -> None:
        self.table = table
        self.built = built or Built()
        self.alive: Mask = table.view().alive

    def remove(self, labels: Labels) -> None:
        rows = self.table.remove(labels)
        view = self.table.view()
        # Published before the graph marks them: a reader then finds what the graph lost, never the other way round.
        self.alive = view.alive
        if self.built.graph is not None:
            self.built.graph.mark_removed(view.labels[rows[rows < self.built.rows]])

    def install(self, graph: HnswGraph, rows: int) -> None:
        """Take a saved graph over the rows up to `rows`; those that died since it was saved are marked."""
        view = self.table.view()
        graph.mark_removed(view.labels[:rows][~view.alive[:rows]])
        self.built = Built(graph, rows)

    def advance(self, graph: HnswGraph, rows: int) -> None:
        """The graph now holds the rows up to `rows`; those that died while they were added are marked."""
        view = self.table.view()
        dead = np.flatnonzero(~view.alive[self.built.rows : rows]) + self.built.rows
        graph.mark_removed(view.labels[dead])
        self.built = Built(graph, rows)

    def dead_share(self) -> float:
        """Share of removed rows in the table or in the graph, whichever is larger, in [0, 1]."""
        view, graph = self.table.view(), self.built.graph
        of_table = 1.0 - view.live / len(view) if len(view) else 0.0
        return max(of_table, graph.removed / graph.total if graph is not None and graph.total else 0.0)

    def lost_rows(self, view: RowView, built: int) -> Mask | None:
        """Rows below `built` that live in `view` but that the graph has been told to leave out; None for none."""
        alive = self.alive
        if alive is view.alive or view.alive.base is alive.base:
            return None
        stop = min(built, len(view), len(alive))
        lost = view.alive[:stop] & ~alive[:stop]
        return lost if lost.any() else None

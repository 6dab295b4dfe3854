"""The vector index of a namespace: rows at once, a graph over them as soon as it is built."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import numpy as np

from engine.errors import StorageError
from engine.model.hits import Labels, Vectors
from engine.settings import VectorSettings
from engine.vector.background import Background, GivingWay
from engine.vector.epoch import Built, Epoch
from engine.vector.hnsw import LIBRARY_VERSION, HnswGraph
from engine.vector.reader import IndexReader
from engine.vector.snapshot_file import SavedLinks, let_go, read_snapshot, write_snapshot
from engine.vector.table import BLOCK_ROWS, RowTable, RowView, check_rows

BATCH_ROWS = 500
"""Rows the graph takes at a time: what `close`, `save` and a query behind a growing graph wait for."""
_FEWEST_DEAD = 64

_log = logging.getLogger(__name__)

_heavy = GivingWay("vector graph batches")
"""However many namespaces are being built, one batch at a time has the processors, and only what queries leave."""


class VectorIndex:
    """`VectorWriter` whose rows are findable when `add` returns.

    New rows are scanned exactly until a background thread has put them into the graph. While few rows live
    (`VectorSettings.graph_from`), and without hnswlib, there is no graph at all. When too many are dead the rows and
    the graph are built anew beside the old ones, which answer until then.
    """

    def __init__(self, dimension: int, settings: VectorSettings | None = None) -> None:
        self.dimension = dimension
        self._settings = settings or VectorSettings()
        self._lock = threading.Lock()
        self._epoch = Epoch(RowTable(dimension))
        self._last_label = -1
        self._saved_links: SavedLinks | None = None
        self._mapped = np.empty(0, np.uint8)
        self._worker = Background(self._step, "vector graph")

    @classmethod
    def open(cls, folder: Path, dimension: int, settings: VectorSettings | None = None) -> tuple[VectorIndex, int]:
        """The index as the newest whole snapshot in `folder` held it, and that snapshot's ``applied_seq``.

        It answers at once, by scanning; the graph is loaded in the background. Without a usable snapshot an empty
        index and -1: add every row anew.
        """
        index = cls(dimension, settings)
        restored = read_snapshot(folder, dimension)
        if restored is None:
            return index, -1
        index._epoch = Epoch(restored.table)
        index._saved_links = restored.links
        index._mapped = restored.codes
        index._last_label = restored.last_label
        index._wake_if_due()
        return index, restored.applied_seq

    def __len__(self) -> int:
        """How many rows are live."""
        return self._epoch.table.view().live

    def add(self, labels: Labels, vectors: Vectors) -> None:
        with self._lock:
            check_rows(labels, vectors, self.dimension, above=self._last_label)
            if len(labels):
                self._epoch.table.append(labels, vectors)
                self._last_label = int(labels[-1])
        self._wake_if_due()

    def remove(self, labels: Labels) -> None:
        with self._lock:
            self._epoch.remove(labels)
        self._wake_if_due()

    def clear(self) -> None:
        """Forget every row and every label: labels may begin anew."""
        with self._lock:
            self._epoch = Epoch(RowTable(self.dimension))
            self._last_label = -1
            self._saved_links = None

    def reader(self) -> IndexReader:
        with self._lock:
            return IndexReader(self._epoch, self._epoch.table.view(), self._settings)

    def save(self, folder: Path, applied_seq: int) -> None:
        """Write a snapshot; rows that are not in the graph yet are kept beside it. Queries go on.

        Raises:
            StorageFull: no space left.
            StorageError: any other failure; the snapshot before stays.
        """
        with self._lock:
            epoch, links, last_label = self._epoch, self._saved_links, self._last_label
            view, graph = epoch.table.view(), epoch.built.graph
        written = write_snapshot(
            folder,
            view,
            links or graph,
            applied_seq=applied_seq,
            last_label=last_label,
        )
        with self._lock:
            if self._epoch is epoch:
                epoch.table.adopt(written.codes)
                self._saved_links = written.links if self._saved_links is not None else None

    def close(self) -> None:
        """Stop building; returns within about a batch. Readers go on."""
        self._worker.stop()

    @property
    def is_built(self) -> bool:
        """Whether the graph holds every live row that it should, and few dead ones."""
        with self._lock:
            return not self._is_due()

    def wait_until_built(self, timeout: float | None = None) -> bool:
        """Wait until `is_built`; False when `timeout` seconds were not enough or building failed."""
        self._wake_if_due()
        self._worker.wait_idle(timeout)
        return self.is_built

    def _is_due(self) -> bool:
        table, built = self._epoch.table.view(), self._epoch.built
        waiting = built.rows < len(table) and self._wants_graph(table)
        return self._saved_links is not None or waiting or self._is_worn()

    def _wants_graph(self, view: RowView) -> bool:
        return LIBRARY_VERSION is not None and self.dimension > 0 and view.live > self._settings.graph_from

    def _is_worn(self) -> bool:
        view = self._epoch.table.view()
        graph = self._epoch.built.graph
        dead = max(len(view) - view.live, graph.removed if graph is not None else 0)
        return dead >= _FEWEST_DEAD and self._epoch.dead_share() > self._settings.rebuild_dead_share

    def _wake_if_due(self) -> None:
        with self._lock:
            due = self._is_due()
        if due:
            self._worker.wake()

    def _step(self) -> bool:
        """One piece of background work; whether there may be more."""
        with self._lock:
            epoch, view = self._epoch, self._epoch.table.view()
            if not self._is_due():
                return False
            links, worn = self._saved_links, self._is_worn()
        if links is not None:
            self._load(epoch, view, links)
            return True
        if worn:
            self._renew(epoch, view)
            return True
        built = epoch.built
        graph = built.graph or self._new_graph(view.live)
        stop = self._add_batch(graph, view, built.rows)
        with self._lock:
            epoch.advance(graph, stop)
        return True

    def _load(self, epoch: Epoch, view: RowView, links: SavedLinks) -> None:
        """Load the graph of the snapshot; where that fails, a new one is built."""
        graph: HnswGraph | None = None
        try:
            loaded: list[HnswGraph] = []
            _heavy.run(lambda: loaded.append(links.load(view)))
            graph = loaded[0]
        except StorageError as error:
            _log.warning("the vector graph is built anew: %s", error.message)
        with self._lock:
            if self._epoch is epoch:
                self._saved_links = None
                if graph is not None:
                    epoch.install(graph, links.built)
        # Until now every query scanned them; the graph has its own.
        let_go(self._mapped)

    def _renew(self, old: Epoch, view: RowView) -> None:
        """Begin a new epoch with the live rows of `view` and a graph over them, then what came in the meantime."""
        table = RowTable(self.dimension)
        live = np.flatnonzero(view.alive)
        for start in range(0, len(live), BLOCK_ROWS):
            part = live[start : start + BLOCK_ROWS]
            table.append(view.labels[part], view.copy_rows(part))
        compact, graph, rows = table.view(), None, 0
        if self._wants_graph(compact):
            graph = self._new_graph(compact.live)
            while rows < len(compact):
                if self._worker.is_stopped or self._epoch is not old:
                    return
                rows = self._add_batch(graph, compact, rows)
        with self._lock:
            if self._epoch is not old:
                return
            now = old.table.view()
            later = len(view) + np.flatnonzero(now.alive[len(view) :])
            table.append(now.labels[later], now.copy_rows(later))
            fresh = Epoch(table, Built(graph, rows))
            fresh.remove(view.labels[view.alive & ~now.alive[: len(view)]])
            self._epoch = fresh

    def _add_batch(self, graph: HnswGraph, view: RowView, start: int) -> int:
        stop = min(start + BATCH_ROWS, len(view))
        rows = start + np.flatnonzero(view.alive[start:stop])
        graph.reserve(graph.total + int(np.count_nonzero(view.alive[start:])))
        labels, vectors = view.labels[rows], view.copy_rows(rows)
        _heavy.run(lambda: graph.add(labels, vectors))
        return stop

    def _new_graph(self, capacity: int) -> HnswGraph:
        settings = self._settings
        graph = HnswGraph.create(self.dimension, m=settings.m, ef_construction=settings.ef_construction)
        graph.reserve(capacity)
        return graph

"""The contract on every way the index can be: scanned only, all in the graph, and with rows that wait for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.settings import VectorSettings
from engine.vector import graph_walk
from engine.vector.index import VectorIndex
from engine.vector.protocol import VectorWriter
from tests.contracts.vector_index import DIMENSION, VectorIndexContract

_GRAPH = VectorSettings(m=16, ef_search=300, exact_limit=0, graph_from=0)


class TestScanned(VectorIndexContract):
    def make(self) -> VectorIndex:
        return VectorIndex(DIMENSION, VectorSettings())


class TestInGraph(VectorIndexContract):
    @pytest.fixture(autouse=True)
    def _graph_at_any_cost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(graph_walk, "ROWS_A_STEP", 0.0)

    def make(self) -> VectorIndex:
        return VectorIndex(DIMENSION, _GRAPH)

    def open(self, folder: Path) -> tuple[VectorWriter, int]:
        return VectorIndex.open(folder, DIMENSION, _GRAPH)

    def settle(self, index: VectorWriter) -> None:
        assert isinstance(index, VectorIndex)
        assert index.wait_until_built(60)


class TestWaitingForTheGraph(TestInGraph):
    """Half of the rows are in the graph; the thread that would add the others has stopped."""

    def make(self) -> VectorIndex:
        index = VectorIndex(DIMENSION, _GRAPH)
        self.settled = False
        return index

    def settle(self, index: VectorWriter) -> None:
        assert isinstance(index, VectorIndex)
        if not self.settled:
            assert index.wait_until_built(60)
            index.close()
            self.settled = True

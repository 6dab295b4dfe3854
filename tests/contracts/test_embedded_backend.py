"""The backend contract on DuckDB, tantivy and hnswlib in this process."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.backend.embedded import legs
from engine.backend.embedded.backend import EmbeddedBackend
from engine.backend.protocol import Backend
from engine.settings import EngineSettings, StorageSettings, VectorSettings
from tests.contracts.backend import BackendContract, ask


class TestEmbeddedBackend(BackendContract):
    def make(self, folder: Path) -> Backend:
        return EmbeddedBackend(folder, EngineSettings())


class TestEmbeddedBackendWithGraph(BackendContract):
    """A graph from the first rows on, legs side by side, and every namespace closed as soon as another one is used."""

    @pytest.fixture(autouse=True)
    def _side_by_side(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(legs, "BESIDE_FROM", 0)

    def test_the_vector_leg_has_a_thread_of_its_own(self, filled: Backend) -> None:
        ask(filled, "harbour")
        assert [thread for thread in threading.enumerate() if thread.name.startswith("vector leg")]

    def make(self, folder: Path) -> Backend:
        vectors = VectorSettings(graph_from=20, exact_limit=10, ef_search=400)
        return EmbeddedBackend(folder, EngineSettings(vectors=vectors, storage=StorageSettings(open_namespaces=1)))

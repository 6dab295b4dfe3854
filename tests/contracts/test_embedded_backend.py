"""The backend contract on DuckDB, tantivy and hnswlib in this process."""

from __future__ import annotations

from pathlib import Path

from engine.backend.embedded.backend import EmbeddedBackend
from engine.backend.protocol import Backend
from engine.settings import EngineSettings, StorageSettings, VectorSettings
from tests.contracts.backend import BackendContract


class TestEmbeddedBackend(BackendContract):
    def make(self, folder: Path) -> Backend:
        return EmbeddedBackend(folder, EngineSettings())


class TestEmbeddedBackendWithGraph(BackendContract):
    """A vector graph from the first rows on, and every namespace closed as soon as another one is used."""

    def make(self, folder: Path) -> Backend:
        vectors = VectorSettings(graph_from=20, exact_limit=10, ef_search=400)
        return EmbeddedBackend(folder, EngineSettings(vectors=vectors, storage=StorageSettings(open_namespaces=1)))

"""The control of both kinds of store keeps one contract."""

from __future__ import annotations

from pathlib import Path

from engine.settings import EngineSettings
from engine.store.opening import open_store
from engine.store.protocol import Store
from tests.contracts.control import ControlContract
from tests.postgres import database_of


class TestEmbeddedControl(ControlContract):
    def open(self, folder: Path, settings: EngineSettings) -> Store:
        return open_store(folder / "data", settings)


class TestPostgresControl(ControlContract):
    def open(self, folder: Path, settings: EngineSettings) -> Store:
        return open_store(database_of(folder), settings)

"""The documents of a PostgreSQL database keep the contract of every backend."""

from __future__ import annotations

from pathlib import Path

from engine.store.postgres.backend import PostgresBackend
from tests.contracts.backend import BackendContract
from tests.postgres import database_of


class TestPostgresBackend(BackendContract):
    def make(self, folder: Path) -> PostgresBackend:
        return PostgresBackend(database_of(folder))

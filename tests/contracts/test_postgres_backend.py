"""The documents of a PostgreSQL database keep the contract of every backend."""

from __future__ import annotations

from pathlib import Path

from engine.settings import VectorSettings
from engine.store.postgres.backend import PostgresBackend
from engine.store.postgres.connection import Pool
from engine.store.postgres.migrate import migrate
from tests.contracts.backend import BackendContract
from tests.postgres import database_of


class TestPostgresBackend(BackendContract):
    def make(self, folder: Path) -> PostgresBackend:
        dsn = database_of(folder)
        plain = Pool(dsn, vectors=False)
        migrate(plain)
        plain.close()
        return PostgresBackend(Pool(dsn), VectorSettings())

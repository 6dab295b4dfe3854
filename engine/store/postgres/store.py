"""`PostgresStore`: control and documents in one database, shared by any number of server processes."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from threading import Thread

from engine.backend.protocol import Capabilities
from engine.errors import InvalidRequest, QuarryError
from engine.model.namespace import NamespaceStats, StorageTotals, StoredNamespace
from engine.settings import EngineSettings
from engine.store.postgres.backend import PostgresBackend
from engine.store.postgres.catalog import PostgresCatalog
from engine.store.postgres.connection import Pool
from engine.store.postgres.keyring import PostgresKeyring
from engine.store.postgres.maintenance import due, sweep
from engine.store.postgres.migrate import migrate
from engine.store.postgres.sessions import RENEW_S, PostgresSessions
from engine.store.postgres.verify import verify
from engine.store.protocol import BackupReport
from engine.upkeep import Task

_log = logging.getLogger(__name__)

MAINTAIN_S, SWEEP_S, PURGE_S, KEYS_S = 30.0, 900.0, 300.0, 60.0


class PostgresStore:
    """Implements `engine.store.protocol.Store`.

    Args:
        dsn: as libpq has it, ``postgresql://…``.
    """

    def __init__(self, dsn: str, settings: EngineSettings) -> None:
        plain = Pool(dsn, vectors=False)
        try:
            migrate(plain)
        finally:
            plain.close()
        self._pool = Pool(dsn)
        self._settings = settings
        self._maintaining: Thread | None = None
        self.catalog = PostgresCatalog(self._pool)
        self.keyring = PostgresKeyring(self._pool)
        self.sessions = PostgresSessions(self._pool, timedelta(hours=settings.session_hours))
        self.documents = PostgresBackend(self._pool, settings.vectors)

    @property
    def capabilities(self) -> Capabilities:
        return self.documents.capabilities

    @property
    def notices(self) -> list[str]:
        return []

    @property
    def open_namespaces(self) -> int:
        return 0

    def tasks(self) -> list[Task]:
        return [
            Task("leases", RENEW_S, self.sessions.renew),
            Task("keys", KEYS_S, self.keyring.flush),
            Task("sessions", PURGE_S, self.sessions.purge, at_start=True),
            Task("graphs and postings", MAINTAIN_S, self._maintain),
            Task("remains", SWEEP_S, lambda: sweep(self._pool), at_start=True),
        ]

    def ping(self) -> None:
        with self._pool.reading() as connection:
            connection.execute("SELECT version FROM quarry.version").fetchone()

    def stats(self, company_id: int) -> list[NamespaceStats]:
        return self.catalog.stats(company_id)

    def totals(self) -> StorageTotals:
        return self.catalog.totals()

    def problems(self, namespace: StoredNamespace) -> list[str]:
        with self._pool.reading() as connection:
            return verify(connection, namespace.id)

    def strays(self) -> list[str]:
        return []

    def backup(self, target: Path) -> BackupReport:  # noqa: ARG002 - none is made
        raise InvalidRequest(
            "This data is in a database: back it up with pg_dump or the backups of its service; see docs/scale.md.",
            path="path",
        )

    def close(self) -> None:
        self._pool.close()

    def _maintain(self) -> None:
        # A graph takes minutes, in which leases must be renewed: it has a thread of its own.
        if self._maintaining is None or not self._maintaining.is_alive():
            self._maintaining = Thread(target=self._maintain_all, name="quarry-maintain", daemon=True)
            self._maintaining.start()

    def _maintain_all(self) -> None:
        try:
            self._maintain_due()
        except QuarryError as error:
            _log.warning("Graphs and postings are tidied later: %s", error.message)

    def _maintain_due(self) -> None:
        for namespace in due(self._pool, self._settings.vectors):
            self.documents.maintain(namespace)

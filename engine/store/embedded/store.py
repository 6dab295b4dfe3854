"""`EmbeddedStore`: a data directory that this process owns."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from engine.backend.embedded.backend import NAMESPACES_FOLDER, EmbeddedBackend
from engine.backend.protocol import Capabilities
from engine.errors import NamespaceNotFound, StorageError
from engine.model.namespace import NamespaceState, NamespaceStats, StorageTotals, StoredNamespace
from engine.settings import EngineSettings
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.format import ensure_format
from engine.storage.keys import Keyring
from engine.storage.lock import DirectoryLock
from engine.storage.sessions import SessionStore
from engine.store.embedded.backups import write_backup
from engine.store.protocol import BackupReport
from engine.upkeep import Task

SESSIONS_WRITTEN_S = 0.2
"""Seconds between two writes of new sessions; a kill loses those that wait."""
_log = logging.getLogger(__name__)


class EmbeddedStore:
    """Implements `engine.store.protocol.Store`. Owned by one process at a time."""

    def __init__(self, directory: Path, lock: DirectoryLock, file: CatalogFile, settings: EngineSettings) -> None:
        self._lock = lock
        self._file = file
        self._is_closed = False
        self.sessions = SessionStore(file, timedelta(hours=settings.session_hours))
        self.catalog = Catalog(file, dropping=self.sessions.flush)
        self.keyring = Keyring(file)
        self.documents = EmbeddedBackend(directory / NAMESPACES_FOLDER, settings, self._mirror)
        self.documents.recover(self.catalog.namespace_ids())
        self._reconcile()

    @classmethod
    def open(cls, directory: Path, settings: EngineSettings) -> EmbeddedStore:
        """Open a data directory, making it when it does not exist; see `engine.open` for the errors."""
        lock = DirectoryLock.acquire(directory)
        try:
            ensure_format(directory)
            file = CatalogFile.open(directory)
            try:
                return cls(directory, lock, file, settings)
            except BaseException:
                file.close()
                raise
        except BaseException:
            lock.release()
            raise

    @property
    def capabilities(self) -> Capabilities:
        return self.documents.capabilities

    @property
    def notices(self) -> list[str]:
        return self.documents.notices

    @property
    def open_namespaces(self) -> int:
        return self.documents.open_namespaces

    def tasks(self) -> list[Task]:
        return [
            Task("namespaces", 1.0, self.catalog.flush),
            Task("keys", 60.0, self.keyring.flush),
            Task("new sessions", SESSIONS_WRITTEN_S, self.sessions.flush),
            Task("sessions", 300.0, self.sessions.purge, at_start=True),
        ]

    def ping(self) -> None:
        with self._file.read() as cursor:
            cursor.execute("SELECT generation FROM state").fetchone()

    def stats(self, company_id: int) -> list[NamespaceStats]:
        held = self.catalog.namespaces(company_id)
        return [NamespaceStats.of(record, self.documents.problem(record.id)) for record in held]

    def totals(self) -> StorageTotals:
        found = [stats for company in self.catalog.companies() for stats in self.stats(company.id)]
        return StorageTotals(
            namespaces=len(found),
            documents=sum(stats.documents for stats in found),
            passages=sum(stats.passages for stats in found),
            storage_bytes=sum(stats.storage_bytes for stats in found),
            damaged=sum(bool(stats.problem) for stats in found),
        )

    def problems(self, namespace: StoredNamespace) -> list[str]:
        problems, state = self.documents.verify(namespace.id)
        known = self.catalog.of_id(namespace.id)
        if known is None:
            return []
        if state is not None and (known.seq, known.documents, known.passages) != (
            state.seq,
            state.documents,
            state.passages,
        ):
            problems.append("the catalog has other counts than the namespace")
        if state is not None and state.schema not in (None, known.schema):
            problems.append("the catalog has another schema than the namespace")
        return problems

    def strays(self) -> list[str]:
        unknown = self.documents.unknown(self.catalog.namespace_ids())
        return [f"folder {name!r} belongs to no namespace of the catalog" for name in unknown]

    def backup(self, target: Path) -> BackupReport:
        self.sessions.flush()
        return write_backup(self._file, self.catalog, self.documents, target)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self.documents.close()
        for flush in (self.catalog.flush, self.keyring.flush, self.sessions.flush):
            try:
                flush()
            except StorageError as error:
                # The next opening reads counts from the namespaces; when keys were last used is lost, and so are new
                # sessions.
                _log.warning("The catalog could not be written at the end: %s", error.message)
        self._file.close()
        self._lock.release()

    def _reconcile(self) -> None:
        """Take over what the catalog does not know of its namespaces: a crash came before it was written down.

        A namespace that is damaged is named by `stats` and `check`, and keeps no other from opening.
        """
        known = {n: record.seq for n in self.catalog.namespace_ids() if (record := self.catalog.of_id(n))}
        for number in self.documents.outdated(known):
            try:
                self._mirror(number, self.documents.read_state(number))
            except StorageError as error:
                _log.warning("Namespace %d cannot be used: %s", number, error.message)

    def _mirror(self, number: int, state: NamespaceState) -> None:
        # One that is being made has no row yet, one that is being dropped has none any more.
        with suppress(NamespaceNotFound):
            self.catalog.record(number, state)

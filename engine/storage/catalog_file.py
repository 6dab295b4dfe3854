"""The database ``catalog.duckdb`` that companies, namespaces, keys and sessions share."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from engine.errors import CorruptData
from engine.storage.connection import Cursor, Database, connect
from engine.storage.files import make_files_private, translated_os_errors
from engine.storage.hot_copy import copy_database
from engine.storage.manifest import Manifest
from engine.storage.migrate import applied, migrate, shipped
from engine.storage.torn_log import open_mended

CATALOG_FILE = "catalog.duckdb"
MANIFEST_FILE = "catalog.manifest"
HEADER_BYTES = 3 * 4096
"""What a DuckDB file begins with; one that is no longer holds no table."""


class CatalogFile:
    """The open catalog. Every write moves its generation and is on disk, manifest included, when it returns."""

    def __init__(self, database: Database, manifest: Manifest) -> None:
        self._database = database
        self._manifest = manifest
        # Held over commit and manifest together, so that the manifest never goes back.
        self._writing = threading.Lock()

    @classmethod
    def open(
        cls, directory: Path, *, threads: int = 1, memory_limit: str = "256MB", accept_loss: bool = False
    ) -> CatalogFile:
        """Open the catalog of a locked data directory, or make it.

        Args:
            accept_loss: open it even if acknowledged writes are missing from it.

        Raises:
            CorruptData: it is damaged, or acknowledged writes are missing.
            UnsupportedFormat: a newer version wrote it.
        """
        manifest = Manifest(directory / MANIFEST_FILE)
        path = directory / CATALOG_FILE
        if _is_unborn(path, manifest):
            with translated_os_errors():
                path.unlink()
        elif not accept_loss and not path.exists():
            manifest.check(0)
        database = open_mended(
            path,
            lambda: connect(path, threads=threads, memory_limit=memory_limit),
            lambda cursor: _generation(cursor) if applied(cursor) else 0,
            0 if accept_loss else manifest.read(),
        )
        try:
            # Before anything is written: what is left may be needed to find out what happened.
            with database.reader() as cursor:
                generation = _generation(cursor) if applied(cursor) else 0
            manifest.check(generation, accept_loss=accept_loss)
            migrate(database, shipped("catalog"))
            make_files_private(directory)
        except BaseException:
            database.close()
            raise
        return cls(database, manifest)

    @contextmanager
    def read(self) -> Generator[Cursor]:
        """A reading cursor."""
        self._mend()
        with self._database.reader() as cursor:
            yield cursor

    @contextmanager
    def write(self) -> Generator[Cursor]:
        """A transaction, acknowledged when the block has ended.

        Raises:
            StorageError: nothing was stored; or it was, but the manifest could not be written. A caller that keeps
                rows in memory reads them anew.
        """
        with self._writing:
            self._mend()
            with self._database.transaction() as cursor:
                yield cursor
                cursor.execute("UPDATE state SET generation = generation + 1")
                generation = _generation(cursor)
            # The log is made anew after each checkpoint.
            make_files_private(self._manifest.path.parent)
            self._manifest.record(generation)

    def copy_to(self, directory: Path) -> int:
        """Write a consistent copy of the catalog into the folder `directory`; how many bytes. Writes go on."""
        with ExitStack() as stack:
            with self._writing:
                log_bytes = stack.enter_context(self._database.pinned())
                with self._database.reader() as cursor:
                    generation = _generation(cursor)
            size = copy_database(self._database, log_bytes, directory)
        Manifest(directory / MANIFEST_FILE).record(generation)
        return size

    def close(self) -> None:
        """Close the database; further calls do nothing."""
        self._database.close()

    def _mend(self) -> None:
        if self._database.is_broken:
            self._database.reopen()


def _is_unborn(path: Path, manifest: Manifest) -> bool:
    """Whether the file is what a power cut left of its making: some of the headers, no log, and nothing recorded."""
    if manifest.path.exists() or path.with_name(f"{path.name}.wal").exists():
        return False
    return path.exists() and path.stat().st_size <= HEADER_BYTES


def _generation(cursor: Cursor) -> int:
    row = cursor.execute("SELECT generation FROM state").fetchone()
    if row is None:
        raise CorruptData("The catalog has lost its state.")
    return int(row[0])

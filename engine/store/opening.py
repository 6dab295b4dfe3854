"""Which kind of store an address means: a folder, or a database ``postgresql://…``."""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import DataDirectoryNotFound, InvalidRequest
from engine.settings import EngineSettings
from engine.storage.format import read_format
from engine.store.embedded.backups import restore_backup
from engine.store.embedded.repair import repair_directory
from engine.store.embedded.store import EmbeddedStore
from engine.store.protocol import BackupReport, RepairReport, Store

_DATABASES = ("postgresql://", "postgres://")
_KEYWORDS = re.compile(r"(?:^|\s)(?:dbname|host|hostaddr|service)\s*=")
"""``host=db dbname=quarry``: no folder is to be made of it."""


def is_database(where: str | Path) -> bool:
    """Whether `where` is the address of a database, in either form of libpq; else it is a folder.

    >>> is_database("postgresql://localhost/quarry"), is_database("host=/tmp dbname=quarry"), is_database("quarry-data")
    (True, True, False)
    """
    return isinstance(where, str) and (where.startswith(_DATABASES) or _KEYWORDS.search(where) is not None)


def open_store(where: str | Path, settings: EngineSettings, *, create: bool = True) -> Store:
    """The store at `where`, made when it does not exist; see `engine.open` for the errors."""
    if is_database(where):
        return _open_database(str(where), settings)
    if not create and read_format(Path(where)) is None:
        raise DataDirectoryNotFound
    return EmbeddedStore.open(Path(where), settings)


def _open_database(dsn: str, settings: EngineSettings) -> Store:
    try:
        # Imported here: the driver is an extra, and takes a while to load.
        from engine.store.postgres.store import PostgresStore
    except ImportError as error:
        if (error.name or "").startswith("engine"):
            raise  # Ours is broken; no extra mends it.
        raise InvalidRequest(
            "Databases need the extra `postgres`: pip install 'quarry-search[postgres]'.", path="data"
        ) from error
    return PostgresStore(dsn, settings)


def repair_store(where: str | Path, settings: EngineSettings) -> RepairReport:
    """See `engine.repair`."""
    if is_database(where):
        raise InvalidRequest(
            "A database repairs itself after a crash; where its data is damaged, restore a backup of the database.",
            path="data",
        )
    return repair_directory(Path(where), settings)


def restore_store(backup: Path, where: str | Path, settings: EngineSettings) -> BackupReport:
    """See `engine.restore`."""
    if is_database(where):
        raise InvalidRequest(
            "A backup is restored to a folder; `quarry move` then brings the folder into a database.", path="data"
        )
    return restore_backup(backup, Path(where), settings)

"""Copying a database while it is written to."""

from __future__ import annotations

from pathlib import Path

from engine.errors import StorageError
from engine.storage.connection import Database
from engine.storage.files import copy_file, translated_os_errors

_HEADERS = 3 * 4096
"""Bytes at the start of a DuckDB file that every checkpoint changes: a fixed block, then two that take turns."""


def copy_database(database: Database, log_bytes: int, folder: Path) -> int:
    """Write a copy of `database` as of its pinning into `folder`; how many bytes. The caller has it pinned.

    Commits meanwhile go to the end of the log, which is not copied, and to blocks of the file that nothing copied
    refers to.

    Args:
        log_bytes: what `Database.pinned` gave.

    Raises:
        StorageError: the disk failed, or the database had to be opened anew during the copy.
    """
    path = database.path
    before = _headers(path)
    size = copy_file(path, folder / path.name)
    if log_bytes:
        log = path.with_name(path.name + ".wal")
        size += copy_file(log, folder / log.name, log_bytes)
    if _headers(path) != before:
        raise StorageError("The database was opened anew while it was copied. Try again.")
    return size


def _headers(path: Path) -> bytes:
    with translated_os_errors(), path.open("rb") as file:
        return file.read(_HEADERS)

"""A database whose log ends in a commit that a power cut tore.

DuckDB drops an end that is too short by itself, but refuses one whose bytes are wrong, and a power cut leaves either.
Where nothing acknowledged stands there, cutting the log loses nothing; the side file tells.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from engine.errors import CorruptData
from engine.storage.connection import Cursor, Database, read_only
from engine.storage.files import copy_file, sync_directory, translated_os_errors

_log = logging.getLogger(__name__)

_POSITION = re.compile(r"byte position (\d+)")


def open_mended(
    path: Path, connect: Callable[[], Database], generation_of: Callable[[Cursor], int], recorded: int
) -> Database:
    """What `connect` gives for the database `path`; a torn end of its log is cut if nothing acknowledged stands there.

    The log as it was stays beside it, under the name ``….wal.torn``.

    Args:
        generation_of: what the database says that it has come to.
        recorded: what was acknowledged; 0 accepts every loss.

    Raises:
        CorruptData: the database is damaged otherwise, or acknowledged writes stand in the torn end. Nothing changed.
    """
    try:
        return connect()
    except CorruptData as error:
        position = torn_at(error)
        if position is None:
            raise
        _cut(path, position, generation_of, recorded, error)
    return connect()


def torn_at(error: CorruptData) -> int | None:
    """Where the log's first bad entry begins, in bytes; None where something else is damaged."""
    text = str(error.__cause__)
    found = _POSITION.search(text) if "replaying wal" in text.lower() else None
    return None if found is None else int(found[1])


def _cut(path: Path, position: int, generation_of: Callable[[Cursor], int], recorded: int, error: CorruptData) -> None:
    log = path.with_name(path.name + ".wal")
    with translated_os_errors():
        if position >= log.stat().st_size:
            raise error
    kept = _free_name(log.with_name(log.name + ".torn"))
    copy_file(log, kept)
    with translated_os_errors():
        with log.open("r+b") as file:
            file.truncate(position)
            os.fsync(file.fileno())
        sync_directory(log.parent)
    try:
        with read_only(path) as cursor:
            generation = generation_of(cursor)
    except CorruptData as again:
        # What stands before the cut is damaged as well.
        _put_back(kept, log)
        raise error from again
    if generation < recorded:
        _put_back(kept, log)
        raise CorruptData(
            f"The log of the database is damaged where acknowledged writes stand: {recorded:,} were recorded, "
            f"{generation:,} can be read. Restore a backup, or run `quarry repair`."
        ) from error
    _log.warning(
        "The log %s ended in a write that was torn and never acknowledged; it was cut at byte %d, and kept as %s",
        log.name,
        position,
        kept.name,
    )


def _put_back(kept: Path, log: Path) -> None:
    with translated_os_errors():
        kept.replace(log)
        sync_directory(log.parent)


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free

"""A namespace's folder is made, replaced or removed as a whole, also when the process ends or a rename fails.

::

    7.new        being made            7            there         7.dropped   on its way out
    7.reindexed  being derived anew    7.replaced   the old one, until the new one stands in its place

No step removes the only copy: what is moved away is removed once the other copy stands, or the catalog has let go.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine.storage.files import sync_directory, translated_os_errors

_log = logging.getLogger(__name__)

BUILDING = "new"
REINDEXED = "reindexed"
REPLACED = "replaced"
DROPPED = "dropped"
PENDING_FILE = "PENDING"
"""Stands in a folder until the catalog knows its namespace: only such a folder may be removed as unknown."""


def beside(folder: Path, state: str) -> Path:
    """Where a folder stands while it is in `state`."""
    return folder.with_name(f"{folder.name}.{state}")


def move_away(folder: Path, forget: Callable[[], None]) -> None:
    """Move the folder to where `clear_dropped` removes it, and `forget` its namespace; put it back where that fails.

    Raises:
        StorageError: it could not be moved, and stays.
    """
    doomed = beside(folder, DROPPED)
    shutil.rmtree(doomed, ignore_errors=True)
    try:
        with translated_os_errors():
            if folder.exists():
                folder.rename(doomed)
                sync_directory(folder.parent)
        forget()
    except BaseException:
        _put_back(doomed, folder)
        raise


def clear_dropped(folder: Path) -> None:
    """Remove what `move_away` moved; what cannot be removed now is removed at the next opening."""
    shutil.rmtree(beside(folder, DROPPED), ignore_errors=True)


def swap_folders(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`, or leave `folder` as it was.

    Raises:
        StorageError: a rename failed; the old folder stands, or will at the next opening.
    """
    old = beside(folder, REPLACED)
    with translated_os_errors():
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        try:
            folder.rename(old)
            sync_directory(folder.parent)
            new.rename(folder)
        except BaseException:
            _put_back(old, folder)
            raise
        # The old copy goes only when the new one is sure to stand there after a power cut.
        sync_directory(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _put_back(moved: Path, folder: Path) -> None:
    if not moved.exists() or folder.exists():
        return
    try:
        moved.rename(folder)
        sync_directory(folder.parent)
    except OSError:
        _log.exception("Namespace folder %s could not be put back; the next opening does it", folder.name)


def recover_folder(folder: Path) -> None:
    """Put back what was moved away while nothing took its place."""
    for state in (REPLACED, DROPPED):
        _put_back(beside(folder, state), folder)


def recover_folders(root: Path, known: set[int]) -> None:
    """Finish or undo what was under way when the process ended.

    Args:
        known: the namespaces that the catalog has. A folder it does not have is removed only if it was dropped, or
            never came into being.
    """
    for number in known:
        recover_folder(root / str(number))
        with suppress(OSError):
            (root / str(number) / PENDING_FILE).unlink(missing_ok=True)
    for path in list(root.iterdir()):
        name, *states = path.name.split(".")
        if not name.isdigit():
            continue
        state = states[-1] if states else ""
        is_there = (root / name).exists()
        is_unborn = not state and int(name) not in known and (path / PENDING_FILE).exists()
        is_spare = state in (BUILDING, REPLACED, REINDEXED, DROPPED) and (is_there or int(name) not in known)
        if is_unborn or is_spare or state == BUILDING:
            shutil.rmtree(path, ignore_errors=True)


def unknown_folders(root: Path, known: set[int]) -> list[str]:
    """Names of namespace folders that the catalog does not have and nobody may remove."""
    return sorted(
        path.name
        for path in root.iterdir()
        if path.name.isdigit() and int(path.name) not in known and not (path / PENDING_FILE).exists()
    )

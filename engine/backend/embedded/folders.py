"""A namespace's folder is removed or replaced as a whole, also when the process ends in between."""

from __future__ import annotations

import shutil
from pathlib import Path

BUILDING = "new"
REINDEXED = "reindexed"
REPLACED = "replaced"
DROPPED = "dropped"


def beside(folder: Path, state: str) -> Path:
    """Where a folder stands while it is in `state`."""
    return folder.with_name(f"{folder.name}.{state}")


def remove_folder(folder: Path) -> None:
    """Remove it; renamed first, so that a crash in the middle leaves nothing half there."""
    if folder.exists():
        doomed = beside(folder, DROPPED)
        shutil.rmtree(doomed, ignore_errors=True)
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def swap_folders(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`; `recover_folders` finishes what a crash in between leaves."""
    old = beside(folder, REPLACED)
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def recover_folders(root: Path) -> None:
    """Undo half a swap, and remove what was being built or dropped when the process ended."""
    for old in root.glob(f"*.{REPLACED}"):
        folder = old.with_suffix("")
        if not folder.exists():
            old.rename(folder)
    for state in (REPLACED, REINDEXED, BUILDING, DROPPED):
        for left in root.glob(f"*.{state}"):
            shutil.rmtree(left, ignore_errors=True)

"""Folders of namespaces are swapped and removed as a whole, or stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.backend.embedded.folders import move_away, swap_folders
from engine.errors import StorageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "7"
    made.mkdir()
    (made / "documents").write_text("the only copy")
    return made


def test_a_swap_whose_second_rename_fails_leaves_the_folder_as_it_was(folder: Path) -> None:
    with pytest.raises(StorageError):
        swap_folders(folder.with_name("7.reindexed"), folder)
    assert (folder / "documents").read_text() == "the only copy"
    assert list(folder.parent.iterdir()) == [folder]


def test_a_drop_that_the_catalog_refuses_leaves_the_folder_as_it_was(folder: Path) -> None:
    def refuses() -> None:
        raise StorageError("no")

    with pytest.raises(StorageError):
        move_away(folder, refuses)
    assert (folder / "documents").read_text() == "the only copy"
    assert list(folder.parent.iterdir()) == [folder]

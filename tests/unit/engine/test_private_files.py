"""What the engine writes is for the user of its process alone, whatever mask the process has."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from tests.embedders import HashingEmbedder


@pytest.fixture(autouse=True)
def _open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def not_private(folder: Path) -> list[str]:
    """Files and folders that another user may read, with their modes."""
    found = [folder, *folder.rglob("*")]
    modes = {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in found if not path.is_symlink()
    }
    return [f"{name} {mode:o}" for name, mode in sorted(modes.items()) if mode & 0o077]


def upload(quarry: engine.Engine, first: int) -> None:
    schema = {"year": {"type": "int", "is_filterable": True}}
    quarry.upsert(
        "n", [{"id": f"d{n}", "body": f"Ferry {n} sails at nine.", "year": n} for n in range(first, first + 40)], schema
    )


def test_every_file_of_an_open_directory_is_private(tmp_path: Path) -> None:
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        upload(quarry, 0)
        upload(quarry, 20)
        assert not_private(tmp_path / "data") == []
        quarry.maintain("n")
        assert not_private(tmp_path / "data") == []
        quarry.reindex("n")
        quarry.keys.create("reader")
        quarry.retrieve("n", "ferry", k=3)
        assert not_private(tmp_path / "data") == []
        quarry.backup(tmp_path / "backup")
        assert not_private(tmp_path / "backup") == []
    assert not_private(tmp_path / "data") == []


def test_an_opened_directory_becomes_private(tmp_path: Path) -> None:
    """One that a version wrote which left the modes to the mask."""
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        upload(quarry, 0)
    for path in (tmp_path / "data").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        quarry.retrieve("n", "ferry", k=3)
        assert not_private(tmp_path / "data") == []


def test_what_is_restored_is_private(tmp_path: Path) -> None:
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        upload(quarry, 0)
        quarry.backup(tmp_path / "backup")
    engine.restore(tmp_path / "backup", tmp_path / "again")
    assert not_private(tmp_path / "again") == []

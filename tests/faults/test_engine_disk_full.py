"""The engine on a disk that fills up: uploads are refused whole, searches go on, and writes return with the space."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import StorageError, StorageFull
from engine.settings import EngineSettings, StorageSettings
from tests.embedders import HashingEmbedder

MOUNT, UNMOUNT = shutil.which("mount"), shutil.which("umount")
SCHEMA = {"body": {"type": "string", "is_searchable": True}, "turn": {"type": "int", "is_filterable": True}}
BATCH = 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if MOUNT is None or UNMOUNT is None:
        pytest.skip("needs mount")
    if subprocess.run(
        [MOUNT, "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=False, capture_output=True
    ).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    # Lazily: the log records that pytest keeps refer to the frames of the errors, and so to open files.
    subprocess.run([UNMOUNT, "-l", disk], check=True)


def opened(folder: Path, min_free_bytes: int, open_namespaces: int = 8) -> engine.Engine:
    storage = StorageSettings(min_free_bytes=min_free_bytes, open_namespaces=open_namespaces)
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline", settings=EngineSettings(storage=storage))


def batch(turn: int) -> list[dict[str, object]]:
    """Some 160 kB that hardly compress, in few words."""
    rng = np.random.default_rng(turn)
    noise = [" ".join(rng.bytes(100).hex() for _ in range(40)) for _ in range(BATCH)]
    return [{"id": f"t{turn}d{n}", "body": f"word{turn}x {text}", "turn": turn} for n, text in enumerate(noise)]


def fill(quarry: engine.Engine, name: str = "n") -> list[int]:
    """Upload until it is refused three times; the turns that were acknowledged."""
    acknowledged: list[int] = []
    refused = 0
    for turn in range(400):
        try:
            quarry.upsert(name, batch(turn), SCHEMA)
            acknowledged.append(turn)
        except StorageError:
            refused += 1
            if refused == 3:
                break
    assert refused == 3
    assert len(acknowledged) > 2
    return acknowledged


def assert_whole(quarry: engine.Engine, acknowledged: list[int], name: str = "n") -> None:
    """Every acknowledged upload is there, and some of them as a whole, by word and by vector."""
    assert quarry.check() == []
    for turn in acknowledged:
        assert quarry.get(name, f"t{turn}d{BATCH - 1}")["turn"] == turn
    for turn in {*acknowledged[:: len(acknowledged) // 3 + 1], acknowledged[-1]}:
        hits = quarry.retrieve(name, f"word{turn}x", k=100, mode="lexical")
        assert {h.document_id for h in hits} == {f"t{turn}d{n}" for n in range(BATCH)}
        under = quarry.retrieve(name, "word", k=1_000, filters={"turn": turn}, mode="vector")
        assert {h.document_id for h in under} == {f"t{turn}d{n}" for n in range(BATCH)}


def test_an_upload_is_refused_before_the_disk_is_full_and_everything_else_goes_on(small_disk: Path) -> None:
    with opened(small_disk / "data", min_free_bytes=8 << 20) as quarry:
        acknowledged = fill(quarry)
        with pytest.raises(StorageFull):
            quarry.upsert("n", batch(999))
        assert shutil.disk_usage(small_disk).free > 4 << 20
        assert_whole(quarry, acknowledged)
        assert quarry.retrieve("n", "word999x", mode="lexical") == []
        # What frees space must not be refused for want of it.
        assert quarry.delete("n", document_ids=[f"t0d{n}" for n in range(BATCH)]) == BATCH
        assert_whole(quarry, acknowledged[1:])


def test_a_disk_that_somebody_else_filled_costs_no_acknowledged_document(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with opened(small_disk / "data", min_free_bytes=0) as quarry:
        quarry.upsert("n", batch(0), SCHEMA)
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - (6 << 20)))
        acknowledged = [0, *fill(quarry)[1:]]
        ballast.unlink()
        quarry.upsert("n", batch(500))
        assert_whole(quarry, [*acknowledged, 500])
    with opened(small_disk / "data", min_free_bytes=0) as quarry:
        assert_whole(quarry, [*acknowledged, 500])


def test_a_namespace_that_cannot_be_saved_when_it_closes_harms_no_other(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with opened(small_disk / "data", min_free_bytes=0, open_namespaces=1) as quarry:
        quarry.upsert("other", batch(7), SCHEMA)
        quarry.upsert("n", batch(0), SCHEMA)
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free))
        # Reading either closes the other one, whose graph and log find no room.
        for _ in range(3):
            assert len(quarry.retrieve("other", "word7x", k=50, mode="lexical")) == BATCH
            assert len(quarry.retrieve("n", "word0x", k=50, mode="lexical")) == BATCH
        ballast.unlink()
        quarry.upsert("n", batch(1))
        quarry.drop("other")
        assert_whole(quarry, [0, 1])


def test_a_namespace_that_could_not_be_made_can_be_made_once_there_is_space(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with opened(small_disk / "data", min_free_bytes=0) as quarry:
        quarry.upsert("n", batch(0), SCHEMA)
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free))
        with pytest.raises(StorageError):
            quarry.upsert("late", batch(1), SCHEMA)
        assert [n.name for n in quarry.namespaces()] == ["n"]
        ballast.unlink()
        quarry.upsert("late", batch(1), SCHEMA)
        assert_whole(quarry, [1], "late")
        assert_whole(quarry, [0])

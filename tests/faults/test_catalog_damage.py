"""Damaged, missing and exchanged files of the catalog: refused, never silently older than what was acknowledged."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import CorruptData, DataDirectoryLocked, QuarryError
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from tests.faults.extent import runs
from tests.faults.tally import Tally

# Leaves by the back door, so that the write-ahead log stays.
WRITER = """
import os, sys
from pathlib import Path
from engine.model.schema import Schema
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from tests.catalogs import added
file = CatalogFile.open(Path(sys.argv[1]))
catalog = Catalog(file)
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    added(catalog, f"n{n}")
os._exit(0)
"""


def write(directory: Path, first: int, stop: int) -> None:
    subprocess.run([sys.executable, "-c", WRITER, str(directory), str(first), str(stop)], check=True)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five namespaces in the database file, five more in the log alone."""
    directory = tmp_path_factory.mktemp("crashed")
    write(directory, 0, 5)
    CatalogFile.open(directory).close()
    write(directory, 5, 10)
    assert (directory / "catalog.duckdb.wal").stat().st_size > 0
    return directory


@pytest.fixture
def directory(crashed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crashed, tmp_path / "data"))


def names(directory: Path, *, accept_loss: bool = False) -> list[str]:
    file = CatalogFile.open(directory, accept_loss=accept_loss)
    try:
        return [n.name for n in Catalog(file).namespaces(1)]
    finally:
        file.close()


ALL = [f"n{n}" for n in range(10)]


def test_a_crash_loses_nothing(directory: Path) -> None:
    assert names(directory) == ALL


def zero_head(wal: Path) -> None:
    content = bytearray(wal.read_bytes())
    content[:16] = bytes(16)
    wal.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [Path.unlink, lambda wal: wal.write_bytes(b""), zero_head, lambda wal: wal.write_bytes(wal.read_bytes()[:-200])],
    ids=["missing", "emptied", "head zeroed", "tail cut off"],
)
def test_a_log_without_its_transactions_is_noticed(directory: Path, damage: Callable[[Path], object]) -> None:
    """DuckDB itself opens all of these without complaint."""
    damage(directory / "catalog.duckdb.wal")
    with pytest.raises(CorruptData):
        names(directory)


def test_a_loss_that_the_operator_accepts_opens_with_what_is_left(directory: Path) -> None:
    (directory / "catalog.duckdb.wal").unlink()
    with pytest.raises(CorruptData, match="missing"):
        names(directory)
    assert names(directory, accept_loss=True) == ALL[:5]
    assert names(directory) == ALL[:5]


def test_an_older_database_file_put_back_is_noticed(directory: Path) -> None:
    shutil.copy(directory / "catalog.duckdb", directory / "older")
    assert names(directory) == ALL
    shutil.copy(directory / "older", directory / "catalog.duckdb")
    with pytest.raises(CorruptData):
        names(directory)


def test_a_missing_database_file_is_noticed_and_not_replaced(directory: Path) -> None:
    for name in ("catalog.duckdb", "catalog.duckdb.wal"):
        (directory / name).unlink()
    with pytest.raises(CorruptData):
        names(directory)
    assert not (directory / "catalog.duckdb").exists()
    assert names(directory, accept_loss=True) == []


def test_flipped_bytes_are_refused_or_harmless(directory: Path, tally: Tally) -> None:
    """Never fewer namespaces than were acknowledged, and never an error that is not ours."""
    chance = random.Random(7)
    refused = 0
    for name in ("catalog.duckdb", "catalog.duckdb.wal", "catalog.manifest"):
        sound = (directory / name).read_bytes()
        for _ in range(runs(12, 120)):
            # The first blocks hold headers and metadata, where a flip hurts most.
            offset = chance.randrange(min(len(sound), 3 * 4096) if chance.random() < 0.5 else len(sound))
            damaged = bytearray(sound)
            damaged[offset] ^= 1 << chance.randrange(8)
            copy = Path(shutil.copytree(directory, directory.parent / "copy"))
            (copy / name).write_bytes(damaged)
            with tally.trial("a flipped byte of the catalog: harmless or refused"):
                try:
                    assert names(copy) == ALL, f"{name} at {offset}"
                except QuarryError:
                    refused += 1
            shutil.rmtree(copy)
    assert refused > 0


def test_a_second_process_is_refused_at_once_and_the_first_goes_on(tmp_path: Path) -> None:
    """Even past the lock file, DuckDB keeps a second process out, and the message names the first."""
    file = CatalogFile.open(tmp_path)
    second = subprocess.run(
        [sys.executable, "-c", WRITER, str(tmp_path), "0", "1"], capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert f"{DataDirectoryLocked.__name__}: The data is in use by another process (PID " in second.stderr
    Catalog(file).company("still here")
    file.close()


@pytest.mark.parametrize("size", [0, 4_096, 12_288])
def test_what_a_power_cut_left_of_the_first_opening_is_made_anew(tmp_path: Path, size: int) -> None:
    (tmp_path / "catalog.duckdb").write_bytes(bytes(size))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("gone", "left"), [("catalog.duckdb.wal", "catalog.manifest"), ("catalog.manifest", "catalog.duckdb.wal")]
)
def test_a_catalog_that_was_used_before_is_never_made_anew(directory: Path, gone: str, left: str) -> None:
    (directory / "catalog.duckdb").write_bytes(bytes(12_288))
    (directory / gone).unlink()
    with pytest.raises(QuarryError):
        names(directory)
    assert (directory / "catalog.duckdb").read_bytes() == bytes(12_288)
    assert (directory / left).exists()

"""The catalog on a disk that fills up: nothing acknowledged is lost, and it works again once there is space."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import duckdb
import pytest

from engine.errors import StorageError, StorageFull
from engine.model.schema import Attribute, AttributeType, Schema
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import connect
from tests.catalogs import added

MOUNT, UNMOUNT = shutil.which("mount"), shutil.which("umount")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if MOUNT is None or UNMOUNT is None:
        pytest.skip("needs mount")
    if subprocess.run(
        [MOUNT, "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=False, capture_output=True
    ).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run([UNMOUNT, disk], check=True)


def test_a_checkpoint_on_a_full_disk_breaks_the_database_until_it_is_reopened(small_disk: Path) -> None:
    database = connect(small_disk / "t.duckdb", threads=1, memory_limit="256MB")
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT range AS n, md5(range::VARCHAR) AS text FROM range(60000)")
    ballast = small_disk / "ballast"
    free = shutil.disk_usage(small_disk).free
    ballast.write_bytes(bytes(free - 200_000))
    with pytest.raises(StorageFull):
        database.checkpoint()
    assert database.is_broken
    with pytest.raises(StorageError, match="opened again"), database.reader():
        pass
    ballast.unlink()
    database.reopen()
    with database.transaction() as cursor:
        assert cursor.execute("SELECT count(DISTINCT text) FROM t").fetchone() == (60_000,)
        cursor.execute("INSERT INTO t VALUES (-1, 'after')")
    database.close()


def test_a_catalog_that_broke_mends_itself_once_there_is_space(tmp_path: Path) -> None:
    file = CatalogFile.open(tmp_path)
    catalog = Catalog(file)
    with pytest.raises(StorageError), file.read():
        raise duckdb.FatalException("has been invalidated")
    made = added(catalog, "docs")
    assert Catalog(file).namespaces(1) == [made]
    file.close()


def wide(seed: int) -> Schema:
    """20 kB that nothing compresses to less than half."""
    random = Random(seed)
    return Schema({random.randbytes(50).hex(): Attribute(AttributeType.STRING) for _ in range(200)})


def test_acknowledged_namespaces_outlive_a_full_disk(small_disk: Path) -> None:
    file = CatalogFile.open(small_disk)
    catalog = Catalog(file)
    company = catalog.company("default")
    acknowledged: list[str] = []
    refused = 0
    for n in range(600):
        try:
            added(catalog, f"n{n:03}", wide(n), company)
            acknowledged.append(f"n{n:03}")
        except StorageError:
            refused += 1
            if refused == 3:
                break
    assert refused == 3
    assert len(acknowledged) > 10
    assert set(acknowledged) <= {n.name for n in catalog.namespaces(1)}
    file.close()

    elsewhere = Path(shutil.copytree(small_disk, small_disk.parent / "larger"))
    file = CatalogFile.open(elsewhere)
    catalog = Catalog(file)
    assert set(acknowledged) <= {n.name for n in catalog.namespaces(1)}
    added(catalog, "after", wide(-1), company)
    assert catalog.namespace(1, "after").schema == wide(-1)
    file.close()

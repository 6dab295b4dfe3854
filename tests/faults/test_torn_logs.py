"""A log whose end a power cut tore: cut where nothing was acknowledged, else refused, and repaired on demand."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import engine
from api.cli.main import main
from engine import CorruptData
from tests.embedders import HashingEmbedder

ROOT = Path(__file__).resolve().parents[2]
# Three uploads, of which the last is committed and never acknowledged: the process ends before the side file.
WRITER = """
import os, sys
from pathlib import Path
import engine
from engine.storage.manifest import Manifest
from tests.embedders import HashingEmbedder
quarry = engine.open(Path(sys.argv[1]), embedder=HashingEmbedder(), agent="offline")
for turn in range(3):
    if turn == 2:
        Manifest.record = lambda *_: os._exit(0)
    quarry.upsert("n", [{"id": f"d{turn}", "body": f"turn{turn}t " + "ferry " * 2_000}])
"""
COMPANY = """
import os, sys
from pathlib import Path
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.manifest import Manifest
catalog = Catalog(CatalogFile.open(Path(sys.argv[1])))
Manifest.record = lambda *_: os._exit(0)
catalog.company("never acknowledged")
"""


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crashed") / "data"
    subprocess.run([sys.executable, "-c", WRITER, str(folder)], check=True, cwd=ROOT)
    return folder


@pytest.fixture
def data(crashed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crashed, tmp_path / "data"))


def entries(log: bytes) -> list[tuple[int, int]]:
    """Begin and end of the entries of a log: after a header, each is its size, a checksum, and so many bytes."""
    for first in range(16, 256):
        position, found = first, []
        while position + 16 <= len(log) and (size := struct.unpack_from("<Q", log, position)[0]) < len(log):
            found.append((position, position + 16 + size))
            position += 16 + size
        if position == len(log):
            return found
    raise AssertionError("no log")


def tear(log: Path, share: float) -> None:
    """Turn some bytes of the entry so far into the log, as a page that was not written."""
    content = bytearray(log.read_bytes())
    found = entries(content)
    begin, end = found[min(int(share * len(found)), len(found) - 1)]
    middle = begin + 16 + (end - begin - 16) // 2
    content[middle] ^= 255
    log.write_bytes(bytes(content))


def documents(folder: Path) -> list[str]:
    with opened(folder) as quarry:
        assert quarry.check() == []
        return sorted({h.document_id for h in quarry.retrieve("n", "ferry", k=200, mode="vector")})


def test_a_torn_write_that_nobody_was_told_of_is_cut_and_the_log_kept(data: Path) -> None:
    log = data / "namespaces" / "1" / "documents.duckdb.wal"
    assert documents(Path(shutil.copytree(data, data.parent / "whole"))) == ["d0", "d1", "d2"]
    tear(log, 1)
    torn = log.read_bytes()
    assert documents(data) == ["d0", "d1"]
    assert (log.parent / "documents.duckdb.wal.torn").read_bytes() == torn
    with opened(data) as quarry:
        assert quarry.upsert("n", [{"id": "d3", "body": "ferry after the cut"}]) == 1
    assert documents(data) == ["d0", "d1", "d3"]


def test_a_damaged_acknowledged_write_is_refused_and_nothing_changes(data: Path) -> None:
    log = data / "namespaces" / "1" / "documents.duckdb.wal"
    tear(log, 0.4)
    before = {path.name: path.read_bytes() for path in log.parent.glob("documents.*")}
    for _ in range(2):
        with opened(data) as quarry:
            assert "repair" in quarry.stats()[0].problem
            with pytest.raises(CorruptData):
                quarry.get("n", "d0")
            quarry.upsert("other", [{"id": "1", "body": "goes on"}])
    assert {path.name: path.read_bytes() for path in log.parent.glob("documents.*")} == before


def test_repair_goes_on_from_what_can_be_read_and_keeps_what_was_there(data: Path) -> None:
    log = data / "namespaces" / "1" / "documents.duckdb.wal"
    tear(log, 0.4)
    damaged = log.read_bytes()
    report = engine.repair(data)
    (line,) = report.lines
    assert report.failed == ()
    assert line.startswith("n: ")
    assert "goes on with" in line
    assert (data / "damaged" / "1-1" / log.name).read_bytes() == damaged
    assert set(documents(data)) < {"d0", "d1", "d2"}
    assert engine.repair(data).lines == ()


@pytest.mark.parametrize("is_gone", [False, True], ids=["unreadable", "missing"])
def test_repair_names_what_it_cannot_repair_and_fails(data: Path, is_gone: bool) -> None:
    """A database whose first pages are nonsense, and one that is not there; the namespace beside it stays as it is."""
    with opened(data) as quarry:
        quarry.upsert("whole", [{"id": "1", "body": "ferry"}])
    folder = data / "namespaces" / "1"
    if is_gone:
        shutil.rmtree(folder)
    else:
        database = folder / "documents.duckdb"
        database.write_bytes(b"\xff" * 20_000 + database.read_bytes()[20_000:])
    ran = CliRunner().invoke(main, ["repair", "--data", str(data)])
    assert ran.exit_code == 1
    assert "n: " in ran.output
    assert "1 namespace could not be repaired: restore a backup" in ran.output
    assert "Traceback" not in ran.output
    with opened(data) as quarry:
        assert quarry.get("whole", "1")["body"] == "ferry"
        with pytest.raises(CorruptData):
            quarry.get("n", "d0")


def test_the_catalog_too_is_cut_where_nothing_was_acknowledged(data: Path) -> None:
    subprocess.run([sys.executable, "-c", COMPANY, str(data)], check=True, cwd=ROOT)
    tear(data / "catalog.duckdb.wal", 1)
    assert documents(data) == ["d0", "d1", "d2"]
    assert list(data.glob("catalog.duckdb.wal.torn"))


def test_a_catalog_that_lost_acknowledged_writes_is_repaired_on_demand(data: Path) -> None:
    os.truncate(data / "catalog.duckdb.wal", 0)
    with pytest.raises(CorruptData, match="repair"):
        opened(data)
    report = engine.repair(data)
    assert report.lines[0].startswith("catalog: ")
    with opened(data) as quarry:
        assert quarry.upsert("fresh", [{"id": "1", "body": "goes on"}]) == 1
    # The folder that the catalog forgot is never removed.
    assert (data / "namespaces" / "1" / "documents.duckdb").exists()

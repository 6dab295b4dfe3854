"""Without hnswlib, as an installation without a compiler has it, everything works and rows are scanned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.settings import VectorSettings
from engine.vector.index import VectorIndex
from tests.contracts.vector_index import DIMENSION, unit

ROOT = Path(__file__).resolve().parents[3]

_INDEX = """
import json, sys
import numpy as np
from pathlib import Path
from engine.settings import VectorSettings
from engine.vector.index import VectorIndex
from tests.contracts.vector_index import DIMENSION, unit
assert "hnswlib" not in sys.modules
folder = Path(sys.argv[1])
settings = VectorSettings(m=8, ef_construction=40, graph_from=100, exact_limit=0)
index, seq = VectorIndex.open(folder, DIMENSION, settings)
opened = len(index)
index.add(np.arange(500, 700, dtype=np.int64), unit(1, 200))
index.remove(np.arange(100, 200, dtype=np.int64))
assert index.wait_until_built(60)
found = index.reader().explain(unit(2, 1)[0], 20)
index.save(folder, applied_seq=seq + 1)
again, _ = VectorIndex.open(folder, DIMENSION, settings)
print(json.dumps([opened, found.strategy, found.candidates.labels.tolist(), len(again)]))
"""

_ENGINE = """
import logging, sys
import engine
from tests.embedders import HashingEmbedder
small = engine.VectorSettings(graph_from=1)
with engine.open(sys.argv[1], embedder=HashingEmbedder(), agent="offline", vectors=small) as quarry:
    quarry.upsert("n", [{"id": str(i), "body": f"The ferry number {i} sails."} for i in range(30)])
    quarry.maintain("n")
    print(len(quarry.retrieve("n", "ferry", 5, mode="vector")), quarry.check(), quarry.notices)
"""


def without_hnswlib(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A Python in which the library cannot be imported."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "hnswlib.py").write_text("raise ImportError('not installed')\n")
    path = os.pathsep.join([str(folder / "hidden"), str(ROOT)])
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "QUARRY_DATA": str(folder / "data")},
        timeout=120,
        check=False,
    )


def test_rows_are_scanned_and_saved_and_a_snapshot_with_a_graph_is_read(tmp_path: Path) -> None:
    pytest.importorskip("hnswlib")
    settings = VectorSettings(m=8, ef_construction=40, graph_from=100, exact_limit=0)
    index = VectorIndex(DIMENSION, settings)
    index.add(np.arange(500, dtype=np.int64), unit(0, 500))
    assert index.wait_until_built(60)
    index.remove(np.arange(0, 50, dtype=np.int64))
    index.save(tmp_path / "snapshot", applied_seq=3)
    index.close()

    done = without_hnswlib(tmp_path, "-c", _INDEX, str(tmp_path / "snapshot"))

    assert done.returncode == 0, done.stderr
    opened, strategy, ids, again = json.loads(done.stdout)
    assert (opened, strategy, again) == (450, "exact", 550)
    vectors = np.concatenate([unit(0, 500), unit(1, 200)])
    scores = vectors @ unit(2, 1)[0]
    scores[[*range(50), *range(100, 200)]] = -2.0
    assert sorted(ids) == sorted(np.argsort(-scores)[:20].tolist())
    # What was written without the library is read with it, and the graph is made then.
    back, seq = VectorIndex.open(tmp_path / "snapshot", DIMENSION, settings)
    assert (seq, len(back)) == (4, 550)
    assert back.wait_until_built(60)
    back.save(tmp_path / "snapshot", applied_seq=5)
    assert [path.suffix for path in (tmp_path / "snapshot").iterdir()].count(".links") == 1
    back.close()


def test_the_engine_works_and_says_what_it_goes_without(tmp_path: Path) -> None:
    done = without_hnswlib(tmp_path, "-c", _ENGINE, str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('5 [] ["hnswlib is not installed')


def test_quarry_check_says_so_and_finds_nothing_wrong(tmp_path: Path) -> None:
    engine.open(tmp_path / "data").close()
    done = without_hnswlib(tmp_path, "-c", "from api.cli.main import main; main()", "check")
    assert (done.returncode, done.stdout) == (0, "0 namespaces are sound\n")
    assert "hnswlib is not installed" in done.stderr


@pytest.mark.timeout(120)
def test_a_server_says_so_when_asked_whether_it_is_ready_and_in_its_log(tmp_path: Path) -> None:
    code = """
import asyncio, sys
from pathlib import Path
from litestar.testing import TestClient
from api.app import create_app
from api.logs import configure_logging
from api.settings import Settings
configure_logging("info", "json")
with TestClient(create_app(Settings(data=Path(sys.argv[1])))) as client:
    print(client.get("/readyz").text)
"""
    done = without_hnswlib(tmp_path, "-c", code, str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert "hnswlib is not installed" in json.loads(done.stdout)["notices"][0]
    assert any("hnswlib is not installed" in json.loads(line)["message"] for line in done.stderr.splitlines())

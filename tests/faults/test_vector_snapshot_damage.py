"""A damaged snapshot is never loaded: flipped, cut, missing or foreign files lead to "build anew", not to a signal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.errors import StorageFull
from engine.settings import VectorSettings
from engine.vector import snapshot_file
from engine.vector.index import VectorIndex
from tests.contracts.vector_index import DIMENSION, labels, unit

pytest.importorskip("hnswlib")

_SETTINGS = VectorSettings(m=8, ef_construction=40, graph_from=100)

_FLIPS = """
import random, sys
from pathlib import Path
from engine.vector.index import VectorIndex
folder, seed = Path(sys.argv[1]), 7
rng = random.Random(seed)
index, seq = VectorIndex.open(folder, 12)
assert (seq, len(index)) == (5, 440), "the whole snapshot opens"
for path in sorted(folder.iterdir()):
    content = path.read_bytes()
    places = range(len(content)) if len(content) < 600 else [rng.randrange(len(content)) for _ in range(120)]
    for place in [*places, *range(min(96, len(content)))]:
        broken = bytearray(content)
        broken[place] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        index, seq = VectorIndex.open(folder, 12)
        if path.suffix == ".links":
            # The rows are sound, and scanned; these links are never loaded.
            assert index.wait_until_built(60)
            assert (seq, len(index), index._epoch.built.graph) == (5, 440, None), place
        else:
            assert (seq, len(index)) == (-1, 0), (path.name, place)
        index.close()
    for length in [0, *(rng.randrange(len(content)) for _ in range(20))]:
        path.write_bytes(content[:length])
        index, seq = VectorIndex.open(folder, 12)
        assert (seq, len(index)) == (-1, 0), (path.name, length)
    path.write_bytes(content + b"x")
    assert VectorIndex.open(folder, 12)[1] == -1, path.name
    path.unlink()
    assert VectorIndex.open(folder, 12)[1] == -1, path.name
    path.write_bytes(content)
assert VectorIndex.open(folder, 12)[1] == 5
"""


def saved(folder: Path) -> VectorIndex:
    """500 rows in the graph of which 80 are removed, then 20 that wait."""
    index = VectorIndex(DIMENSION, _SETTINGS)
    index.add(np.arange(500, dtype=np.int64), unit(0, 500))
    assert index.wait_until_built(60)
    index.remove(np.arange(0, 40, dtype=np.int64))
    index.close()
    index.remove(np.arange(40, 80, dtype=np.int64))
    index.add(np.arange(500, 520, dtype=np.int64), unit(1, 20))
    index.save(folder, applied_seq=5)
    return index


def test_no_damage_goes_unnoticed(tmp_path: Path) -> None:
    saved(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _FLIPS, str(tmp_path)], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr


def test_a_folder_that_is_not_there_or_empty_means_build_anew(tmp_path: Path) -> None:
    assert VectorIndex.open(tmp_path / "none", DIMENSION)[1] == -1
    assert VectorIndex.open(tmp_path, DIMENSION)[1] == -1


def test_another_dimension_means_build_anew(tmp_path: Path) -> None:
    saved(tmp_path)
    assert VectorIndex.open(tmp_path, DIMENSION + 1)[1] == -1


@pytest.mark.parametrize("change", [{"format": 3}, {"later": 1}])
def test_a_snapshot_of_another_version_means_build_anew(tmp_path: Path, change: dict[str, object]) -> None:
    saved(tmp_path)
    reseal(tmp_path, change)
    assert VectorIndex.open(tmp_path, DIMENSION)[1] == -1


def test_the_links_of_another_library_are_made_anew(tmp_path: Path) -> None:
    saved(tmp_path)
    reseal(tmp_path, {"hnswlib": "0.9.0"})
    again, seq = VectorIndex.open(tmp_path, DIMENSION, _SETTINGS)
    assert (seq, len(again), again.is_built) == (5, 440, False)
    assert again.wait_until_built(60)
    again.close()


def reseal(tmp_path: Path, change: dict[str, object]) -> None:
    """Change the side file and its checksum."""
    path = tmp_path / "0.json"
    side = json.loads(path.read_bytes()) | change
    known = {key: value for key, value in side.items() if key in snapshot_file.SideFile.__struct_fields__}
    stamps = {key: snapshot_file.FileStamp(**side[key]) for key in ("links", "rows")}
    sealed = snapshot_file.SideFile(**(known | stamps | {"crc32": 0})).sealed()
    path.write_text(json.dumps(side | {"crc32": sealed.crc32}))


def test_a_side_file_moved_to_another_generation_is_not_believed(tmp_path: Path) -> None:
    saved(tmp_path)
    for suffix in ("json", "rows", "links"):
        (tmp_path / f"0.{suffix}").rename(tmp_path / f"3.{suffix}")
    assert VectorIndex.open(tmp_path, DIMENSION)[1] == -1


def test_an_unfinished_newer_generation_leaves_the_older_one_in_use(tmp_path: Path) -> None:
    index = saved(tmp_path)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    index.remove(labels(501))
    index.save(tmp_path, applied_seq=6)
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "1.json").write_bytes(b"{")
    (tmp_path / "2.hnsw.tmp").write_bytes(b"half")
    again, seq = VectorIndex.open(tmp_path, DIMENSION)
    assert (seq, len(again)) == (5, 440)
    assert again.wait_until_built(60)
    again.save(tmp_path, applied_seq=8)
    assert {path.name for path in tmp_path.iterdir()} == {"2.links", "2.rows", "2.json"}


@pytest.mark.parametrize("failing", range(4))
def test_a_save_that_fails_leaves_the_snapshot_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    index = saved(tmp_path)
    calls = [0]
    fsync = snapshot_file.os.fsync

    def fail_once(descriptor: int) -> None:
        calls[0] += 1
        if calls[0] == failing + 1:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(snapshot_file.os, "fsync", fail_once)
    index.remove(labels(501))
    with pytest.raises(StorageFull):
        index.save(tmp_path, applied_seq=6)
    # The last call syncs the folder: by then the new snapshot is whole, only not yet sure to outlast a power cut.
    again, seq = VectorIndex.open(tmp_path, DIMENSION)
    assert (seq, len(again)) == ((6, 439) if failing == 3 else (5, 440))
    index.save(tmp_path, applied_seq=7)
    assert VectorIndex.open(tmp_path, DIMENSION)[1] == 7

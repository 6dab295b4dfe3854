"""The wrapper around hnswlib: what the library would not survive is refused before it."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import numpy as np
import pytest

from engine.errors import StorageError
from engine.vector.hnsw import HnswGraph
from engine.vector.hnsw_file import write_graph, write_links
from tests.contracts.vector_index import labels, unit

pytest.importorskip("hnswlib")


def graph_of(count: int, dimension: int = 16, *, seed: int = 0) -> HnswGraph:
    graph = HnswGraph.create(dimension, m=16, ef_construction=80)
    graph.add(np.arange(count, dtype=np.int64), unit(seed, count, dimension))
    return graph


def test_the_nearest_rows_are_those_of_a_scan() -> None:
    graph, rows = graph_of(3_000), unit(0, 3_000, 16)
    hits = 0
    for query in unit(1, 50, 16):
        found = graph.nearest(query, 100)
        assert found is not None
        hits += len(set(found.labels[:10].tolist()) & set(np.argsort(-(rows @ query))[:10].tolist()))
        np.testing.assert_allclose(found.scores, rows[found.labels] @ query, atol=1e-5)
        assert (np.diff(found.scores) <= 0).all()
    assert hits / 500 >= 0.95


def test_an_empty_graph_finds_nothing() -> None:
    graph = HnswGraph.create(16, m=16, ef_construction=80)
    found = graph.nearest(unit(1, 1, 16)[0], 10)
    assert found is not None
    assert len(found) == 0


def test_breadth_is_cut_to_the_live_rows() -> None:
    graph = graph_of(20)
    graph.mark_removed(np.arange(15, dtype=np.int64))
    found = graph.nearest(unit(1, 1, 16)[0], 100)
    assert found is not None
    assert sorted(found.labels.tolist()) == [15, 16, 17, 18, 19]


def test_marking_ignores_unknown_labels_and_counts_each_row_once() -> None:
    graph = graph_of(10)
    assert graph.mark_removed(labels(3, 3, 99, -4, 2**62)) == 1
    assert graph.mark_removed(labels(3, 4)) == 1
    assert (len(graph), graph.total, graph.removed) == (8, 10, 2)


def test_capacity_grows_as_rows_come() -> None:
    graph = HnswGraph.create(4, m=8, ef_construction=20)
    for start in range(0, 20_000, 4_000):
        graph.add(np.arange(start, start + 4_000, dtype=np.int64), unit(start, 4_000, 4))
    assert len(graph) == 20_000


@pytest.mark.parametrize(
    ("bad_labels", "bad_rows"),
    [
        (labels(9), unit(1, 1, 16)),
        (labels(11, 10), unit(1, 2, 16)),
        (labels(10), unit(1, 1, 15)),
        (labels(10), unit(1, 1, 16) * np.float32("nan")),
        (labels(10), unit(1, 1, 16) * 0),
        (labels(10), unit(1, 1, 16).astype(np.float64)),
    ],
)
def test_bad_rows_never_reach_the_graph(bad_labels: np.ndarray, bad_rows: np.ndarray) -> None:
    graph = graph_of(10)
    with pytest.raises(ValueError):
        graph.add(bad_labels, bad_rows)
    assert graph.total == 10


def test_rows_that_are_not_contiguous_are_added_as_they_read() -> None:
    graph = HnswGraph.create(16, m=16, ef_construction=80)
    graph.add(np.arange(5, dtype=np.int64), np.asfortranarray(unit(1, 10, 16))[::2])
    found = graph.nearest(unit(1, 10, 16)[4], 5)
    assert found is not None
    assert found.labels[0] == 2


def test_a_dimension_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        HnswGraph.create(0, m=16, ef_construction=80)


def test_a_saved_graph_answers_as_before(tmp_path: Path) -> None:
    graph = graph_of(500)
    graph.mark_removed(np.arange(0, 500, 5, dtype=np.int64))
    saved = graph.save(tmp_path / "x.hnsw")
    assert (saved.total, saved.top) == (500, 499)

    again = HnswGraph.load(tmp_path / "x.hnsw", 16, total=500, removed=100)
    query = unit(2, 1, 16)[0]
    first, second = graph.nearest(query, 20), again.nearest(query, 20)
    assert first is not None
    assert second is not None
    assert first.labels.tolist() == second.labels.tolist()
    with pytest.raises(ValueError):
        again.add(labels(499), unit(1, 1, 16))
    again.add(labels(500), query[np.newaxis])
    found = again.nearest(query, 20)
    assert found is not None
    assert found.labels[0] == 500


def test_a_graph_without_its_vectors_is_made_whole_again_byte_for_byte(tmp_path: Path) -> None:
    graph = graph_of(500)
    graph.mark_removed(np.arange(0, 500, 5, dtype=np.int64))
    graph.save(tmp_path / "x.hnsw")
    with (tmp_path / "x.links").open("wb") as file:
        write_links(tmp_path / "x.hnsw", file, 16)
    assert (tmp_path / "x.links").stat().st_size == (tmp_path / "x.hnsw").stat().st_size - 500 * 16 * 4
    with (tmp_path / "again.hnsw").open("wb") as file:
        assert write_graph(tmp_path / "x.links", file, 16, lambda asked: unit(0, 500, 16)[asked]) == 100
    assert (tmp_path / "again.hnsw").read_bytes() == (tmp_path / "x.hnsw").read_bytes()


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    graph_of(50).save(tmp_path / "x.hnsw")
    with pytest.raises(StorageError):
        write_links(tmp_path / "x.hnsw", io.BytesIO(), 17)
    with pytest.raises(StorageError):
        HnswGraph.load(tmp_path / "x.hnsw", 16, total=51, removed=0)
    (tmp_path / "short").write_bytes((tmp_path / "x.hnsw").read_bytes()[:80])
    with pytest.raises(StorageError):
        write_links(tmp_path / "short", io.BytesIO(), 16)
    (tmp_path / "cut").write_bytes((tmp_path / "x.hnsw").read_bytes()[:-2_000])
    with pytest.raises(StorageError):
        HnswGraph.load(tmp_path / "cut", 16, total=50, removed=0)


def test_a_save_that_the_library_reports_as_done_but_was_not_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        graph_of(5).save(tmp_path / "no such folder" / "x.hnsw")


def test_queries_go_on_while_rows_are_added() -> None:
    graph = graph_of(2_000)
    stop = threading.Event()
    answers: list[int] = []

    def ask() -> None:
        for query in np.tile(unit(5, 50, 16), (1_000, 1)):
            if stop.is_set():
                return
            found = graph.nearest(query, 50)
            answers.append(-1 if found is None else len(found))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for start in range(2_000, 10_000, 500):
        graph.add(np.arange(start, start + 500, dtype=np.int64), unit(start, 500, 16))
    stop.set()
    for thread in threads:
        thread.join()
    # None means "scan instead": a thread that was interrupted while it linked a row may cause a few.
    assert set(answers) <= {50, -1}
    assert answers.count(-1) <= len(answers) // 20

"""Which way a search goes, what the graph must reach, and when rows and graph are built anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.settings import VectorSettings
from engine.vector import graph_walk
from engine.vector import index as index_module
from engine.vector.exact import ExactReader
from engine.vector.hnsw import HnswGraph
from engine.vector.index import VectorIndex
from tests.contracts.vector_index import labels, unit

pytest.importorskip("hnswlib")

DIMENSION, COUNT = 32, 12_000
SETTINGS = VectorSettings(m=16, ef_construction=60, ef_search=100, exact_limit=500, graph_from=1_000)


def clustered(seed: int, count: int) -> np.ndarray:
    """Unit rows around 20 centres, each row as far from its centre as real texts of one topic are."""
    rng = np.random.default_rng(seed)
    centres = unit(99, 20, DIMENSION)
    rows = centres[rng.integers(0, 20, count)] + 0.6 * unit(seed, count, DIMENSION)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


ROWS = clustered(1, COUNT)
QUERIES = clustered(2, 40)


@pytest.fixture(scope="module")
def built() -> Iterator[VectorIndex]:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    assert index.wait_until_built(120)
    yield index
    index.close()


def recall(index: VectorIndex, allowed: np.ndarray | None, k: int = 10) -> tuple[float, set[str]]:
    """Mean recall@k against a scan, and the strategies that ran."""
    reader = index.reader()
    exact = ExactReader(reader._view)
    shares, strategies = [], set()
    for query in QUERIES:
        explained = reader.explain(query, k, allowed=allowed)
        truth = exact.search(query, k, allowed=allowed)
        # Ties are excused by score: a row as near as the last true one counts.
        shares.append(np.count_nonzero(explained.candidates.scores >= truth.scores[-1] - 1e-6) / len(truth))
        strategies.add(explained.strategy)
    return float(np.mean(shares)), strategies


def test_without_a_filter_the_graph_answers(built: VectorIndex) -> None:
    share, strategies = recall(built, None)
    assert strategies == {"graph"}
    assert share >= 0.97


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_wide_filter_goes_through_the_graph(built: VectorIndex, share: float) -> None:
    allowed = np.flatnonzero(np.random.default_rng(5).random(COUNT) < share).astype(np.int64)
    # Twelve thousand rows are scanned faster than walked; make the walk cheap so that it runs.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_walk, "ROWS_A_STEP", 1.0)
        found, strategies = recall(built, allowed)
    assert strategies == {"graph"}
    assert found >= 0.99


@pytest.mark.parametrize("share", [0.001, 0.01, 0.04])
def test_a_narrow_filter_is_scanned(built: VectorIndex, share: float) -> None:
    allowed = np.flatnonzero(np.random.default_rng(6).random(COUNT) < share).astype(np.int64)
    assert recall(built, allowed) == (1.0, {"exact"})


def test_a_filter_far_from_the_query_ends_in_a_scan(built: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_walk, "ROWS_A_STEP", 1.0)
    reader = built.reader()
    query = QUERIES[0]
    far = np.sort(np.argsort(ROWS @ query)[: COUNT // 2]).astype(np.int64)
    explained = reader.explain(query, 10, allowed=far)
    assert explained.strategy == "graph, then exact"
    assert (
        explained.candidates.labels.tolist() == ExactReader(reader._view).search(query, 10, allowed=far).labels.tolist()
    )


def test_a_filter_near_the_query_is_no_reason_to_look_far(built: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_walk, "ROWS_A_STEP", 0.1)
    reader = built.reader()
    query = QUERIES[0]
    near = np.sort(np.argsort(-(ROWS @ query))[: COUNT // 10]).astype(np.int64)
    scattered = np.flatnonzero(np.random.default_rng(7).random(COUNT) < 0.1).astype(np.int64)
    assert reader.explain(query, 10, allowed=near).fetched < reader.explain(query, 10, allowed=scattered).fetched


def test_a_filter_that_allows_everything_is_none(built: VectorIndex) -> None:
    explained = built.reader().explain(QUERIES[0], 10, allowed=np.arange(COUNT + 5, dtype=np.int64))
    assert (explained.strategy, explained.scanned) == ("graph", 0)


def test_a_graph_that_cannot_answer_is_stood_in_for_by_a_scan(
    built: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(graph: HnswGraph, query: np.ndarray, k: int) -> None:
        return None

    monkeypatch.setattr(HnswGraph, "nearest", nothing)
    assert recall(built, None) == (1.0, {"exact"})


def test_few_rows_need_no_graph() -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(1_000, dtype=np.int64), ROWS[:1_000])
    assert index.is_built
    assert index.reader().explain(QUERIES[0], 5).strategy == "exact"
    index.add(labels(1_000), ROWS[1_000:1_001])
    assert index.wait_until_built(60)
    assert index._epoch.built.graph is not None
    index.close()


def test_rows_are_found_before_the_graph_holds_them() -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.close()
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    assert not index.is_built
    assert not index.wait_until_built(0.01)
    assert recall(index, None) == (1.0, {"exact"})


def test_rows_added_to_a_built_graph_are_merged_with_what_it_finds(
    built: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built._worker, "wake", lambda: None)
    built.add(np.arange(COUNT, COUNT + 40, dtype=np.int64), QUERIES)
    for number, query in enumerate(QUERIES):
        explained = built.reader().explain(query, 10)
        assert explained.strategy == "graph"
        assert explained.scanned == 40
        assert explained.candidates.labels[0] == COUNT + number
    built.remove(np.arange(COUNT, COUNT + 40, dtype=np.int64))
    assert built.reader().explain(QUERIES[0], 10).candidates.labels.max() < COUNT


def test_removed_rows_stay_findable_for_a_reader_that_saw_them_through_the_graph(built: VectorIndex) -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    assert index.wait_until_built(120)
    reader = index.reader()
    before = [reader.explain(query, 10).candidates.labels.tolist() for query in QUERIES]
    index.remove(np.unique(np.concatenate(before)).astype(np.int64))
    for query, found in zip(QUERIES, before, strict=True):
        explained = reader.explain(query, 10)
        assert explained.strategy == "graph"
        assert explained.candidates.labels.tolist() == found
        assert not set(index.reader().search(query, 10).labels.tolist()) & set(found)
    index.close()


def test_many_dead_rows_start_everything_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_walk, "ROWS_A_STEP", 1.0)
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(6_000, dtype=np.int64), ROWS[:6_000])
    assert index.wait_until_built(60)
    reader, old = index.reader(), index._epoch
    index.remove(np.arange(0, 6_000, 2, dtype=np.int64))
    assert index.wait_until_built(60)
    assert index._epoch is not old
    graph = index._epoch.built.graph
    assert graph is not None
    assert (graph.total, graph.removed, len(index._epoch.table.view())) == (3_000, 0, 3_000)
    share, strategies = recall(index, None)
    assert share >= 0.97
    assert strategies == {"graph"}
    assert len(reader) == 6_000
    assert reader.search(ROWS[0], 1).labels.tolist() == [0]
    with pytest.raises(ValueError):
        index.add(labels(5_999), ROWS[:1])
    index.close()


def test_an_index_that_shrinks_far_enough_lets_its_graph_go() -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(2_000, dtype=np.int64), ROWS[:2_000])
    assert index.wait_until_built(60)
    index.remove(np.arange(100, 2_000, dtype=np.int64))
    assert index.wait_until_built(60)
    assert index._epoch.built.graph is None
    assert index.reader().explain(ROWS[5], 1).candidates.labels.tolist() == [5]
    index.close()


def test_replacing_the_same_rows_again_and_again_does_not_pile_up() -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(100, dtype=np.int64), ROWS[:100])
    for turn in range(1, 60):
        index.add(np.arange(turn * 100, turn * 100 + 100, dtype=np.int64), ROWS[:100])
        index.remove(np.arange(turn * 100 - 100, turn * 100, dtype=np.int64))
    assert index.wait_until_built(60)
    assert len(index._epoch.table.view()) <= 200
    assert len(index) == 100
    index.close()


def test_what_happens_while_it_is_built_anew_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(4_000, dtype=np.int64), ROWS[:4_000])
    assert index.wait_until_built(60)
    under_way, go_on = threading.Event(), threading.Event()
    add_batch = VectorIndex._add_batch

    def held(self: VectorIndex, *args: object) -> int:
        under_way.set()
        assert go_on.wait(60)
        return add_batch(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(VectorIndex, "_add_batch", held)
    index.remove(np.arange(2_000, dtype=np.int64))
    assert under_way.wait(60)
    index.add(np.arange(4_000, 4_050, dtype=np.int64), ROWS[4_000:4_050])
    index.remove(np.array([3_000, 4_001], np.int64))
    go_on.set()
    assert index.wait_until_built(60)
    reader = index.reader()
    assert len(reader) == 2_048
    assert reader.search(ROWS[4_000], 1).labels.tolist() == [4_000]
    for gone in (3_000, 4_001, 5):
        assert gone not in reader.search(ROWS[gone], 5).labels
    index.close()


def test_clearing_forgets_rows_and_labels_even_under_the_builder() -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    for turn in range(5):
        index.add(np.arange(3_000, dtype=np.int64), ROWS[turn * 1_000 : turn * 1_000 + 3_000])
        time.sleep(0.01 * turn)
        index.clear()
        assert len(index.reader()) == 0
    index.add(np.arange(3_000, dtype=np.int64), ROWS[:3_000])
    assert index.wait_until_built(60)
    assert index.reader().search(ROWS[7], 1).labels.tolist() == [7]
    assert len(index) == 3_000
    index.close()


def test_an_index_without_a_dimension_holds_nothing() -> None:
    index = VectorIndex(0)
    index.add(np.empty(0, np.int64), np.empty((0, 0), np.float32))
    assert len(index.reader()) == 0
    assert index.is_built
    index.close()


def test_a_failing_builder_costs_speed_only(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(graph: HnswGraph, labels: np.ndarray, vectors: np.ndarray) -> None:
        raise MemoryError

    monkeypatch.setattr(HnswGraph, "add", fail)
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    assert not index.wait_until_built(60)
    assert "background work failed" in caplog.text
    assert recall(index, None) == (1.0, {"exact"})
    index.close()


def test_closing_does_not_wait_for_the_whole_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    add_batch = VectorIndex._add_batch

    def counted(self: VectorIndex, *args: object) -> int:
        batches.append(1)
        return add_batch(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(VectorIndex, "_add_batch", counted)
    monkeypatch.setattr(index_module, "BATCH_ROWS", 50)
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    index.close()
    assert len(batches) < COUNT // 50
    after = len(batches)
    assert recall(index, None)[0] == 1.0
    assert len(batches) == after


def test_a_snapshot_taken_while_the_graph_is_being_built_is_whole(tmp_path: Path) -> None:
    index = VectorIndex(DIMENSION, SETTINGS)
    index.add(np.arange(COUNT, dtype=np.int64), ROWS)
    while index._epoch.built.rows < 2_000:
        time.sleep(0.001)
    index.remove(labels(5, 11_999))
    index.save(tmp_path, applied_seq=3)
    index.close()

    again, seq = VectorIndex.open(tmp_path, DIMENSION, SETTINGS)
    assert (seq, len(again)) == (3, COUNT - 2)
    assert again.wait_until_built(120)
    share, strategies = recall(again, None)
    assert share >= 0.97
    assert strategies == {"graph"}
    assert 5 not in again.reader().search(ROWS[5], 20).labels
    again.close()

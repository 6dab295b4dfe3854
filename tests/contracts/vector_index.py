"""What every vector index must do. Subclass and give `make` and `settle`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.vector.index import VectorIndex
from engine.vector.protocol import VectorReader, VectorWriter

DIMENSION = 12
TOLERANCE = 4e-5
"""Of a cosine similarity; rows may be kept in two bytes a component."""


def unit(seed: int, count: int, dimension: int = DIMENSION) -> np.ndarray:
    """Seeded unit rows, shape ``(count, dimension)``, float32."""
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def labels(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


class VectorIndexContract:
    def make(self) -> VectorWriter:
        raise NotImplementedError

    def settle(self, index: VectorWriter) -> None:
        """Wait for whatever the implementation does in the background."""

    def open(self, folder: Path) -> tuple[VectorWriter, int]:
        return VectorIndex.open(folder, DIMENSION)

    def filled(self, count: int = 300, *, start: int = 0, step: int = 1) -> VectorWriter:
        index = self.make()
        index.add(np.arange(start, start + count * step, step, dtype=np.int64), unit(0, count))
        self.settle(index)
        return index

    def test_an_empty_index_finds_nothing(self) -> None:
        reader = self.make().reader()
        assert len(reader) == 0
        assert len(reader.search(unit(1, 1)[0], 5)) == 0
        assert reader.scores(unit(1, 1)[0], labels(1, 2)).tolist() == [-1.0, -1.0]

    def test_a_row_finds_itself_first_with_similarity_one(self) -> None:
        reader = self.filled().reader()
        for row in (0, 7, 299):
            found = reader.search(unit(0, 300)[row], 3)
            assert found.labels[0] == row
            assert found.scores[0] == pytest.approx(1.0, abs=TOLERANCE)

    def test_results_equal_a_scan_of_all_rows(self) -> None:
        reader = self.filled(start=5, step=3).reader()
        rows = unit(0, 300)
        for query in unit(2, 20):
            found = reader.search(query, 10)
            truth = rows @ query
            np.testing.assert_allclose(found.scores, np.sort(truth)[::-1][:10], atol=TOLERANCE)
            np.testing.assert_allclose(truth[(found.labels - 5) // 3], found.scores, atol=TOLERANCE)
            assert found.labels.dtype == np.int64
            assert found.scores.dtype == np.float32

    def test_scores_never_increase_and_labels_are_distinct(self) -> None:
        found = self.filled().reader().search(unit(3, 1)[0], 50)
        assert (np.diff(found.scores) <= 0).all()
        assert len(set(found.labels.tolist())) == 50

    def test_scores_stay_within_their_range(self) -> None:
        index = self.make()
        index.add(labels(1, 2), np.stack([unit(1, 1)[0], -unit(1, 1)[0]]))
        self.settle(index)
        found = index.reader().search(unit(1, 1)[0], 2)
        assert found.scores.max() <= 1.0
        assert found.scores.min() >= -1.0

    def test_equal_scores_go_to_the_smaller_label(self) -> None:
        index = self.make()
        index.add(np.arange(10, 20, dtype=np.int64), np.repeat(unit(1, 1), 10, axis=0))
        self.settle(index)
        assert index.reader().search(unit(1, 1)[0], 10).labels.tolist() == list(range(10, 20))

    def test_k_beyond_the_rows_returns_all_and_k_zero_none(self) -> None:
        reader = self.filled(5).reader()
        assert len(reader.search(unit(1, 1)[0], 100)) == 5
        assert len(reader.search(unit(1, 1)[0], 0)) == 0

    def test_allowed_is_a_hard_limit(self) -> None:
        reader = self.filled().reader()
        for query in unit(4, 10):
            assert set(reader.search(query, 50, allowed=labels(3, 9)).labels.tolist()) == {3, 9}

    def test_filtered_results_equal_a_scan_of_the_allowed(self) -> None:
        reader = self.filled().reader()
        rows = unit(0, 300)
        for seed, share in ((1, 0.05), (2, 0.3), (3, 0.6), (4, 0.99)):
            allowed = np.flatnonzero(np.random.default_rng(seed).random(300) < share).astype(np.int64)
            for query in unit(5, 5):
                found = reader.search(query, 10, allowed=allowed)
                assert set(found.labels.tolist()) <= set(allowed.tolist())
                np.testing.assert_allclose(found.scores, np.sort(rows[allowed] @ query)[::-1][:10], atol=TOLERANCE)

    def test_unknown_and_removed_allowed_labels_are_ignored(self) -> None:
        index = self.filled(20, start=10)
        index.remove(labels(12))
        reader = index.reader()
        found = reader.search(unit(1, 1)[0], 9, allowed=labels(0, 9, 12, 15, 29, 30, 2**62))
        assert sorted(found.labels.tolist()) == [15, 29]

    def test_an_empty_allowed_set_finds_nothing(self) -> None:
        assert len(self.filled().reader().search(unit(1, 1)[0], 5, allowed=np.empty(0, np.int64))) == 0

    def test_removed_rows_do_not_return(self) -> None:
        index = self.filled()
        gone = np.arange(0, 300, 2, dtype=np.int64)
        index.remove(gone)
        index.remove(labels(0, 0, 5_000_000))
        reader = index.reader()
        assert len(reader) == 150
        for query in unit(6, 5):
            found = reader.search(query, 300)
            assert len(found) == 150
            assert not set(found.labels.tolist()) & set(gone.tolist())
            assert (reader.scores(query, gone) == -1.0).all()

    def test_everything_can_be_removed_and_more_added(self) -> None:
        index = self.filled(50)
        index.remove(np.arange(50, dtype=np.int64))
        assert len(index.reader().search(unit(1, 1)[0], 5)) == 0
        index.add(labels(60), unit(7, 1))
        self.settle(index)
        assert index.reader().search(unit(1, 1)[0], 5).labels.tolist() == [60]

    def test_a_reader_does_not_see_later_writes(self) -> None:
        index = self.filled()
        reader = index.reader()
        queries = unit(8, 10)
        before = [reader.search(query, 20) for query in queries]
        index.remove(np.unique(np.concatenate([found.labels[:10] for found in before])))
        index.add(np.arange(300, 310, dtype=np.int64), queries)
        self.settle(index)
        assert len(reader) == 300
        for query, found in zip(queries, before, strict=True):
            again = reader.search(query, 20)
            assert again.labels.tolist() == found.labels.tolist()
            np.testing.assert_allclose(again.scores, found.scores, atol=TOLERANCE)
            assert index.reader().search(query, 1).labels[0] >= 300

    def test_scores_equal_the_products_in_the_order_asked(self) -> None:
        reader = self.filled().reader()
        query = unit(9, 1)[0]
        asked = labels(299, 4, 4, 1_000, 0)
        rows = unit(0, 300)
        expected = [rows[299] @ query, rows[4] @ query, rows[4] @ query, -1.0, rows[0] @ query]
        np.testing.assert_allclose(reader.scores(query, asked), expected, atol=TOLERANCE)

    def test_labels_may_be_as_large_as_they_come(self) -> None:
        index = self.make()
        index.add(labels(2**40, 2**62), unit(1, 2))
        self.settle(index)
        assert sorted(index.reader().search(unit(1, 1)[0], 5).labels.tolist()) == [2**40, 2**62]

    @pytest.mark.parametrize(
        ("bad_labels", "bad_rows"),
        [
            (labels(300, 300), unit(1, 2)),
            (labels(301, 300), unit(1, 2)),
            (labels(299), unit(1, 1)),
            (labels(-1), unit(1, 1)),
            (labels(300), unit(1, 2)),
            (labels(300), unit(1, 1, DIMENSION + 1)),
            (labels(300), unit(1, 1).astype(np.float64)),
            (labels(300), unit(1, 1)[0]),
            (np.array([300], np.int32), unit(1, 1)),
            (labels(300), unit(1, 1) * 2),
            (labels(300), unit(1, 1) * 0),
            (labels(300), unit(1, 1) * np.float32("nan")),
            (labels(300), unit(1, 1) * np.float32("inf")),
        ],
    )
    def test_bad_rows_are_refused_whole(self, bad_labels: np.ndarray, bad_rows: np.ndarray) -> None:
        index = self.filled()
        with pytest.raises(ValueError):
            index.add(bad_labels, bad_rows)
        assert len(index.reader()) == 300
        index.add(labels(300), unit(1, 1))

    @pytest.mark.parametrize(
        "query",
        [
            unit(1, 1, DIMENSION + 1)[0],
            unit(1, 1),
            unit(1, 1)[0].astype(np.float64),
            unit(1, 1)[0] * 0,
            unit(1, 1)[0] * np.float32("nan"),
            unit(1, 1)[0] * 3,
        ],
    )
    def test_bad_queries_are_refused(self, query: np.ndarray) -> None:
        reader = self.filled().reader()
        with pytest.raises(ValueError):
            reader.search(query, 3)
        with pytest.raises(ValueError):
            reader.scores(query, labels(1))

    def test_a_negative_k_and_unordered_allowed_labels_are_refused(self) -> None:
        reader = self.filled().reader()
        with pytest.raises(ValueError):
            reader.search(unit(1, 1)[0], -1)
        for allowed in (labels(3, 2), labels(3, 3)):
            with pytest.raises(ValueError):
                reader.search(unit(1, 1)[0], 3, allowed=allowed)

    def test_a_snapshot_brings_everything_back(self, tmp_path: Path) -> None:
        index = self.filled()
        index.remove(np.arange(0, 60, dtype=np.int64))
        index.add(np.arange(400, 420, dtype=np.int64), unit(11, 20))
        index.remove(labels(405))
        before = index.reader()
        index.save(tmp_path / "vectors", applied_seq=17)
        index.close()

        again, applied_seq = self.open(tmp_path / "vectors")
        assert applied_seq == 17
        assert_same(before, again.reader())
        with pytest.raises(ValueError):
            again.add(labels(419), unit(1, 1))
        again.add(labels(420), unit(1, 1))
        assert again.reader().search(unit(1, 1)[0], 1).labels.tolist() == [420]
        again.close()

    def test_the_newest_snapshot_counts(self, tmp_path: Path) -> None:
        index = self.filled(10)
        index.save(tmp_path, applied_seq=1)
        index.remove(labels(3))
        index.save(tmp_path, applied_seq=2)
        again, applied_seq = self.open(tmp_path)
        assert (applied_seq, len(again.reader())) == (2, 9)
        assert {path.stem for path in tmp_path.iterdir()} == {"1"}

    def test_closing_twice_is_harmless_and_readers_go_on(self) -> None:
        index = self.filled(50)
        reader = index.reader()
        index.close()
        index.close()
        assert len(reader.search(unit(1, 1)[0], 5)) == 5


def assert_same(one: VectorReader, other: VectorReader) -> None:
    assert len(one) == len(other)
    for query in unit(12, 5):
        first, second = one.search(query, 1_000), other.search(query, 1_000)
        assert first.labels.tolist() == second.labels.tolist()
        np.testing.assert_allclose(first.scores, second.scores, atol=TOLERANCE)

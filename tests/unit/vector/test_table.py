"""Rows across blocks, views that never change, and two ways of finding rows by label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vector.exact import scan, scores_of, similarities
from engine.vector.table import BLOCK_ROWS, RowTable, check_rows
from tests.contracts.vector_index import unit

COUNT = 2 * BLOCK_ROWS + 100
STEP = 4e-5
"""Two codes of a component, 127 and 254 steps, leave this of a similarity of rows of two or three dimensions."""


def large(step: int = 1) -> tuple[RowTable, np.ndarray]:
    rows = unit(3, COUNT, 3)
    table = RowTable(3)
    for start in range(0, COUNT, 7_000):
        part = np.arange(start, min(start + 7_000, COUNT), dtype=np.int64)
        table.append(part * step + 50, rows[part])
    return table, rows


_TABLE, _ROWS = large()

row_sets = st.one_of(
    st.sets(st.integers(0, COUNT - 1), max_size=50),
    st.tuples(st.integers(0, COUNT), st.integers(0, COUNT)).map(lambda ends: set(range(min(ends), max(ends)))),
    st.builds(lambda seed, share: set(np.flatnonzero(np.random.default_rng(seed).random(COUNT) < share).tolist()),
              st.integers(0, 99), st.floats(0, 1)),
)  # fmt: skip


@given(row_sets)
def test_similarities_equal_the_products(chosen: set[int]) -> None:
    rows = np.array(sorted(chosen), np.int64)
    query = unit(4, 1, 3)[0]
    np.testing.assert_allclose(similarities(_TABLE.view(), query, rows), _ROWS[rows] @ query, atol=STEP)


@given(row_sets)
def test_copied_rows_equal_the_rows(chosen: set[int]) -> None:
    rows = np.array(sorted(chosen), np.int64)
    np.testing.assert_allclose(_TABLE.view().copy_rows(rows), _ROWS[rows], atol=STEP)


@given(
    st.sets(st.integers(0, 300), min_size=1),
    st.sets(st.integers(0, 300)),
    st.sets(st.integers(-5, 310)),
)
def test_rows_are_found_by_label_with_and_without_gaps(held: set[int], removed: set[int], asked: set[int]) -> None:
    table = RowTable(2)
    table.append(np.array(sorted(held), np.int64), unit(1, len(held), 2))
    table.remove(np.array(sorted(removed), np.int64))
    position = {label: row for row, label in enumerate(sorted(held)) if label not in removed}
    wanted = np.array(sorted(asked), np.int64)

    assert table.view().rows_of(wanted).tolist() == [position.get(label, -1) for label in sorted(asked)]
    assert table.view().allowed_rows(wanted).tolist() == sorted(position[x] for x in asked if x in position)
    assert table.view().live == len(position)


def test_asking_for_rows_leaves_the_labels_as_they_are() -> None:
    asked = np.array([0, 50, 51, 10**9], np.int64)
    _TABLE.view().rows_of(asked)
    _TABLE.view().allowed_rows(asked)
    assert asked.tolist() == [0, 50, 51, 10**9]


def test_many_allowed_labels_with_gaps_are_found_as_a_few_are() -> None:
    table, _ = large(step=3)
    table.remove(np.arange(50, 50 + 300, 3, dtype=np.int64))
    allowed = np.flatnonzero(np.random.default_rng(2).random(3 * COUNT) < 0.5).astype(np.int64)
    one_by_one = table.view().rows_of(allowed)
    assert table.view().allowed_rows(allowed).tolist() == one_by_one[one_by_one >= 0].tolist()


def test_a_view_keeps_its_rows() -> None:
    table = RowTable(2)
    table.append(np.array([1, 2], np.int64), unit(1, 2, 2))
    before = table.view()
    table.remove(np.array([1], np.int64))
    table.append(np.arange(3, 5_000, dtype=np.int64), unit(2, 4_997, 2))
    assert (len(before), before.live, before.alive.tolist()) == (2, 2, [True, True])
    np.testing.assert_allclose(before.copy_rows(np.array([0, 1])), unit(1, 2, 2), atol=STEP)
    assert (len(table.view()), table.view().live) == (4_999, 4_998)


def test_a_view_is_made_once_while_nothing_changes() -> None:
    assert _TABLE.view() is _TABLE.view()


def test_removing_tells_which_rows_died() -> None:
    table = RowTable(2)
    table.append(np.array([5, 6, 9], np.int64), unit(1, 3, 2))
    assert table.remove(np.array([9, 5, 9, 7], np.int64)).tolist() == [0, 2]
    assert table.remove(np.array([9], np.int64)).tolist() == []


def test_scanning_passes_over_the_dead() -> None:
    table, rows = large()
    query = unit(4, 1, 3)[0]
    best = np.argsort(-(rows @ query))
    table.remove(best[:10].astype(np.int64) + 50)
    assert scan(table.view(), query, 5).labels.tolist() == (best[10:15] + 50).tolist()
    assert scores_of(table.view(), query, best[9:11].astype(np.int64) + 50)[0] == -1.0


def test_the_first_bad_vector_is_named() -> None:
    rows = unit(1, 4)
    rows[2] *= 1.01
    with pytest.raises(ValueError, match="vector 2"):
        check_rows(np.arange(4, dtype=np.int64), rows, 12, above=-1)

"""Pooling against the formula written out, one token at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding import pooling
from engine.embedding.pooling import by_count, saturated, to_unit_rows, weighted_sums, whitening

_TABLE = np.random.default_rng(7).standard_normal((50, 8)).astype(np.float32)

token_lists = st.lists(st.lists(st.integers(0, 49), max_size=30), max_size=6)


@given(token_lists, st.sampled_from([None, 0.5, 3.0]))
def test_sums_equal_the_formula(tokens: list[list[int]], k: float | None) -> None:
    weights = by_count if k is None else saturated(k)
    sums = weighted_sums(_TABLE, [np.array(ids, np.int32) for ids in tokens], weights)

    expected = np.zeros((len(tokens), 8))
    for row, ids in enumerate(tokens):
        for token, count in Counter(ids).items():
            expected[row] += (count if k is None else count / (count + k)) * _TABLE[token]
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, expected, atol=1e-4)


def test_many_texts_and_long_texts_are_pooled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    texts = [rng.integers(0, 50, int(rng.integers(0, 90))).astype(np.int32) for _ in range(40)]
    whole = weighted_sums(_TABLE, texts, by_count)
    monkeypatch.setattr(pooling, "_BLOCK_TEXTS", 3)
    monkeypatch.setattr(pooling, "_GATHERED_ROWS", 4)
    np.testing.assert_allclose(weighted_sums(_TABLE, texts, by_count), whole, atol=1e-4)


def test_unit_rows_have_length_one_and_zero_rows_become_the_blank_row() -> None:
    blank = np.array([0.6, 0.8], np.float32)
    rows = to_unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [-1e-3, 0.0]], np.float32), blank)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8], [-1.0, 0.0]], atol=1e-6)


def test_whitening_makes_the_second_moment_the_identity() -> None:
    skewed = _TABLE @ np.diag([9, 5, 3, 1, 1, 1, 0.5, 0.1]).astype(np.float32)
    turned = skewed @ whitening(skewed)
    moment = turned.T @ turned
    np.testing.assert_allclose(moment / moment[0, 0], np.eye(8), atol=1e-3)


def test_whitening_does_not_turn_the_space() -> None:
    """The symmetric root of an isotropic table is the identity, so nothing but the scale changes."""
    isotropic, _ = np.linalg.qr(_TABLE)
    isotropic = np.ascontiguousarray(isotropic, np.float32)
    result = isotropic @ whitening(isotropic)
    np.testing.assert_allclose(result / np.linalg.norm(result), isotropic / np.linalg.norm(isotropic), atol=1e-5)

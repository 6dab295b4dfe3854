from __future__ import annotations

import numpy as np
import pytest

from benchmarks.fit_rerank import FEATURES, START, Pool, as_array, fit
from engine.ranking.rerank import RERANKED


def pool(questions: int) -> Pool:
    """Two documents a question; the answer comes second by score and alone has a phrase."""
    fused = np.full((questions, RERANKED), -1e6, np.float32)
    fused[:, :2] = [1.0, 0.95]
    columns = np.zeros((questions, RERANKED, len(FEATURES)), np.float32)
    columns[:, 1, FEATURES.index("phrase")] = 1.0
    units = np.tile(np.arange(RERANKED), (questions, 1))
    grades = np.zeros((questions, RERANKED), np.float32)
    grades[:, 1] = 1.0
    return Pool(fused, columns, units, grades, np.ones(questions, np.float32))


def test_a_document_counts_at_the_rank_of_its_best_passage() -> None:
    held = pool(1)
    held.units[0, 2] = 1
    scores = np.full((1, RERANKED), -1e6, np.float32)
    scores[0, :3] = [0.5, 0.1, 0.9]
    assert held.ndcg(scores).tolist() == [1.0]
    scores[0, 2] = 0.2
    assert held.ndcg(scores)[0] == pytest.approx(1 / np.log2(3))


def test_the_feature_that_tells_the_answer_gains_weight_and_no_other_moves() -> None:
    moved = fit({"made": pool(20)}) - as_array(START)
    assert moved[FEATURES.index("phrase")] > 0.05
    assert np.count_nonzero(np.abs(moved) > 1e-6) == 1

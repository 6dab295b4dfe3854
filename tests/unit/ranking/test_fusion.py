import numpy as np
import pytest

from engine.model.hits import Candidates
from engine.ranking.diversity import greedy_coverage, maximal_marginal_relevance
from engine.ranking.fusion import fuse, reciprocal_rank_fusion, standard_scores
from engine.ranking.rerank import scores_of
from engine.ranking.terms import QueryTerms


def run(**scores: float) -> Candidates:
    labels = [int(label[1:]) for label in scores]
    return Candidates(np.array(labels, np.int64), np.array(list(scores.values()), np.float32))


def test_two_empty_legs_fuse_to_nothing() -> None:
    assert len(fuse(Candidates.empty(), Candidates.empty(), 10)) == 0


def test_without_words_the_cosines_stand_as_they_are() -> None:
    fused = fuse(Candidates.empty(), run(p4=0.5, p2=0.25), 10)
    assert (fused.labels.tolist(), fused.scores.tolist()) == ([4, 2], [0.5, 0.25])


def test_without_vectors_the_order_of_words_stands_as_shares_of_the_best() -> None:
    fused = fuse(run(p4=20.0, p2=5.0), Candidates.empty(), 10)
    assert (fused.labels.tolist(), fused.scores.tolist()) == ([4, 2], [1.0, 0.25])


def test_near_equal_words_are_told_apart_by_the_vector() -> None:
    fused = fuse(run(p1=10.0, p2=9.9), run(p2=0.8, p7=0.3, p1=0.2), 3)
    assert fused.labels[0] == 2


def test_a_clear_lead_in_words_is_not_overturned() -> None:
    fused = fuse(run(p1=10.0, p2=2.0), run(p2=0.8, p7=0.3, p1=0.2), 3)
    assert fused.labels[0] == 1


def test_equal_scores_are_zero_standard_scores() -> None:
    assert standard_scores(run(p1=0.4, p2=0.4)).scores.tolist() == [0.0, 0.0]


def test_a_constant_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="rrf_k"):
        reciprocal_rank_fusion([], 3, rrf_k=0)


def test_scores_of_labels_outside_a_run_are_zero() -> None:
    assert scores_of(run(p9=3.0, p1=2.0), np.array([1, 5, 9])).tolist() == [2.0, 0.0, 3.0]
    assert scores_of(Candidates.empty(), np.array([1])).tolist() == [0.0]


def test_terms_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        QueryTerms(
            ("a",), np.empty(0, np.float32), np.empty(0, np.float32), np.empty(0, np.bool_), np.empty(0, np.int64)
        )


def test_a_second_passage_of_an_aspect_gives_way_to_another_aspect() -> None:
    candidates = run(p1=9.0, p2=8.9, p3=1.0)
    aspects = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert greedy_coverage(candidates, aspects, 3, relevance_weight=0.5).labels.tolist() == [1, 3, 2]


@pytest.mark.parametrize("trade", [-0.1, 1.1])
def test_a_trade_outside_its_range_is_refused(trade: float) -> None:
    with pytest.raises(ValueError, match="trade"):
        maximal_marginal_relevance(run(p1=1.0), np.ones((1, 1), np.float32), 1, trade=trade)


def test_matrices_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="similarities"):
        maximal_marginal_relevance(run(p1=1.0), np.ones((2, 2), np.float32), 1, trade=0.5)
    with pytest.raises(ValueError, match="aspects"):
        greedy_coverage(run(p1=1.0), np.ones((2, 2), np.float32), 1, relevance_weight=0.5)
    with pytest.raises(ValueError, match="relevance_weight"):
        greedy_coverage(run(p1=1.0), np.ones((1, 2), np.float32), 1, relevance_weight=-1)

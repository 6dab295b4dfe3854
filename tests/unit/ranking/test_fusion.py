import numpy as np
import pytest

from engine.model.hits import Candidates
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

"""Choosing few passages that together say much: relevance against repetition, and coverage of what was asked.

Both are greedy. For coverage that is within ``1 - 1/e`` of the best choice, for the gain is monotone and submodular
(Nemhauser, Wolsey & Fisher 1978; for texts Lin & Bilmes 2011, "A class of submodular functions for document
summarization").
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.model.hits import Candidates, Vectors

Matrix = npt.NDArray[np.float32]


def maximal_marginal_relevance(candidates: Candidates, similarities: Matrix, k: int, *, trade: float) -> Candidates:
    """The `k` candidates that are relevant and unlike those chosen before them, in the order of choice.

    Each step takes the largest ``trade * relevance - (1 - trade) * similarity to the nearest chosen``; relevance is the
    score as a share of the range of all. Ties go to the earlier candidate. Carbonell & Goldstein (1998).

    Args:
        similarities: shape ``(n, n)``, symmetric; of candidate i to candidate j, 1 for equals.
        trade: in [0, 1]; 1 keeps the order.

    Returns:
        With the scores that they came with, so these may rise and fall.

    >>> candidates = Candidates(np.array([5, 6, 7]), np.array([3.0, 2.9, 1.0], dtype=np.float32))
    >>> alike = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32)
    >>> maximal_marginal_relevance(candidates, alike, 2, trade=0.4).labels.tolist()
    [5, 7]
    """
    if not 0.0 <= trade <= 1.0:
        raise ValueError(f"trade must be in [0, 1], got {trade}")
    count = len(candidates)
    if similarities.shape != (count, count):
        raise ValueError(f"similarities of {similarities.shape} for {count} candidates")
    relevance = _shares(candidates.scores)
    nearest = np.zeros(count, np.float64)
    free = np.ones(count, np.bool_)
    chosen: list[int] = []
    for _ in range(min(k, count)):
        value = np.where(free, trade * relevance - (1 - trade) * nearest, -np.inf)
        best = int(np.argmax(value))
        chosen.append(best)
        free[best] = False
        nearest = np.maximum(nearest, similarities[best])
    picked = np.asarray(chosen, np.intp)
    return Candidates(candidates.labels[picked], candidates.scores[picked])


def greedy_coverage(candidates: Candidates, aspects: Matrix, k: int, *, relevance_weight: float) -> Candidates:
    """The `k` candidates that cover most aspects, in the order of choice: each step takes the largest gain.

    The value of a set is ``sum over aspects of max over its members`` plus `relevance_weight` times the sum of their
    relevance (the score as a share of the range of all): a second passage for an aspect gains only what it adds.
    Ties go to the earlier candidate.

    Args:
        aspects: shape ``(n, aspects)``, >= 0: how well candidate i covers aspect j (a sub-question, an entity, a
            source), the weight of the aspect included.
        relevance_weight: >= 0.

    Returns:
        With the scores that they came with, so these may rise and fall.

    >>> candidates = Candidates(np.array([5, 6, 7]), np.array([3.0, 2.9, 1.0], dtype=np.float32))
    >>> aspects = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    >>> greedy_coverage(candidates, aspects, 2, relevance_weight=0.1).labels.tolist()
    [5, 7]
    """
    if relevance_weight < 0:
        raise ValueError(f"relevance_weight must be >= 0, got {relevance_weight}")
    count = len(candidates)
    if len(aspects) != count:
        raise ValueError(f"aspects of {len(aspects)} passages for {count} candidates")
    relevance = relevance_weight * _shares(candidates.scores)
    covered = np.zeros(aspects.shape[1], np.float64)
    free = np.ones(count, np.bool_)
    chosen: list[int] = []
    for _ in range(min(k, count)):
        gain = np.maximum(aspects - covered, 0.0).sum(axis=1) + relevance
        best = int(np.argmax(np.where(free, gain, -np.inf)))
        chosen.append(best)
        free[best] = False
        covered = np.maximum(covered, aspects[best])
    picked = np.asarray(chosen, np.intp)
    return Candidates(candidates.labels[picked], candidates.scores[picked])


def cosine_matrix(vectors: Vectors) -> Matrix:
    """Similarity of each row to each, in [0, 1]: what points away counts as unlike.

    Args:
        vectors: unit rows, shape ``(n, dimension)``.
    """
    return np.clip(vectors @ vectors.T, 0.0, 1.0).astype(np.float32)


def term_overlap_matrix(present: npt.NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Weighted Jaccard similarity of passages by the terms they hold, in [0, 1]; 0 for one without terms.

    Args:
        present: shape ``(n, terms)``.
        weights: shape ``(terms,)``, >= 0.
    """
    held = present * weights
    common = held @ present.T.astype(np.float32)
    mass = held.sum(axis=1)
    either = mass[:, None] + mass[None, :] - common
    return np.divide(common, either, out=np.zeros_like(either), where=either > 0).astype(np.float32)


def _shares(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Position of each score in the range of all, in [0, 1]; ones when all are equal."""
    if len(scores) == 0:
        return np.empty(0, np.float64)
    low, high = float(scores.min()), float(scores.max())
    if high <= low:
        return np.ones(len(scores))
    return (scores.astype(np.float64) - low) / (high - low)

"""Two rankings of unlike scores into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.model.hits import Candidates, Labels, Scores, distinct, top_k

RRF_K = 60
VECTOR_WEIGHT = 0.06
"""Of one standard deviation of the cosines, where the best BM25 counts 1 and the question has `TYPICAL_TERMS` terms."""
TYPICAL_TERMS = 10
FEWEST_TERMS = 4


def fuse(lexical: Candidates, vector: Candidates, k: int, *, terms: int = TYPICAL_TERMS) -> Candidates:
    """Sum of BM25 as a share of the best, and weighted standard scores of the cosines.

    Cosines are compared within their run, for their level says nothing across questions; BM25 keeps its zero. A passage
    that a leg did not bring up counts as that leg's last. The vector of a question is the mean of its words, so the
    longer the question, the less it says: its weight falls with the square root of `terms`. Where no term was found the
    cosines stand alone, as they are.

    Args:
        k: length of the result, at most.
        terms: distinct terms of the question.

    >>> lexical = Candidates(np.array([1, 2]), np.array([9.0, 8.8], dtype=np.float32))
    >>> vector = Candidates(np.array([2, 3]), np.array([0.9, 0.1], dtype=np.float32))
    >>> fuse(lexical, vector, 3).labels.tolist()
    [2, 1, 3]
    """
    if len(lexical) == 0:
        return Candidates(vector.labels[:k], vector.scores[:k])
    best = float(lexical.scores[0])
    relative = Candidates(lexical.labels, lexical.scores / np.float32(best if best > 0 else 1.0))
    if len(vector) == 0:
        return Candidates(relative.labels[:k], relative.scores[:k])
    labels = distinct(np.concatenate((lexical.labels, vector.labels)))
    shares = spread(labels, relative, absent=0.0)
    standard = standard_scores(vector)
    weight = vector_weight(terms)
    nearness = spread(labels, standard, absent=float(standard.scores[-1]))
    return top_k(labels, (shares + weight * nearness).astype(np.float32), k)


def vector_weight(terms: int) -> float:
    """What a standard score of the vector leg counts for a question of `terms` distinct terms.

    >>> vector_weight(10), vector_weight(40)
    (0.06, 0.03)
    """
    return VECTOR_WEIGHT / (max(terms, FEWEST_TERMS) / TYPICAL_TERMS) ** 0.5


def standard_scores(run: Candidates) -> Candidates:
    """The scores of `run` less their mean, in standard deviations; zeros when all are equal."""
    if len(run) == 0:
        return run
    scores = run.scores.astype(np.float64)
    deviation = float(scores.std())
    centred = scores - scores.mean()
    standard = centred / deviation if deviation > 1e-9 else np.zeros(len(scores))
    return Candidates(run.labels, standard.astype(np.float32))


def spread(labels: Labels, run: Candidates, *, absent: float) -> Scores:
    """The score in `run` of each of `labels` (strictly increasing, holding all of the run's)."""
    out = np.full(len(labels), absent, np.float32)
    out[np.searchsorted(labels, run.labels)] = run.scores
    return out


def weighted_sum(runs: Sequence[tuple[Candidates, float]], k: int) -> Candidates:
    """Sum of the runs' scores as shares of each run's range, times their weights.

    Within a run the last score counts 0 and the first 1 (a run of equal scores counts 1); a passage absent from a run
    adds nothing for it. The order of the runs does not matter.

    Fox & Shaw (1994), CombSUM.

    >>> a = Candidates(np.array([1, 2]), np.array([9.0, 8.0], dtype=np.float32))
    >>> b = Candidates(np.array([2, 3]), np.array([0.9, 0.1], dtype=np.float32))
    >>> weighted_sum([(a, 0.8), (b, 0.2)], 3).labels.tolist()
    [1, 2, 3]
    """
    masses = [(run.labels, weight * _range_share(run.scores)) for run, weight in runs if len(run)]
    return _summed(masses, k)


def reciprocal_rank_fusion(runs: Sequence[Candidates], k: int, *, rrf_k: int = RRF_K) -> Candidates:
    """Sum of ``1 / (rrf_k + rank)``, ranks counted from 1. Scores are ignored, so runs of any units mix.

    A passage absent from a run adds nothing for it. The order of the runs does not matter.
    Cormack, Clarke & Büttcher (2009). With a weak vector model it loses to BM25 alone: `fuse` is the default.

    Args:
        rrf_k: larger flattens the weight of the top ranks; positive.

    >>> a = Candidates(np.array([1, 2]), np.array([9.0, 8.0], dtype=np.float32))
    >>> b = Candidates(np.array([2, 3]), np.array([0.9, 0.1], dtype=np.float32))
    >>> reciprocal_rank_fusion([a, b], 3).labels.tolist()
    [2, 1, 3]
    """
    if rrf_k <= 0:
        raise ValueError(f"rrf_k must be > 0, got {rrf_k}")
    return _summed([(run.labels, 1.0 / (rrf_k + np.arange(1, len(run) + 1))) for run in runs if len(run)], k)


def _range_share(scores: Scores) -> npt.NDArray[np.float64]:
    high, low = float(scores.max()), float(scores.min())
    if high <= low:
        return np.ones(len(scores))
    return (scores.astype(np.float64) - low) / (high - low)


def _summed(masses: Sequence[tuple[Labels, npt.NDArray[np.float64]]], k: int) -> Candidates:
    if not masses:
        return Candidates.empty()
    labels, slots = np.unique(np.concatenate([labels for labels, _ in masses]), return_inverse=True)
    # Sorted before summing, so that floating point does not tell in which order the runs came.
    mass = np.concatenate([mass for _, mass in masses])
    order = np.lexsort((mass, slots))
    return top_k(labels, np.bincount(slots[order], weights=mass[order]).astype(np.float32), k)

"""What each feature of the reranker counts, for questions and for all else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeatureWeights:
    """What each feature adds to the fused score, in which the best BM25 counts 1; see `TermReranker`."""

    coverage: float
    window: float
    document: float
    mention: float
    headed_window: float = 0.0
    phrase: float = 0.0
    named: float = 0.0
    nearness: float = 0.0


# Chosen on half of the questions of four collections, near what ``benchmarks/fit_rerank.py`` finds, and held on the
# other half (docs/benchmarks.md). Where fewer than all collections speak for a weight it is drawn towards zero.
QUESTION = FeatureWeights(coverage=0.4, window=0.4, document=0.2, mention=0.7, headed_window=0.5, phrase=0.4, named=0.2)
"""One sentence answers a question: what counts is how closely, and in which form, its words stand together."""
STATEMENT = FeatureWeights(coverage=0.3, window=0.5, document=0.4, mention=0.7, nearness=1.5)
"""A statement, or words without a sentence, is about a subject: its words are spread, and others may say the same."""

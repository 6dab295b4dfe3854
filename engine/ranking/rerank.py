"""Ordering the first passages by what stands in them, not by their scores alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.analysis.term_ids import term_ids
from engine.model.document import Passage
from engine.model.hits import Candidates, Labels, Scores, top_k
from engine.ranking.asking import asks
from engine.ranking.features import Shares, term_features
from engine.ranking.mentions import name_mentions
from engine.ranking.passage_terms import PassageTerms
from engine.ranking.terms import QueryTerms
from engine.ranking.weights import QUESTION, STATEMENT, FeatureWeights

RERANKED = 40
"""Passages that are looked at; those behind keep their fused order."""


class Reranker(Protocol):
    """Orders the first candidates again by reading their texts, as a cross-encoder does."""

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:
        """`candidates` in a new order, no label added or lost.

        Args:
            query: the question.
            candidates: best first.
            passages: the first of `candidates`, in their order; those without a text stay behind.
        """
        ...


@dataclass(frozen=True, slots=True)
class TermReranker:
    """Adds to the fused score what the question's words do in the passage.

    Coverage: how much of the question, by weight, the passage and its header hold. Window: how much of it stands
    together within a clause (proximity, as in Tao & Zhai 2007), and in a wider window with what the header says
    (headed). Phrase: how much of it follows each other as in the question (Metzler & Croft 2005). Named: how much of
    the header the question names. Document: how much of the question the brought-up passages of the same document hold
    together, for a document may say in its next passage what this one leaves out. Nearness: the best cosine of these
    passages. Mention: whether a better passage of another document names this one's (`mentions`).

    Attributes:
        near: the vector leg's candidates, cosines; a passage that is not among them counts as the last.
    """

    terms: QueryTerms
    near: Candidates = field(default_factory=Candidates.empty)

    def rerank(self, query: str, candidates: Candidates, passages: PassageTerms) -> Candidates:
        """`candidates` in a new order, no label added or lost.

        Args:
            query: the question.
            candidates: fused, best first.
            passages: the first of `candidates`, in their order; those behind stay there and keep their order.
        """
        first = len(passages)
        if first == 0 or len(self.terms) == 0:
            return candidates
        weights = QUESTION if asks(query) else STATEMENT
        scores = candidates.scores[:first].astype(np.float32, copy=True)
        for name, shares in self.columns(candidates, passages, weights).items():
            scores += np.float32(getattr(weights, name)) * shares
        best = top_k(candidates.labels[:first], scores.astype(np.float32), first)
        if first == len(candidates):
            return best
        # What was not looked at stays behind what was, and keeps its order.
        floor = np.minimum(candidates.scores[first:], best.scores[-1])
        return Candidates(np.r_[best.labels, candidates.labels[first:]], np.r_[best.scores, floor])

    def columns(self, candidates: Candidates, passages: PassageTerms, weights: FeatureWeights) -> dict[str, Shares]:
        """Each feature of the first candidates by its name in `FeatureWeights`; those of no weight may be left out.

        Args:
            weights: what the order is that mentions are looked for in.
        """
        first = len(passages)
        found = term_features(term_ids(self.terms.terms), self.terms.weights, self.terms.stops, passages)
        columns = {
            "coverage": found.coverage,
            "window": found.window,
            "document": found.document_coverage,
            "headed_window": found.headed_window,
            "phrase": found.phrase,
            "named": found.named,
        }
        if weights.nearness and len(self.near):
            columns["nearness"] = self._nearness(passages)
        scores = candidates.scores[:first] + sum(getattr(weights, name) * shares for name, shares in columns.items())
        strengths = np.clip(scores / max(float(scores.max()), 1e-9), 0.0, 1.0).astype(np.float32)
        columns["mention"] = name_mentions(passages, strengths)
        return columns

    def _nearness(self, passages: PassageTerms) -> Shares:
        """The best cosine of the passages of each passage's document."""
        cosines = scores_of(self.near, passages.labels, absent=float(self.near.scores[-1]))
        of = passages.document_numbers
        best = np.full(int(of.max()) + 1, -1.0, np.float32)
        np.maximum.at(best, of, cosines)
        return best[of]


def scores_of(run: Candidates, labels: Labels, *, absent: float = 0.0) -> Scores:
    """The score in `run` of each of `labels`, `absent` where it has none; shape ``(len(labels),)``.

    >>> scores_of(Candidates(np.array([4, 2]), np.array([2.0, 1.0], dtype=np.float32)), np.array([2, 3])).tolist()
    [1.0, 0.0]
    """
    if len(run) == 0 or len(labels) == 0:
        return np.full(len(labels), absent, np.float32)
    order = np.argsort(run.labels)
    held: npt.NDArray[np.int64] = run.labels[order]
    at = np.minimum(np.searchsorted(held, labels), len(held) - 1)
    return np.where(held[at] == labels, run.scores[order][at], np.float32(absent)).astype(np.float32)

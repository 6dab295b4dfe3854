"""Ordering the first passages by what stands in them, not by their scores alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.model.document import Passage
from engine.model.hits import Candidates, Labels, Scores, top_k
from engine.ranking.features import TermIds, term_features
from engine.ranking.mentions import name_mentions, without_qualifier
from engine.ranking.terms import QueryTerms
from engine.text.headers import split_header

COVERAGE_WEIGHT = 0.5
WINDOW_WEIGHT = 0.5
DOCUMENT_WEIGHT = 0.3
MENTION_WEIGHT = 0.5
RERANKED = 40
"""Passages that are looked at; those behind keep their fused order."""


class Reranker(Protocol):
    """Gives the first candidates new scores. The seam for a cross-encoder."""

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:
        """`candidates` in a new order, no label added or lost.

        Args:
            query: the question.
            candidates: fused, best first.
            passages: the texts of the first of `candidates`, in their order; those without a text stay behind.
        """
        ...


class Analyzer(Protocol):
    """Texts and terms as numbers that agree with each other."""

    def term_ids(self, terms: Sequence[str]) -> TermIds:
        """One id each of terms as the index holds them."""
        ...

    def text_ids(self, texts: Sequence[str], languages: Sequence[str]) -> list[TermIds]:
        """The ids of each text's terms, in order.

        Args:
            languages: those a text may be in, besides English.
        """
        ...


@dataclass(frozen=True, slots=True)
class TermReranker:
    """Adds to the fused score what the question's words do in the passage.

    Coverage: how much of the question, by weight, the passage and its header hold. Window: how much of it stands
    together within a clause (proximity, as in Tao & Zhai 2007). Document: how much of it the brought-up passages of the
    same document hold together, for a document may say in its next passage what this one leaves out. Mention: whether a
    better passage of another document names this one's (`mentions`).

    The sum of fixed weights was chosen on half of the questions of four collections and held on the other half
    (docs/benchmarks.md); it is flat around the chosen point.
    """

    terms: QueryTerms
    analyzer: Analyzer

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:  # noqa: ARG002
        if not passages or len(self.terms) == 0:
            return candidates
        first = len(passages)
        bodies = self.analyzer.text_ids([passage.text for passage in passages], self.terms.languages)
        documents = [passage.document_id for passage in passages]
        features = term_features(
            self.analyzer.term_ids(self.terms.terms),
            self.terms.weights,
            self.terms.stops,
            bodies,
            self.analyzer.text_ids([passage.header for passage in passages], ()),
            documents,
        )
        scores = candidates.scores[:first] + (
            COVERAGE_WEIGHT * features.coverage
            + WINDOW_WEIGHT * features.window
            + DOCUMENT_WEIGHT * features.document_coverage
        )
        strengths = np.clip(scores / max(float(scores.max()), 1e-9), 0.0, 1.0).astype(np.float32)
        scores = scores + MENTION_WEIGHT * name_mentions(self._names(passages), bodies, documents, strengths)
        best = top_k(candidates.labels[:first], scores.astype(np.float32), first)
        if first == len(candidates):
            return best
        # What was not looked at stays behind what was, and keeps its order.
        floor = np.minimum(candidates.scores[first:], best.scores[-1])
        return Candidates(np.r_[best.labels, candidates.labels[first:]], np.r_[best.scores, floor])

    def _names(self, passages: Sequence[Passage]) -> list[list[TermIds]]:
        titles = {p.header: [without_qualifier(title) for title in split_header(p.header)] for p in passages}
        ids = {header: self.analyzer.text_ids(found, ()) for header, found in titles.items()}
        return [ids[passage.header] for passage in passages]


def scores_of(run: Candidates, labels: Labels) -> Scores:
    """The score in `run` of each of `labels`, 0.0 where it is absent; shape ``(len(labels),)``.

    >>> scores_of(Candidates(np.array([4, 2]), np.array([2.0, 1.0], dtype=np.float32)), np.array([2, 3])).tolist()
    [1.0, 0.0]
    """
    if len(run) == 0 or len(labels) == 0:
        return np.zeros(len(labels), np.float32)
    order = np.argsort(run.labels)
    held: npt.NDArray[np.int64] = run.labels[order]
    at = np.minimum(np.searchsorted(held, labels), len(held) - 1)
    return np.where(held[at] == labels, run.scores[order][at], np.float32(0.0)).astype(np.float32)

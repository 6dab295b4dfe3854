"""Ordering the first passages by what stands in them, not by their scores alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.model.document import Passage
from engine.model.hits import Candidates, Labels, Scores, top_k
from engine.ranking.asking import asks
from engine.ranking.features import Shares, TermIds, same_form, term_features
from engine.ranking.mentions import name_mentions, without_qualifier
from engine.ranking.terms import QueryTerms
from engine.ranking.weights import QUESTION, STATEMENT, FeatureWeights
from engine.text.headers import split_header

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

    def word_ids(self, texts: Sequence[str], languages: Sequence[str]) -> list[TermIds]:
        """As `text_ids`, of the words as they are written: as many, in the same places."""
        ...


@dataclass(frozen=True, slots=True)
class TermReranker:
    """Adds to the fused score what the question's words do in the passage.

    Coverage: how much of the question, by weight, the passage and its header hold. Window: how much of it stands
    together within a clause (proximity, as in Tao & Zhai 2007), and in a wider window with what the header says
    (headed). Phrase: how much of it follows each other as in the question (Metzler & Croft 2005). Named: how much of
    the header the question names. Form: coverage by words as they are written. Document: how much of the question the
    brought-up passages of the same document hold together, for a document may say in its next passage what this one
    leaves out. Nearness: the best cosine of these passages. Mention: whether a better passage of another document
    names this one's (`mentions`).

    Attributes:
        near: the vector leg's candidates, cosines; a passage that is not among them counts as the last.
    """

    terms: QueryTerms
    analyzer: Analyzer
    near: Candidates = field(default_factory=Candidates.empty)

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:
        if not passages or len(self.terms) == 0:
            return candidates
        first = len(passages)
        weights = QUESTION if asks(query) else STATEMENT
        scores = candidates.scores[:first].astype(np.float32, copy=True)
        for name, shares in self.columns(query, candidates, passages, weights).items():
            scores += np.float32(getattr(weights, name)) * shares
        best = top_k(candidates.labels[:first], scores.astype(np.float32), first)
        if first == len(candidates):
            return best
        # What was not looked at stays behind what was, and keeps its order.
        floor = np.minimum(candidates.scores[first:], best.scores[-1])
        return Candidates(np.r_[best.labels, candidates.labels[first:]], np.r_[best.scores, floor])

    def columns(
        self, query: str, candidates: Candidates, passages: Sequence[Passage], weights: FeatureWeights
    ) -> dict[str, Shares]:
        """Each feature of the first candidates by its name in `FeatureWeights`; those of no weight may be left out.

        Args:
            weights: what the order is that mentions are looked for in.
        """
        first = len(passages)
        bodies = self._ids([passage.text for passage in passages])
        documents = [passage.document_id for passage in passages]
        found = term_features(
            self.analyzer.term_ids(self.terms.terms),
            self.terms.weights,
            self.terms.stops,
            bodies,
            self.analyzer.text_ids([passage.header for passage in passages], ()),
            documents,
        )
        columns = {
            "coverage": found.coverage,
            "window": found.window,
            "document": found.document_coverage,
            "headed_window": found.headed_window,
            "phrase": found.phrase,
            "named": found.named,
        }
        if weights.form:
            columns["form"] = self._form(query, passages)
        if weights.nearness and len(self.near):
            columns["nearness"] = self._nearness(candidates.labels[:first], documents)
        scores = candidates.scores[:first] + sum(getattr(weights, name) * shares for name, shares in columns.items())
        strengths = np.clip(scores / max(float(scores.max()), 1e-9), 0.0, 1.0).astype(np.float32)
        columns["mention"] = name_mentions(self._names(passages), bodies, documents, strengths)
        return columns

    def _ids(self, texts: Sequence[str]) -> list[TermIds]:
        return self.analyzer.text_ids(texts, self.terms.languages)

    def _form(self, query: str, passages: Sequence[Passage]) -> Shares:
        """Coverage by words as they are written; one that the question holds in two forms counts for each."""
        languages = self.terms.languages
        (stems,), (words,) = self._ids([query]), self.analyzer.word_ids([query], languages)
        weight_of = dict(
            zip(self.analyzer.term_ids(self.terms.terms).tolist(), self.terms.weights.tolist(), strict=True)
        )
        weighed = {word: weight_of.get(stem, 0.0) for word, stem in zip(words.tolist(), stems.tolist(), strict=True)}
        if not weighed:
            return np.zeros(len(passages), np.float32)
        return same_form(
            np.fromiter(weighed, np.int32, len(weighed)),
            np.fromiter(weighed.values(), np.float32, len(weighed)),
            [
                self.analyzer.word_ids([passage.text for passage in passages], languages),
                self.analyzer.word_ids([passage.header for passage in passages], ()),
            ],
        )

    def _nearness(self, labels: Labels, documents: Sequence[str]) -> Shares:
        """The best cosine of the passages of each passage's document."""
        cosines = scores_of(self.near, labels, absent=float(self.near.scores[-1]))
        best: dict[str, float] = {}
        for document, cosine in zip(documents, cosines.tolist(), strict=True):
            best[document] = max(cosine, best.get(document, cosine))
        return np.fromiter((best[document] for document in documents), np.float32, len(documents))

    def _names(self, passages: Sequence[Passage]) -> list[list[TermIds]]:
        headers = dict.fromkeys(passage.header for passage in passages)
        ids = {header: self.analyzer.text_ids(_titles(header), ()) for header in headers}
        return [ids[passage.header] for passage in passages]


@lru_cache(maxsize=4096)
def _titles(header: str) -> tuple[str, ...]:
    """What a document may be named by; passages of one document share their header, and searches their documents."""
    return tuple(without_qualifier(title) for title in split_header(header))


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

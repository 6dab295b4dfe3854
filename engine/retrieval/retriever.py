"""A query against one namespace: both legs, fused, checked against live rows, reranked."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from engine.backend.protocol import Backend, Legs, LegsQuery, LexicalTerms
from engine.embedding.protocol import Embedder
from engine.lexical.term_ids import term_table
from engine.model.document import Passage
from engine.model.hits import Candidates, Vectors
from engine.model.namespace import StoredNamespace, check_embedder
from engine.model.observer import Observer, timed
from engine.ranking.fusion import fuse
from engine.ranking.rerank import RERANKED, Reranker, TermReranker, scores_of
from engine.retrieval.query import Ranked, RetrievalQuery
from engine.retrieval.query_vector import weighs_words, weighted_by_rarity

LEG_K = 100
"""Candidates a leg of a hybrid query; both must reach below the passages that are reranked. One leg alone is final."""


class Retriever:
    """Ranks passages. Thread-safe; holds no state of a search.

    Args:
        reader: orders the first passages of a hybrid query again after the terms have; None for no second reading.
    """

    def __init__(
        self, backend: Backend, embedder: Embedder, observer: Observer, *, reader: Reranker | None = None
    ) -> None:
        self._backend = backend
        self._embedder = embedder
        self._observer = observer
        self._reader = reader

    def check(self, namespace: StoredNamespace) -> None:
        """Raises `ReindexRequired` when the namespace was embedded by another embedder."""
        check_embedder(namespace, self._embedder.name, self._embedder.dimension)

    def run(self, namespace: int, query: RetrievalQuery) -> Ranked:
        """The best `query.k` passages, all live when they were read."""
        vector = None
        if query.mode in ("hybrid", "vector"):
            with timed(self._observer, "embed"):
                vector = self._vector(namespace, query.text)
        legs_query = LegsQuery(
            lexical=None if query.mode == "vector" else LexicalTerms(query.text, headers_only=query.mode == "headers"),
            vector=vector,
            where=query.where,
            k=max(LEG_K, 2 * query.k) if query.mode == "hybrid" else query.k,
        )
        ranked, lost = self._once(namespace, query, legs_query)
        if lost:
            # A candidate without a row was replaced between the two reads; what replaced it deserves its rank.
            with self._backend.reading(namespace):
                ranked, _ = self._once(namespace, query, legs_query)
        return ranked

    def _vector(self, namespace: int, text: str) -> Vectors:
        if weighs_words(self._embedder):
            return weighted_by_rarity(self._embedder, text, self._backend.rarity(namespace, text))
        return self._embedder.embed_queries([text])[0]

    def _once(self, namespace: int, query: RetrievalQuery, legs_query: LegsQuery) -> tuple[Ranked, bool]:
        legs = self._backend.legs(namespace, legs_query)
        for stage, seconds in legs.took_s.items():
            self._observer.observe(stage, seconds)
        begin = perf_counter()
        brought_up = max(RERANKED, query.k) if query.mode == "hybrid" else query.k
        fused = fuse(legs.lexical, legs.vector, brought_up, terms=len(legs.terms))
        rank_s = perf_counter() - begin
        if len(fused) == 0:
            self._observer.observe("rank", rank_s)
            return Ranked.empty(legs.allowed), False
        with timed(self._observer, "hydrate"):
            passages = self._backend.hydrate(namespace, fused.labels)
        begin = perf_counter()
        lost = len(passages) < len(fused)
        if lost:
            live = np.fromiter((p.label for p in passages), np.int64, len(passages))
            keep = np.isin(fused.labels, live)
            fused = Candidates(fused.labels[keep], fused.scores[keep])
        scanned = frozenset(p.document_id for p in passages)
        if query.mode == "hybrid":
            fused, passages = self._reranked(query.text, fused, passages, legs)
        best = fused.labels[: query.k]
        ranked = Ranked(
            tuple(passages[: query.k]),
            fused.scores[: query.k],
            scores_of(legs.lexical, best),
            scores_of(legs.vector, best),
            scanned,
            legs.allowed,
        )
        self._observer.observe("rank", rank_s + perf_counter() - begin)
        return ranked, lost

    def _reranked(
        self, text: str, fused: Candidates, passages: list[Passage], legs: Legs
    ) -> tuple[Candidates, list[Passage]]:
        reranker = TermReranker(legs.terms, term_table(), legs.vector)
        ranked = reranker.rerank(text, fused, passages[:RERANKED])
        of = {passage.label: passage for passage in passages}
        if self._reader is not None:
            first = [of[label] for label in ranked.labels[:RERANKED].tolist()]
            with timed(self._observer, "rerank"):
                ranked = self._reader.rerank(text, ranked, first)
        return ranked, [of[label] for label in ranked.labels.tolist()]

"""A query against one namespace: both legs, fused, checked against live rows, reranked."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from engine.backend.protocol import Backend, LegsQuery, LexicalTerms
from engine.embedding.protocol import Embedder
from engine.model.document import Passage
from engine.model.hits import Candidates, Labels, Vectors
from engine.model.namespace import StoredNamespace, check_embedder
from engine.model.observer import Observer, timed
from engine.ranking.fusion import fuse
from engine.ranking.passage_terms import PassageTerms
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
        whole = query.mode == "hybrid"
        fused = fuse(legs.lexical, legs.vector, max(RERANKED, query.k) if whole else query.k, terms=len(legs.terms))
        known = self._backend.passage_terms(namespace, fused.labels[:RERANKED]) if whole and len(fused) else None
        found = len(fused)
        if known is not None:
            fused = _kept(fused, known.labels)
            fused = TermReranker(legs.terms, legs.vector).rerank(query.text, fused, known)
        self._observer.observe("rank", perf_counter() - begin)
        read = query.k if self._reader is None or not whole else max(RERANKED, query.k)
        with timed(self._observer, "hydrate"):
            passages = self._passages(namespace, fused.labels[:read], known)
        fused = _kept(fused, np.fromiter((passage.label for passage in passages), np.int64, len(passages)), read)
        lost = len(fused) < found
        if self._reader is not None and whole:
            with timed(self._observer, "rerank"):
                fused = self._reader.rerank(query.text, fused, passages[:RERANKED])
        best = Candidates(fused.labels[: query.k], fused.scores[: query.k])
        of = {passage.label: passage for passage in passages}
        documents = () if known is None else known.documents
        ranked = Ranked(
            tuple(of[label] for label in best.labels.tolist()),
            best.scores,
            scores_of(legs.lexical, best.labels),
            scores_of(legs.vector, best.labels),
            frozenset((*documents, *(passage.document_id for passage in passages))),
            legs.allowed,
        )
        return ranked, lost

    def _passages(self, namespace: int, labels: Labels, known: PassageTerms | None) -> list[Passage]:
        """The live passages among `labels`, in their order."""
        if known is not None and known.passages:
            read = {passage.label: passage for passage in known.passages}
            if all(label in read for label in labels.tolist()):
                return [read[label] for label in labels.tolist()]
        return self._backend.hydrate(namespace, labels)


def _kept(ranked: Candidates, live: Labels, first: int = RERANKED) -> Candidates:
    """`ranked` less those of the `first` that are not `live`: they were removed since."""
    asked = min(first, len(ranked))
    if len(live) == asked:
        return ranked
    keep = np.ones(len(ranked), np.bool_)
    keep[:asked] = np.isin(ranked.labels[:asked], live)
    return Candidates(ranked.labels[keep], ranked.scores[keep])

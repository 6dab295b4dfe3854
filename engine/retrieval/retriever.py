"""A query against one namespace: both legs, fused, checked against live rows, reranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine.backend.protocol import Backend, Legs, LegsQuery, LexicalTerms
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


class _Found(NamedTuple):
    """A query's candidates before they are read.

    Attributes:
        ranking: fused, and reranked by terms.
        known: terms of the first of them; None where they were not reranked.
        candidates: how many there were before some turned out to be gone.
        read: how many of the ranking are read.
    """

    query: RetrievalQuery
    vector: Vectors | None
    legs: Legs
    ranking: Candidates
    known: PassageTerms | None
    candidates: int
    read: int


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
        return self.run_all(namespace, [query])[0]

    def run_all(self, namespace: int, queries: Sequence[RetrievalQuery]) -> list[Ranked]:
        """As `run`, for each: a text is embedded once, and the passages of all are read in one go."""
        vectors = self._vectors(namespace, queries)
        found = [self._find(namespace, query, vectors.get(query.text)) for query in queries]
        passages = self._read(namespace, found)
        return [
            # A candidate without a row was replaced between the two reads; what replaced it deserves its rank.
            self._again(namespace, one) if self._has_lost(one, passages) else self._ranked(one, passages)
            for one in found
        ]

    def _again(self, namespace: int, lost: _Found) -> Ranked:
        with self._backend.reading(namespace):
            found = self._find(namespace, lost.query, lost.vector)
            return self._ranked(found, self._read(namespace, [found]))

    def _vectors(self, namespace: int, queries: Sequence[RetrievalQuery]) -> dict[str, Vectors]:
        """The vector of each text that is looked for by one."""
        texts = dict.fromkeys(query.text for query in queries if query.mode in ("hybrid", "vector"))
        vectors: dict[str, Vectors] = {}
        for text in texts:
            with timed(self._observer, "embed"):
                vectors[text] = self._vector(namespace, text)
        return vectors

    def _vector(self, namespace: int, text: str) -> Vectors:
        if weighs_words(self._embedder):
            return weighted_by_rarity(self._embedder, text, self._backend.rarity(namespace, text))
        return self._embedder.embed_queries([text])[0]

    def _find(self, namespace: int, query: RetrievalQuery, vector: Vectors | None) -> _Found:
        """Both legs, fused and reranked by terms."""
        whole = query.mode == "hybrid"
        by_words = LexicalTerms(query.text, headers_only=query.mode == "headers")
        legs = self._backend.legs(
            namespace,
            LegsQuery(
                lexical=None if query.mode == "vector" else by_words,
                vector=vector if query.mode in ("hybrid", "vector") else None,
                where=query.where,
                k=max(LEG_K, 2 * query.k) if whole else query.k,
            ),
        )
        for stage, seconds in legs.took_s.items():
            self._observer.observe(stage, seconds)
        with timed(self._observer, "rank"):
            fused = fuse(legs.lexical, legs.vector, max(RERANKED, query.k) if whole else query.k, terms=len(legs.terms))
            known = self._backend.passage_terms(namespace, fused.labels[:RERANKED]) if whole and len(fused) else None
            count = len(fused)
            if known is not None:
                fused = _kept(fused, known.labels)
                fused = TermReranker(legs.terms, legs.vector).rerank(query.text, fused, known)
        is_read = self._reader is not None and whole
        return _Found(query, vector, legs, fused, known, count, max(RERANKED, query.k) if is_read else query.k)

    def _read(self, namespace: int, found: Sequence[_Found]) -> dict[int, Passage]:
        """The live passages that are wanted."""
        with timed(self._observer, "hydrate"):
            passages = {p.label: p for one in found if one.known is not None for p in one.known.passages}
            wanted = dict.fromkeys(label for one in found for label in one.ranking.labels[: one.read].tolist())
            missing = np.asarray([label for label in wanted if label not in passages], np.int64)
            return passages | {p.label: p for p in self._backend.hydrate(namespace, missing)}

    @staticmethod
    def _has_lost(found: _Found, passages: Mapping[int, Passage]) -> bool:
        """Whether a candidate is no longer live."""
        return len(found.ranking) < found.candidates or any(
            label not in passages for label in found.ranking.labels[: found.read].tolist()
        )

    def _ranked(self, found: _Found, of: Mapping[int, Passage]) -> Ranked:
        query, legs = found.query, found.legs
        passages = [of[label] for label in found.ranking.labels[: found.read].tolist() if label in of]
        fused = _kept(found.ranking, np.fromiter((p.label for p in passages), np.int64, len(passages)), found.read)
        if self._reader is not None and query.mode == "hybrid":
            with timed(self._observer, "rerank"):
                fused = self._reader.rerank(query.text, fused, passages[:RERANKED])
        best = Candidates(fused.labels[: query.k], fused.scores[: query.k])
        documents = () if found.known is None else found.known.documents
        return Ranked(
            tuple(of[label] for label in best.labels.tolist()),
            best.scores,
            scores_of(legs.lexical, best.labels),
            scores_of(legs.vector, best.labels),
            frozenset((*documents, *(passage.document_id for passage in passages))),
            legs.allowed,
        )


def _kept(ranked: Candidates, live: Labels, first: int = RERANKED) -> Candidates:
    """`ranked` less those of the `first` that are not `live`: they were removed since."""
    asked = min(first, len(ranked))
    if len(live) == asked:
        return ranked
    keep = np.ones(len(ranked), np.bool_)
    keep[:asked] = np.isin(ranked.labels[:asked], live)
    return Candidates(ranked.labels[keep], ranked.scores[keep])

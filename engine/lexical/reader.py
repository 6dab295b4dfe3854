"""One snapshot of a lexical index: BM25 candidates and document frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p

import msgspec
import numpy as np

from engine.lexical import native
from engine.lexical.analyzer import query_terms
from engine.lexical.native import BODY, HEADER, Searcher, translated
from engine.lexical.scripts import is_single_unspaced
from engine.model.hits import Candidates, Labels, Scores, top_k

MAX_TERMS = 64
"""Distinct terms of a query, the rarest first; a whole page pasted as a question keeps what tells it apart."""
COMMON_SHARE = 0.1
"""Terms in more than this share of the passages choose no candidates when rarer ones are there: over 100,000 passages
a question takes 0.4 ms instead of 1.2 ms, and such a term weighs below ``ln(10)`` where a rare one weighs 11."""
COMMON_FROM = 2_000
"""Passages from which `COMMON_SHARE` counts; below, every term is cheap."""
MAX_PREFIXED = 32
"""Terms that a single character of an unspaced script stands for, the most frequent first."""
MAX_OVERFETCH = 5_000
"""Hits that are fetched to be filtered afterwards (3.4 ms); beyond, the index looks at the allowed labels only."""
FEW_LABELS = 1_000
_SCORE_DECIMALS = 4


class LexicalQuery(msgspec.Struct, frozen=True):
    """Words to look for, never a query language.

    Attributes:
        header_weight: factor on the BM25 of a match in a header; that of the body is 1.
    """

    text: str
    header_weight: float = 1.0


class LexicalReader:
    """What an index held when the reader was made. Thread-safe."""

    def __init__(self, searcher: Searcher, languages: Sequence[str]) -> None:
        self._searcher = searcher
        self._languages = tuple(languages)

    @property
    def num_passages(self) -> int:
        return self._searcher.num_docs

    @property
    def languages(self) -> tuple[str, ...]:
        """Those of the indexed passages, besides English."""
        return self._languages

    def document_frequency(self, term: str) -> int:
        """Passages whose body holds `term`, as `query_terms` gives it. Removed ones count until segments merge."""
        return self._searcher.doc_freq(BODY, term)

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each, as in BM25; terms without a passage are left out."""
        total = self.num_passages
        with translated("count terms"):
            frequencies = {term: self._searcher.doc_freq(BODY, term) for term in dict.fromkeys(terms)}
        return {term: log1p((max(total, df) - df + 0.5) / (df + 0.5)) for term, df in frequencies.items() if df > 0}

    def search(self, query: LexicalQuery, k: int, *, allowed: Labels | None = None) -> Candidates:
        """The best `k` of `allowed` (all, if None): the sum of the BM25 of every term in header and body.

        The scores are those of the whole index, whatever `allowed` holds; rounded to 4 decimals, so that equal passages
        score equal by whichever way they were found. A passage without any term is no candidate.

        Args:
            k: >= 0.
            allowed: strictly increasing; unknown and removed labels are ignored. Empty gives empty.
        """
        if k < 0:
            raise ValueError(f"k must be >= 0, got {k}")
        if k == 0 or self.num_passages == 0 or (allowed is not None and len(allowed) == 0):
            return Candidates.empty()
        with translated("search"):
            weights = self._weights(query)
            if not weights:
                return Candidates.empty()
            union = native.any_of([native.term_query(field, term, w) for (field, term), w in weights.items()])
            return self._best(union, k) if allowed is None else self._best_allowed(union, k, allowed)

    def _weights(self, query: LexicalQuery) -> Mapping[tuple[str, str], float]:
        """(field, term) → factor on its BM25; terms that no passage holds are left out."""
        total = self.num_passages
        held: dict[str, tuple[int, int]] = {}
        for term in dict.fromkeys(query_terms(query.text, self._languages)):
            for known in self._spelled(term):
                counts = self._searcher.doc_freq(BODY, known), self._searcher.doc_freq(HEADER, known)
                if any(counts):
                    held[known] = counts
        rarest = sorted(held, key=lambda term: sum(held[term]))[:MAX_TERMS]
        if total >= COMMON_FROM:
            selective = [term for term in rarest if held[term][0] <= COMMON_SHARE * total]
            rarest = selective or rarest[:1]
        weights: dict[tuple[str, str], float] = {}
        for term in rarest:
            in_body, in_header = held[term]
            if in_body:
                weights[BODY, term] = 1.0
            if in_header and query.header_weight > 0:
                weights[HEADER, term] = query.header_weight
        return weights

    def _spelled(self, term: str) -> list[str]:
        if not is_single_unspaced(term):
            return [term]
        found = dict(self._searcher.terms_with_prefix(BODY, term, limit=MAX_PREFIXED))
        found |= dict(self._searcher.terms_with_prefix(HEADER, term, limit=MAX_PREFIXED))
        return list(found)

    def _best(self, query: native.Query, k: int) -> Candidates:
        labels, scores = self._fetch(query, k + 8)
        return self._cut(query, labels, scores, k, k + 8)

    def _best_allowed(self, query: native.Query, k: int, allowed: Labels) -> Candidates:
        total = self.num_passages
        fetch = int(1.5 * k * total / len(allowed)) + 32
        while fetch <= MAX_OVERFETCH:
            labels, scores = self._fetch(query, fetch)
            exhausted = len(labels) < fetch
            keep = is_member(labels, allowed)
            # All that score above the last one fetched are here; among its equals a smaller label may be missing.
            settled = int(np.count_nonzero(keep & (scores > scores[-1]))) if len(scores) else 0
            if exhausted or settled >= k:
                return top_k(labels[keep], scores[keep], k)
            fetch *= 3
        few = len(allowed) <= FEW_LABELS
        narrowed = native.both(query, native.among(allowed.tolist(), few=few))
        return self._best(narrowed, k)

    def _cut(self, query: native.Query, labels: Labels, scores: Scores, k: int, fetched: int) -> Candidates:
        """The best `k` of what was fetched, with more fetched while equals of the last one may be missing."""
        while len(labels) == fetched and scores[k - 1] <= scores[-1]:
            fetched *= 4
            labels, scores = self._fetch(query, fetched)
        return top_k(labels, scores, k)

    def _fetch(self, query: native.Query, limit: int) -> tuple[Labels, Scores]:
        """At most `limit` matches, best first; equals in any order."""
        limit = min(limit, self.num_passages)
        hits = self._searcher.search(query, limit, count=False).hits
        labels = self._searcher.fast_field_values(native.LABEL, [address for _, address in hits])
        scores = np.asarray([score for score, _ in hits], np.float32)
        return np.asarray(labels, np.int64), np.round(scores, _SCORE_DECIMALS)


def is_member(labels: Labels, allowed: Labels) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of `labels` stand in `allowed` (strictly increasing, not empty).

    >>> is_member(np.array([5, 1, 9]), np.array([1, 5])).tolist()
    [True, True, False]
    """
    at = np.minimum(np.searchsorted(allowed, labels), len(allowed) - 1)
    return allowed[at] == labels

"""One snapshot of a lexical index: BM25 candidates and document frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from engine.analysis.analyzer import DEFAULT_LANGUAGE, language_of, query_words
from engine.analysis.scripts import is_single_unspaced
from engine.analysis.stop_words import stop_terms
from engine.lexical import native
from engine.lexical.native import BODY, HEADER, Searcher, translated
from engine.lexical.spelling import PREFIX, closest, may_be_misspelt
from engine.model.hits import Candidates, Labels, Scores, top_k
from engine.ranking.terms import QueryTerms, weigh_terms

MAX_TERMS = 64
"""Distinct terms of a query, the rarest first; a whole page pasted as a question keeps what tells it apart."""
COMMON_FROM = 20_000
"""Passages from which terms that most passages hold choose no candidates, where rarer ones do; below, all are cheap.
Over 100,000 passages a question takes 0.4 ms instead of 1.2 ms, and rerankers weigh those terms all the same."""
COMMON_SHARE = 0.25
COMMON_STOP_SHARE = 0.1
"""The share of passages that makes a term common, and one that makes a function word common."""
HEADER_WEIGHT = 0.2
"""On top of the header's words in the body field."""
MAX_NAMING_TERMS = 96
"""Distinct terms of a text that headers are looked up for: those of some three paragraphs less what is common."""
COMMON_HEADERS = 50
"""A term of at most so many headers may name one of them, however few passages there are."""
MAX_PREFIXED = 32
"""Terms that a single character of an unspaced script stands for, the most frequent first."""
MAIN_SHARE = 0.1
"""A language of this share of the passages, or more, is one that every question is read in."""
MAX_NEIGHBOURS = 20_000
"""Indexed words that are compared with an unknown one."""
MAX_OVERFETCH = 5_000
"""Hits that are fetched to be filtered afterwards (3.4 ms); beyond, the index looks at the allowed labels only."""
FEW_LABELS = 1_000
TEXTS_KEPT = 64
"""Texts whose terms are remembered a snapshot; a search has some ten."""
_SCORE_DECIMALS = 4


class LexicalQuery(msgspec.Struct, frozen=True):
    """Words to look for, never a query language.

    Attributes:
        header_weight: factor on the BM25 of the header alone, beside that of header and body together.
    """

    text: str
    header_weight: float = HEADER_WEIGHT


class _ReadText(NamedTuple):
    """The languages that a text was read in, and its distinct words, each with those of its terms that are held."""

    languages: list[str]
    words: list[tuple[tuple[str, ...], dict[str, int]]]


class LexicalReader:
    """What an index held when the reader was made. Thread-safe."""

    def __init__(self, searcher: Searcher, languages: Mapping[str, int]) -> None:
        """Use `LexicalIndex.reader`."""
        self._searcher = searcher
        self.languages = languages
        # A question is asked for its terms several times: for its vector, by each of its queries, and when it is read.
        self._read_texts: dict[str, _ReadText] = {}
        self._weighed_texts: dict[tuple[str, bool], QueryTerms] = {}

    @property
    def num_passages(self) -> int:
        return self._searcher.num_docs

    def terms(self, text: str) -> QueryTerms:
        """The words of `text` as terms with weights: the `MAX_TERMS` that say most.

        A word that no passage holds gives way to the most frequent one a slip of the pen away, where there is one.
        """
        weighed = self._weighed(text, corrected=True)
        if len(weighed) <= MAX_TERMS:
            return weighed
        return weighed.at(np.sort(np.argsort(-weighed.weights, kind="stable")[:MAX_TERMS]))

    def rarity(self, text: str) -> dict[str, float]:
        """BM25's idf of each term of `text`, in nats; larger is rarer, and a term that no passage holds the rarest."""
        weighed = self._weighed(text, corrected=False)
        return dict(zip(weighed.terms, (weighed.weights / weighed.factors).tolist(), strict=True))

    def _weighed(self, text: str, *, corrected: bool) -> QueryTerms:
        known = self._weighed_texts.get((text, corrected))
        if known is None:
            # Where every word is held there is nothing to correct.
            corrected = corrected and any(word and not held for word, held in self._read(text).words)
            known = self._weighed_texts.get((text, corrected)) or self._weigh(text, corrected=corrected)
            if len(self._weighed_texts) >= TEXTS_KEPT:
                self._weighed_texts.clear()
            self._weighed_texts[text, corrected] = known
        return known

    def _weigh(self, text: str, *, corrected: bool) -> QueryTerms:
        languages, words = self._read(text)
        frequencies: dict[str, int] = {}
        with translated("count terms"):
            for word, known in words:
                frequencies |= known or (self._unknown(word, corrected=corrected) if word else {})
        stop_words = stop_terms(languages)
        terms = list(frequencies)
        stops = [term in stop_words for term in terms]
        foreign = tuple(language for language in languages if language != DEFAULT_LANGUAGE)
        return weigh_terms(terms, list(frequencies.values()), stops, self.num_passages, foreign)

    def _readings(self, text: str) -> list[str]:
        """The languages to read a question in: its own where the index holds it, then those the index mainly holds.

        A few foreign passages among many do not make every question be read in their language: stems of one language
        are other words in another.
        """
        held = self.languages
        if not held.keys() - {DEFAULT_LANGUAGE}:
            return [DEFAULT_LANGUAGE]
        own = language_of(text)
        main = sorted(held, key=lambda language: (-held[language], language))
        main = [language for language in main if held[language] >= MAIN_SHARE * sum(held.values())]
        return list(dict.fromkeys([own, *main] if own in held else main))

    def _read(self, text: str) -> _ReadText:
        found = self._read_texts.get(text)
        if found is None:
            languages = self._readings(text)
            with translated("count terms"):
                words = dict.fromkeys(query_words(text, languages))
                found = _ReadText(languages, [(word, self._known(word)) for word in words])
            if len(self._read_texts) >= TEXTS_KEPT:
                self._read_texts.clear()
            self._read_texts[text] = found
        return found

    def _known(self, word: Sequence[str]) -> dict[str, int]:
        """The terms of one word that some passage holds, with their frequencies."""
        spelled = [term for reading in word for term in self._spelled(reading)]
        counts = {term: self._searcher.doc_freq(BODY, term) for term in spelled}
        return {term: count for term, count in counts.items() if count > 0}

    def _unknown(self, word: Sequence[str], *, corrected: bool) -> dict[str, int]:
        """The first reading of a word that no passage holds, or what it meant."""
        meant = self._meant(word[0]) if corrected else word[0]
        return {meant: self._searcher.doc_freq(BODY, meant)}

    def _meant(self, unknown: str) -> str:
        if not may_be_misspelt(unknown):
            return unknown
        near = self._searcher.terms_with_prefix(BODY, unknown[:PREFIX], limit=MAX_NEIGHBOURS)
        return closest(unknown, near) or unknown

    def search(self, query: LexicalQuery, k: int, *, allowed: Labels | None = None) -> Candidates:
        """As `search_terms`, for a text."""
        if k < 0:
            raise ValueError(f"k must be >= 0, got {k}")
        return self.search_terms(self.terms(query.text), k, header_weight=query.header_weight, allowed=allowed)

    def search_terms(
        self, terms: QueryTerms, k: int, *, header_weight: float = HEADER_WEIGHT, allowed: Labels | None = None
    ) -> Candidates:
        """The best `k` of `allowed` (all, if None): the sum of the BM25 of every term, times its factor.

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
            clauses: list[native.Query] = []
            for term, factor in self._selective(terms):
                clauses.append(native.term_query(BODY, term, factor))
                if header_weight > 0:
                    clauses.append(native.term_query(HEADER, term, header_weight * factor))
            if not clauses:
                return Candidates.empty()
            union = native.any_of(clauses)
            return self._best(union, k) if allowed is None else self._best_allowed(union, k, allowed)

    def search_headers(self, text: str, k: int, *, allowed: Labels | None = None) -> Candidates:
        """The best `k` of `allowed` (all, if None) by the BM25 of their headers alone: those that `text` may name.

        Only the `MAX_NAMING_TERMS` terms of `text` that fewest headers hold are looked for. `allowed` and errors are as
        in `search_terms`.
        """
        if k < 0:
            raise ValueError(f"k must be >= 0, got {k}")
        if k == 0 or self.num_passages == 0 or (allowed is not None and len(allowed) == 0):
            return Candidates.empty()
        common = max(COMMON_HEADERS, COMMON_SHARE * self.num_passages)
        with translated("search"):
            terms = {term for word in query_words(text, self._readings(text)) for term in word}
            counts = {term: self._searcher.doc_freq(HEADER, term) for term in terms}
            held = sorted((count, term) for term, count in counts.items() if 0 < count <= common)
            if not held:
                return Candidates.empty()
            union = native.any_of([native.term_query(HEADER, term, 1.0) for _, term in held[:MAX_NAMING_TERMS]])
            return self._best(union, k) if allowed is None else self._best_allowed(union, k, allowed)

    def _selective(self, terms: QueryTerms) -> list[tuple[str, float]]:
        """Terms that choose candidates, with their factors."""
        total = self.num_passages
        held = [
            (term, factor, df, COMMON_STOP_SHARE if stop else COMMON_SHARE)
            for term, factor, df, stop in zip(
                terms.terms, terms.factors.tolist(), terms.frequencies.tolist(), terms.stops.tolist(), strict=True
            )
            if df > 0
        ]
        if total < COMMON_FROM or not held:
            return [(term, factor) for term, factor, _, _ in held]
        rare = [(term, factor) for term, factor, df, share in held if df <= share * total]
        return rare or [min(held, key=lambda entry: entry[2])[:2]]

    def _spelled(self, term: str) -> list[str]:
        if not is_single_unspaced(term):
            return [term]
        return [found for found, _ in self._searcher.terms_with_prefix(BODY, term, limit=MAX_PREFIXED)]

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

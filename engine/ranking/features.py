"""What a question's words do inside each passage: coverage, and how closely together they stand.

All passages are looked at in one go, as one array of term ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.analysis.term_ids import TermIds
from engine.model.hits import distinct
from engine.ranking.passage_terms import Indices, PassageTerms, TermTexts, places_of_any

Shares = npt.NDArray[np.float32]
_Flags = npt.NDArray[np.bool_]

WINDOW = 15
"""Words in which a group of query words counts as together: about a clause. 30 gains less, whole passages least."""
CLAUSE_WINDOW = 30
"""Words in which what the header says already counts too: about a sentence and the one before it."""
HEADER_SHARE = 0.35
"""What a query word counts that stands in the header only, as a share of one that stands in the window."""
PHRASE_GAP = 3
"""Words from a query word to the one that follows it in the question, at most, to count as its phrase."""


@dataclass(frozen=True, slots=True)
class TermFeatures:
    """Shares of the question's weight, each of shape ``(passages,)`` and in [0, 1].

    Attributes:
        coverage: of the terms that stand in the passage or its header.
        window: of the terms that stand together in the best `WINDOW` words of the passage.
        document_coverage: of the terms that stand in any of the passages of the same document.
        headed_window: of the terms that stand together in the best `CLAUSE_WINDOW` words, or in the header.
        phrase: of the neighbouring terms of the question that follow each other in the passage or its header; each
            pair weighs as its lighter term.
        named: share of the header's own terms that the question names; function words of the question name nothing.
    """

    coverage: Shares
    window: Shares
    document_coverage: Shares
    headed_window: Shares
    phrase: Shares
    named: Shares


def term_features(query: TermIds, weights: Shares, stops: _Flags, passages: PassageTerms) -> TermFeatures:
    """Features of passages.

    Args:
        query: shape ``(terms,)``, distinct.
        weights: of each term of the query, >= 0.
        stops: terms that no window is looked for; they are in all of them.
    """
    total = float(weights.sum())
    count = len(passages)
    if count == 0 or len(query) == 0 or total <= 0:
        none = np.zeros(count, np.float32)
        return TermFeatures(none, none, none, none, none, none)
    in_body, in_header = _matches(query, passages.bodies), _matches(query, passages.headers)
    present = np.zeros((count, len(query)), np.bool_)
    present[in_header.at, in_header.slots] = True
    headed = present & ~stops
    present[in_body.at, in_body.slots] = True
    in_body, in_header = in_body.without(stops), in_header.without(stops)
    window, headed_window = _windows(in_body, weights, headed)
    named = headed.sum(axis=1) / np.maximum(_distinct(passages.headers), 1)
    return TermFeatures(
        coverage=(present @ weights / total).astype(np.float32),
        window=window / np.float32(total),
        document_coverage=(_by_document(present, passages.document_numbers) @ weights / total).astype(np.float32),
        headed_window=headed_window / np.float32(total),
        phrase=_phrase([in_body, in_header], weights, stops, count),
        named=named.astype(np.float32),
    )


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Of query terms in texts, by text, then position: index of the text, index of the term, position."""

    at: Indices
    slots: Indices
    positions: Indices

    def without(self, terms: _Flags) -> _Occurrences:
        keep = ~terms[self.slots]
        return _Occurrences(self.at[keep], self.slots[keep], self.positions[keep])


def _matches(query: TermIds, texts: TermTexts) -> _Occurrences:
    near = places_of_any(query, texts.terms)
    order = np.argsort(query)
    ordered, terms = query[order], texts.terms[near]
    slots = np.minimum(np.searchsorted(ordered, terms), len(query) - 1)
    same = ordered[slots] == terms
    found = near[same]
    ends = np.cumsum(texts.lengths)
    at = np.searchsorted(ends, found, side="right")
    return _Occurrences(at, order[slots[same]], found - (ends - texts.lengths)[at])


def _windows(found: _Occurrences, weights: Shares, headed: _Flags) -> tuple[Shares, Shares]:
    """Most weight of distinct terms in any `WINDOW` successive words of each passage; the same of `CLAUSE_WINDOW`.

    Beside the wider window a term of the header counts `HEADER_SHARE`.

    Args:
        found: occurrences of the terms that windows are looked for.
        headed: shape ``(passages, terms)``: which of those terms the header holds.
    """
    narrow = np.zeros(len(headed), np.float32)
    wide = HEADER_SHARE * (headed @ weights).astype(np.float32)
    count = len(found.at)
    if count == 0:
        return narrow, wide
    # One number a place, so that a window of one text never reaches into the next.
    places = found.at * (int(found.positions.max()) + WINDOW + CLAUSE_WINDOW + 1) + found.positions
    seen = np.zeros((count + 1, len(weights)), np.int32)
    seen[np.arange(1, count + 1), found.slots] = 1
    np.cumsum(seen, axis=0, out=seen)
    close = seen[np.searchsorted(places, places + WINDOW)] > seen[:-1]
    near = seen[np.searchsorted(places, places + CLAUSE_WINDOW)] > seen[:-1]
    # Occurrences come by text, so the best of each text is the best of a run.
    first = np.flatnonzero(np.r_[True, found.at[1:] != found.at[:-1]])
    texts = found.at[first]
    narrow[texts] = np.maximum.reduceat(close @ weights, first)
    beside = headed[found.at] & ~near
    wide[texts] = np.maximum.reduceat(near @ weights + HEADER_SHARE * (beside @ weights), first)
    return narrow, wide


def _phrase(fields: Sequence[_Occurrences], weights: Shares, stops: _Flags, passages: int) -> Shares:
    """Weighted share of neighbouring terms that follow each other in a field within `PHRASE_GAP` words.

    Ordered windows of the sequential dependence model (Metzler & Croft 2005).
    """
    content = np.flatnonzero(~stops)
    if len(content) < 2:
        return np.zeros(passages, np.float32)
    following = np.full(len(weights), -1, np.intp)
    following[content[:-1]] = content[1:]
    lighter = np.zeros(len(weights), np.float32)
    lighter[content[:-1]] = np.minimum(weights[content[:-1]], weights[content[1:]])
    held = np.zeros((passages, len(weights)), np.bool_)
    for found in fields:
        for step in range(1, min(PHRASE_GAP + 1, len(found.at))):
            first, second = slice(None, -step), slice(step, None)
            follows = (found.at[first] == found.at[second]) & (following[found.slots[first]] == found.slots[second])
            follows &= found.positions[second] - found.positions[first] <= PHRASE_GAP
            held[found.at[first][follows], found.slots[first][follows]] = True
    return (held @ lighter / max(float(lighter.sum()), 1e-9)).astype(np.float32)


def _distinct(texts: TermTexts) -> Indices:
    """How many different terms each text holds."""
    of = np.repeat(np.arange(len(texts.lengths), dtype=np.uint64), texts.lengths)
    terms = distinct(of << np.uint64(32) | texts.terms)
    return np.bincount((terms >> np.uint64(32)).astype(np.int64), minlength=len(texts.lengths))


def _by_document(present: _Flags, of: Indices) -> _Flags:
    union = np.zeros((int(of.max()) + 1, present.shape[1]), np.bool_)
    np.logical_or.at(union, of, present)
    return union[of]

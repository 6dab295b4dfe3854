"""Posting lists in rows of packed records, and BM25 over them, scored as the embedded index scores.

A record is 10 bytes: the label less the row's first one, how often the term stands in the passage (its header
included) and in the header alone, and both lengths in the one-byte form that Lucene and tantivy keep, so that both
kinds of store rank alike. One row a term and write; frequencies of the namespace decide, never those of a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.model.hits import Candidates, Labels, top_k
from engine.ranking.terms import QueryTerms

Records = npt.NDArray[np.void]
_Floats = npt.NDArray[np.float64]

RECORD = np.dtype(
    [("label", "<u4"), ("body", "<u2"), ("header", "<u2"), ("body_length", "u1"), ("header_length", "u1")]
)
K1, B = 1.2, 0.75
"""Of BM25, as tantivy has them."""
SCORE_DECIMALS = 4

_EXACT_LENGTHS = 24
_MOST = 65_535


def _lengths() -> npt.NDArray[np.int64]:
    """The length that each byte stands for: exact up to 40, then with three significant bits (Lucene's SmallFloat)."""
    table: list[int] = []
    for byte in range(256):
        bits, shift = (byte - _EXACT_LENGTHS) & 7, ((byte - _EXACT_LENGTHS) >> 3) - 1
        table.append(byte if byte < _EXACT_LENGTHS else _EXACT_LENGTHS + (bits if shift < 0 else (bits | 8) << shift))
    return np.asarray(table, np.int64)


LENGTHS = _lengths()


class AnalysedPassage(NamedTuple):
    """Terms of a passage in order; `body` begins with those of the header."""

    label: int
    header: Sequence[str]
    body: Sequence[str]


class Totals(NamedTuple):
    """Of all passages that were ever put into a namespace's postings."""

    passages: int
    body_terms: int
    header_terms: int


class PostingRow(NamedTuple):
    """Postings of one term that one write made."""

    term: str
    first_label: int
    passages: int
    postings: bytes


def posting_rows(passages: Iterable[AnalysedPassage]) -> tuple[list[PostingRow], Totals]:
    """One row a distinct term of `passages` (labels ascending), and what they add to the totals."""
    held: dict[str, list[tuple[int, int, int, int, int]]] = {}
    count = body_terms = header_terms = 0
    for label, header, body in passages:
        count, body_terms, header_terms = count + 1, body_terms + len(body), header_terms + len(header)
        in_header = Counter(header)
        lengths = _length_byte(len(body)), _length_byte(len(header))
        for term, times in Counter(body).items():
            record = (label, min(times, _MOST), min(in_header[term], _MOST), *lengths)
            held.setdefault(term, []).append(record)
    rows: list[PostingRow] = []
    for term, records in sorted(held.items()):
        first = records[0][0]
        packed = np.array([(label - first, *rest) for label, *rest in records], RECORD)
        rows.append(PostingRow(term, first, len(packed), packed.tobytes()))
    return rows, Totals(count, body_terms, header_terms)


def _length_byte(length: int) -> int:
    return int(np.searchsorted(LENGTHS, length, side="right")) - 1


def best_passages(
    terms: QueryTerms,
    rows: Mapping[str, Sequence[tuple[int, bytes]]],
    totals: Totals,
    *,
    header_weight: float,
    allowed: Labels | None,
) -> Candidates:
    """Every passage that holds one of `terms`, by the sum of their BM25 times their factors; best first.

    Robertson & Zaragoza (2009). The header adds `header_weight` of its own BM25.

    Args:
        rows: for each term, its rows as ``(first_label, postings)``.
        allowed: strictly increasing; None for all.
    """
    found: list[tuple[Labels, _Floats]] = []
    for term, factor in zip(terms.terms, terms.factors.tolist(), strict=True):
        if not rows.get(term):
            continue
        labels, records = _unpacked(rows[term])
        score = _bm25(records["body"], records["body_length"], len(records), totals.passages, totals.body_terms)
        if header_weight > 0:
            score = score + header_weight * _header_bm25(records, totals)
        found.append((labels, factor * score))
    return _summed(found, allowed)


def best_headers(
    rows: Mapping[str, Sequence[tuple[int, bytes]]], totals: Totals, *, allowed: Labels | None
) -> Candidates:
    """Every passage whose header holds a term of `rows`, by the BM25 of headers alone; best first."""
    found: list[tuple[Labels, _Floats]] = []
    for parts in rows.values():
        labels, records = _unpacked(parts)
        keep = records["header"] > 0
        found.append((labels[keep], _header_bm25(records, totals)[keep]))
    return _summed(found, allowed)


def header_frequency(parts: Sequence[tuple[int, bytes]]) -> int:
    """How many headers hold the term."""
    return int(np.count_nonzero(_unpacked(parts)[1]["header"]))


def _unpacked(parts: Sequence[tuple[int, bytes]]) -> tuple[Labels, Records]:
    records = np.concatenate([np.frombuffer(packed, RECORD) for _, packed in parts])
    first = np.repeat([start for start, _ in parts], [len(packed) // RECORD.itemsize for _, packed in parts])
    return first + records["label"].astype(np.int64), records


def _summed(found: Sequence[tuple[Labels, _Floats]], allowed: Labels | None) -> Candidates:
    if not found:
        return Candidates.empty()
    labels, slots = np.unique(np.concatenate([labels for labels, _ in found]), return_inverse=True)
    scores = np.bincount(slots, weights=np.concatenate([scores for _, scores in found]), minlength=len(labels))
    if allowed is not None:
        keep = np.isin(labels, allowed, assume_unique=True)
        labels, scores = labels[keep], scores[keep]
    return top_k(labels, np.round(scores.astype(np.float32), SCORE_DECIMALS), len(labels))


def _header_bm25(records: Records, totals: Totals) -> _Floats:
    df = int(np.count_nonzero(records["header"]))
    return _bm25(records["header"], records["header_length"], df, totals.passages, totals.header_terms)


def _bm25(
    times: npt.NDArray[np.uint16], lengths: npt.NDArray[np.uint8], df: int, passages: int, terms: int
) -> npt.NDArray[np.float64]:
    idf = np.log1p((max(passages, df) - df + 0.5) / (df + 0.5))
    average = terms / max(passages, 1)
    tf = times.astype(np.float64)
    return idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * LENGTHS[lengths] / max(average, 1e-9)))

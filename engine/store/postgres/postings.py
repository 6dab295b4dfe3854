"""Posting lists in rows of packed records, and BM25 over them, scored as the embedded index scores.

A record is 10 bytes: the label less the row's first one, how often the term stands in the passage (its header
included) and in the header alone, and both lengths in the one-byte form that Lucene and tantivy keep, so that both
kinds of store rank alike. One row a term and write; frequencies of the namespace decide, never those of a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.model.hits import Labels, Scores

Records: TypeAlias = npt.NDArray[np.void]
Found: TypeAlias = tuple[Labels, Scores]
"""Passages in the order of their labels, and their scores."""

RECORD = np.dtype(
    [("label", "<u4"), ("body", "<u2"), ("header", "<u2"), ("body_length", "u1"), ("header_length", "u1")]
)
K1, B = 1.2, 0.75
"""Of BM25, as tantivy has them."""
SCORE_DECIMALS = 4
DENSE_SPAN, DENSE_FROM = 8, 200_000
"""Scores are summed in an array over all labels where these are at most so many times the postings, and so many more:
a tenth of the time of sorting them."""

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


class TermPostings:
    """The posting list of one term. Never changes.

    Args:
        labels: strictly increasing.
        records: parallel to `labels`; what they hold of labels is not read.
    """

    __slots__ = ("_headers", "_scored", "labels", "records")

    def __init__(self, labels: Labels, records: Records) -> None:
        self.labels = labels
        self.records = records
        # A list is scored again for each query that has the term, and totals change with writes only.
        self._scored: tuple[tuple[Totals, float], Scores] | None = None
        self._headers: npt.NDArray[np.intp] | None = None

    @classmethod
    def of(cls, rows: Sequence[tuple[int, bytes]]) -> TermPostings:
        """From rows as ``(first_label, postings)``, in order."""
        if not rows:
            return cls(np.empty(0, np.int64), np.empty(0, RECORD))
        records = np.concatenate([np.frombuffer(packed, RECORD) for _, packed in rows])
        first = np.repeat([start for start, _ in rows], [len(packed) // RECORD.itemsize for _, packed in rows])
        return cls(first + records["label"].astype(np.int64), records)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def nbytes(self) -> int:
        """What it takes once it was scored."""
        return len(self) * (self.labels.itemsize + RECORD.itemsize + 4)

    def before(self, label: int) -> TermPostings:
        """Those of smaller labels."""
        end = int(np.searchsorted(self.labels, label))
        return self if end == len(self) else TermPostings(self.labels[:end], self.records[:end])

    def followed_by(self, other: TermPostings) -> TermPostings:
        """With those of `other`, whose labels are larger."""
        if not len(other):
            return self
        return TermPostings(np.concatenate([self.labels, other.labels]), np.concatenate([self.records, other.records]))

    @property
    def headers(self) -> npt.NDArray[np.intp]:
        """Places of the passages whose header holds the term."""
        if self._headers is None:
            self._headers = np.flatnonzero(self.records["header"])
        return self._headers

    def scores(self, totals: Totals, header_weight: float) -> Scores:
        """BM25 of each passage (Robertson & Zaragoza 2009); the header adds `header_weight` of its own."""
        held = self._scored
        if held is None or held[0] != (totals, header_weight):
            records = self.records
            score = _bm25(records["body"], records["body_length"], len(self), totals.passages, totals.body_terms)
            if header_weight > 0 and len(self.headers):
                score[self.headers] += header_weight * self.header_scores(totals)
            held = self._scored = (totals, header_weight), score.astype(np.float32)
        return held[1]

    def header_scores(self, totals: Totals) -> npt.NDArray[np.float64]:
        """BM25 of the headers alone, of those at `headers`."""
        records = self.records[self.headers]
        return _bm25(records["header"], records["header_length"], len(records), totals.passages, totals.header_terms)


def summed(parts: Sequence[tuple[Labels, npt.NDArray[Any]]], span: int, allowed: Labels | None) -> Found:
    """The sum of the scores of each label; those of score 0 are left out.

    Args:
        parts: labels without duplicates, and a positive score each.
        span: larger than every label.
        allowed: strictly increasing; None for all.
    """
    total = sum(len(labels) for labels, _ in parts)
    if span <= DENSE_SPAN * total + DENSE_FROM:
        sums = np.zeros(span)
        for labels, scores in parts:
            sums[labels] += scores
        labels = np.flatnonzero(sums) if allowed is None else allowed[sums[allowed] > 0]
        scores = sums[labels]
    elif parts:
        labels, slots = np.unique(np.concatenate([labels for labels, _ in parts]), return_inverse=True)
        scores = np.bincount(slots, weights=np.concatenate([scores for _, scores in parts]), minlength=len(labels))
        if allowed is not None:
            keep = np.isin(labels, allowed, assume_unique=True)
            labels, scores = labels[keep], scores[keep]
    else:
        labels, scores = np.empty(0, np.int64), np.empty(0)
    return labels, np.round(scores.astype(np.float32), SCORE_DECIMALS)


def _bm25(
    times: npt.NDArray[np.uint16], lengths: npt.NDArray[np.uint8], df: int, passages: int, terms: int
) -> npt.NDArray[np.float64]:
    idf = np.log1p((max(passages, df) - df + 0.5) / (df + 0.5))
    average = terms / max(passages, 1)
    tf = times.astype(np.float64)
    return idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * LENGTHS[lengths] / max(average, 1e-9)))

"""Ranked results: `Candidates` (arrays, inside) and `Hit` (objects, at the edge)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from engine.model.notebook import hit_html, hit_markdown

Labels: TypeAlias = npt.NDArray[np.int64]
"""Passage labels: 64-bit, never negative, never reused within a namespace."""
Scores: TypeAlias = npt.NDArray[np.float32]
Vectors: TypeAlias = npt.NDArray[np.float32]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Candidates:
    """A ranking, best first; ties to the smaller label.

    Attributes:
        labels: shape ``(n,)``, int64, without duplicates.
        scores: shape ``(n,)``, float32, larger is better, never increasing.
    """

    labels: Labels
    scores: Scores

    def __post_init__(self) -> None:
        if self.labels.shape != self.scores.shape:
            raise ValueError(f"{self.labels.shape} labels but {self.scores.shape} scores")

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def empty(cls) -> Candidates:
        return cls(np.empty(0, np.int64), np.empty(0, np.float32))


def top_k(labels: Labels, scores: Scores, k: int) -> Candidates:
    """The `k` best by score; equal scores go to the smaller label.

    Args:
        labels: shape ``(n,)``, any order, without duplicates.
        scores: shape ``(n,)``, finite.
        k: length of the result, at most; >= 0.

    >>> top_k(np.array([7, 3, 5]), np.array([1.0, 2.0, 2.0], dtype=np.float32), 2).labels.tolist()
    [3, 5]
    """
    if k < 0:
        raise ValueError(f"k must be >= 0, got {k}")
    if 0 < k < len(labels) // 4:
        # A partial selection first: sorting everything is the cost of a scan of 100,000 rows.
        cut = np.partition(scores, len(scores) - k)[len(scores) - k]
        keep = np.flatnonzero(scores >= cut)
        labels, scores = labels[keep], scores[keep]
    order = np.lexsort((labels, -scores))[:k]
    return Candidates(labels[order].astype(np.int64, copy=False), scores[order].astype(np.float32, copy=False))


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The values, ascending, each once: `numpy.unique`, which imports masked arrays at its first call (25 ms).

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    first = np.empty(len(ordered), np.bool_)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a query brought up.

    ``text == document[attribute][start:end]``; for a list attribute, `attribute` names the element: ``tags[2]``.

    Attributes:
        start: offset into the attribute's value, in code points; `end` is exclusive.
        score: fused score, larger is better; comparable within one result only.
        lexical_score: BM25; 0.0 when no term of the query stands in the passage or the mode is ``vector``.
        vector_score: cosine similarity in [-1, 1]; 0.0 when the vector leg did not bring the passage up.
    """

    document_id: str
    attribute: str
    start: int
    end: int
    text: str
    score: float
    lexical_score: float = 0.0
    vector_score: float = 0.0

    def _repr_html_(self) -> str:
        return hit_html(self)

    def _repr_markdown_(self) -> str:
        return hit_markdown(self)

"""A query as a value, and what answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from engine.filters.check import CheckedFilter
from engine.model.document import Passage
from engine.model.hits import Hit, Scores

LegMode = Literal["hybrid", "lexical", "vector", "headers"]
"""``headers`` looks for documents that the text names: those whose header shares terms with it."""


class RetrievalQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for in one namespace.

    Attributes:
        k: passages wanted, >= 0.
        where: None for all documents.
    """

    text: str
    k: int = 10
    where: CheckedFilter | None = None
    mode: LegMode = "hybrid"


@dataclass(frozen=True, slots=True)
class Ranked:
    """Passages, best first, with parallel score arrays of shape ``(n,)``.

    Attributes:
        scanned: ids of every document that came up as a candidate, ranked here or not.
        allowed: passages that the filter left; -1 without a filter.
    """

    passages: tuple[Passage, ...]
    scores: Scores
    lexical_scores: Scores
    vector_scores: Scores
    scanned: frozenset[str]
    allowed: int = -1

    @classmethod
    def empty(cls, allowed: int = -1) -> Ranked:
        none = np.empty(0, np.float32)
        return cls((), none, none, none, frozenset(), allowed)

    def to_hits(self) -> list[Hit]:
        """The objects at the edge."""
        return [
            Hit(
                document_id=p.document_id,
                attribute=p.attribute,
                start=p.start,
                end=p.end,
                text=p.text,
                score=float(score),
                lexical_score=float(lexical),
                vector_score=float(vector),
            )
            for p, score, lexical, vector in zip(
                self.passages, self.scores, self.lexical_scores, self.vector_scores, strict=True
            )
        ]

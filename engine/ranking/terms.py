"""The words of a question with their weights, as the rankers use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float32]

STOP_WEIGHT = 0.25
"""Factor on function and question words. Leaving them out, or in, is worse on every collection."""
RARITY_EXPONENT = 0.25
"""BM25 weighs a term by its idf; this power of ``idf / max idf`` on top prefers the rare ones a little more."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Distinct terms of a question, in order of first occurrence.

    Attributes:
        terms: as the index holds them.
        factors: shape ``(len(terms),)``, in (0, 1]: what BM25 of each is multiplied by.
        weights: shape ``(len(terms),)``, >= 0: factor times idf, in nats; what a match of the term says.
        stops: shape ``(len(terms),)``, bool: function and question words.
        frequencies: shape ``(len(terms),)``: passages that hold each.
        languages: those of the indexed passages besides English, which decide how a text is stemmed.
    """

    terms: tuple[str, ...]
    factors: Weights
    weights: Weights
    stops: npt.NDArray[np.bool_]
    frequencies: npt.NDArray[np.int64]
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = (self.factors, self.weights, self.stops, self.frequencies)
        if any(len(column) != len(self.terms) for column in columns):
            raise ValueError("the columns differ in length")

    def __len__(self) -> int:
        return len(self.terms)

    def at(self, indexes: npt.NDArray[np.intp]) -> QueryTerms:
        """The terms at `indexes`, in that order."""
        kept: list[int] = indexes.tolist()
        return QueryTerms(
            tuple(self.terms[index] for index in kept),
            self.factors[indexes],
            self.weights[indexes],
            self.stops[indexes],
            self.frequencies[indexes],
            self.languages,
        )

    @classmethod
    def empty(cls) -> QueryTerms:
        none = np.empty(0, np.float32)
        return cls((), none, none, np.empty(0, np.bool_), np.empty(0, np.int64))


def weigh_terms(
    terms: Sequence[str],
    frequencies: Sequence[int],
    stops: Sequence[bool],
    passages: int,
    languages: tuple[str, ...] = (),
) -> QueryTerms:
    """Weights of `terms` (distinct) in a collection of `passages` passages.

    The idf is BM25's, ``ln(1 + (N - df + 0.5) / (df + 0.5))``. A term that no passage holds keeps the weight of the
    rarest: what the collection does not have counts as missing.

    Args:
        frequencies: passages that hold each term; may be above `passages` while removed ones are still counted.
        stops: which are function words.

    >>> weighed = weigh_terms(["the", "quokka"], [90, 1], [True, False], 100)
    >>> [f"{weight:.2f}" for weight in weighed.weights]
    ['0.01', '3.97']
    """
    if not terms:
        return QueryTerms.empty()
    df = np.asarray(frequencies, np.float64)
    total = max(passages, int(df.max()), 1)
    idf = np.log1p((total - df + 0.5) / (df + 0.5))
    stop = np.asarray(stops, np.bool_)
    factors = np.where(stop, STOP_WEIGHT, 1.0) * (idf / np.log1p((total + 0.5) / 0.5)) ** RARITY_EXPONENT
    weights = (factors * idf).astype(np.float32)
    return QueryTerms(
        tuple(terms), factors.astype(np.float32), weights, stop, np.asarray(frequencies, np.int64), languages
    )

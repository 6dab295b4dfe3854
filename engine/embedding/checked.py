"""Holds an embedder that others wrote to the protocol, so that nothing it returns can spoil an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.embedding.protocol import Embedder
from engine.errors import InvalidRequest, ModelOutputInvalid
from engine.model.hits import Vectors

_LONGEST_NAME = 256
_WIDEST = 8192
_SHORTEST = 1e-12


class CheckedEmbedder:
    """Passes texts on and verifies what comes back: shape, numbers, finite; scales every row to unit length.

    A row of zeros, which many embedders return for an empty text, becomes a fixed unit row.

    Raises:
        InvalidRequest: at once, when `inner` does not follow the protocol.
        ModelOutputInvalid: from the embed methods, when rows are missing, of another width or not finite.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._name = _checked_name(inner.name)
        self._dimension = _checked_dimension(inner.dimension)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._checked(self._inner.embed_passages, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._checked(self._inner.embed_queries, texts)

    def _checked(self, embed: Callable[[Sequence[str]], object], texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), np.float32)
        returned = embed(texts)
        try:
            rows = np.array(returned, dtype=np.float64, ndmin=2)
        except (TypeError, ValueError) as error:
            raise ModelOutputInvalid(f"Embedder {self._name!r} returned no array of numbers.") from error
        expected = (len(texts), self._dimension)
        if rows.shape != expected:
            raise ModelOutputInvalid(f"Embedder {self._name!r} returned shape {rows.shape}, not {expected}.")
        if not np.isfinite(rows).all():
            row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise ModelOutputInvalid(f"Embedder {self._name!r} returned NaN or infinity for text {row}.")
        return self._to_unit(rows)

    def _to_unit(self, rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Vectors:
        # The largest value first: squares of float64 may overflow or vanish.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        is_zero = largest[:, 0] < _SHORTEST
        largest[is_zero] = 1.0
        rows /= largest
        rows[is_zero] = 1.0
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.ascontiguousarray(rows, dtype=np.float32)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InvalidRequest(f"An embedder's name is 1 to {_LONGEST_NAME} printable characters.", path="embedder.name")
    return name


def _checked_dimension(dimension: object) -> int:
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 1 <= dimension <= _WIDEST:
        raise InvalidRequest(f"An embedder's dimension is 1 to {_WIDEST}.", path="embedder.dimension")
    return dimension

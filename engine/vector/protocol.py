"""Nearest neighbours of a vector: the reader a search holds, and the writer that makes readers."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from engine.model.hits import Candidates, Labels, Vectors


class VectorReader(Protocol):
    """Searches the rows that were live when the reader was made; later writes do not change its answers."""

    @property
    def dimension(self) -> int: ...

    def __len__(self) -> int:
        """How many rows are live."""
        ...

    def search(self, query: Vectors, k: int, *, allowed: Labels | None = None) -> Candidates:
        """The nearest `k` of `allowed` (all, if None), best first; fewer when fewer exist.

        Args:
            query: shape ``(dimension,)``, float32, unit length, finite.
            k: >= 0.
            allowed: strictly increasing labels; unknown and removed ones are ignored. Empty gives empty.

        Returns:
            Cosine similarities in [-1, 1], to within 1e-5 at 256 dimensions.
        """
        ...

    def scores(self, query: Vectors, labels: Labels) -> Vectors:
        """Cosine similarity of each label, shape ``(len(labels),)``; NaN never, -1.0 for a label without a row."""
        ...


class VectorWriter(Protocol):
    """Changes an index; called by one thread at a time, while readers go on."""

    def add(self, labels: Labels, vectors: Vectors) -> None:
        """Append rows.

        Args:
            labels: shape ``(n,)``, strictly increasing and above every label ever added.
            vectors: shape ``(n, dimension)``, rows of unit length.

        Raises:
            ValueError: shape, type, order or a value that is not finite; nothing is added then.
        """
        ...

    def remove(self, labels: Labels) -> None:
        """Forget rows; an unknown label is ignored."""
        ...

    def reader(self) -> VectorReader:
        """A view of the rows that are live now, those not yet in the graph included."""
        ...

    def save(self, folder: Path, applied_seq: int) -> None:
        """Write a snapshot that `open` accepts; the side file with `applied_seq` is written last, fsynced."""
        ...

    def close(self) -> None: ...

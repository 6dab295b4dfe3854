"""Vectors with their labels, in blocks: the writer appends and removes, readers keep the view they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from engine.model.hits import Labels, Vectors
from engine.vector.codes import CodeBlock, coarse_error

BLOCK_ROWS = 16_384
"""Rows a block; growth appends a block and copies none."""

Rows: TypeAlias = npt.NDArray[np.int64]
"""Positions in a table, ascending unless said otherwise; -1 where a label has no row."""
Mask: TypeAlias = npt.NDArray[np.bool_]

_UNIT_TOLERANCE = 1e-3
_TABLE_SPAN = 16


@dataclass(frozen=True, slots=True)
class RowView:
    """The rows of a table at one moment; nothing the writer does later shows.

    Attributes:
        labels: shape ``(count,)``, strictly increasing; row r has label ``labels[r]``.
        alive: shape ``(count,)``; False where the row was removed.
        blocks: row r is row ``r % BLOCK_ROWS`` of ``blocks[r // BLOCK_ROWS]``.
        live: how many rows are alive.
        coarse_error: standard deviation of a similarity by the coarse codes alone, at most.
    """

    dimension: int
    labels: Labels
    alive: Mask
    blocks: tuple[CodeBlock, ...]
    live: int
    coarse_error: float

    def __len__(self) -> int:
        """Rows, removed ones included."""
        return len(self.labels)

    def rows_of(self, labels: Labels) -> Rows:
        """Row of each label, in the order given; -1 for a label without a row, and for a removed one."""
        if not len(self.labels) or not len(labels):
            return np.full(len(labels), -1, np.int64)
        first, last = int(self.labels[0]), int(self.labels[-1])
        if last - first + 1 == len(self.labels):
            rows = labels - first
            rows[(rows < 0) | (rows >= len(self.labels))] = -1
        else:
            rows = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
            rows[self.labels[rows] != labels] = -1
        rows[~self.alive[rows]] = -1
        return rows

    def allowed_rows(self, allowed: Labels) -> Rows:
        """Rows of the live ones among `allowed` (strictly increasing), ascending."""
        if not len(self.labels) or not len(allowed):
            return np.empty(0, np.int64)
        first, last = int(self.labels[0]), int(self.labels[-1])
        low, high = np.searchsorted(allowed, (first, last + 1))
        allowed = allowed[low:high]
        if len(allowed) * _TABLE_SPAN < last - first or last - first + 1 == len(self.labels):
            rows = self.rows_of(allowed)
            return rows[rows >= 0]
        # Many labels with gaps between: a table over their range beats a binary search for each, six times at 50,000.
        member = np.zeros(last - first + 1, np.bool_)
        member[allowed - first] = True
        return np.flatnonzero(member[self.labels - first] & self.alive)

    def copy_rows(self, rows: Rows) -> Vectors:
        """Vectors of `rows` (ascending), decoded, shape ``(len(rows), dimension)``, C-contiguous."""
        copied = np.empty((len(rows), self.dimension), np.float32)
        for block, begin, end in self.by_block(rows):
            self.blocks[block].decode(rows[begin:end] - block * BLOCK_ROWS, copied[begin:end])
        return copied

    def by_block(self, rows: Rows) -> list[tuple[int, int, int]]:
        """``(block, begin, end)`` for each block that holds some: ``rows[begin:end]`` stand in it."""
        edges = np.searchsorted(rows, np.arange(len(self.blocks) + 1) * BLOCK_ROWS).tolist()
        return [(b, edges[b], edges[b + 1]) for b in range(len(self.blocks)) if edges[b] < edges[b + 1]]


class RowTable:
    """The one mutable copy of the vectors. One thread at a time changes it; views go on.

    Appending never moves a row; removing replaces the mask of the living, so every view keeps its own.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: list[CodeBlock] = []
        self._labels: Labels = np.empty(0, np.int64)
        self._alive: Mask = np.empty(0, np.bool_)
        self._count = 0
        self._live = 0
        self._coarse_error = 0.0
        self._view: RowView | None = None

    @classmethod
    def restored(cls, dimension: int, labels: Labels, alive: Mask, codes: CodeBlock) -> RowTable:
        """A table over the stored `codes` of all `labels`; only rows that share their block with later ones are copied.

        Args:
            codes: may be mapped from a file; never written to.
        """
        table = cls(dimension)
        table._reserve(len(labels))
        table._labels[: len(labels)], table._alive[: len(labels)] = labels, alive
        table._count, table._live = len(labels), int(np.count_nonzero(alive))
        table._coarse_error = coarse_error(codes.scales)
        table.adopt(codes)
        return table

    def adopt(self, codes: CodeBlock) -> None:
        """Take the first rows from `codes`, which hold the same: mapped ones stay out of memory until they are read."""
        count = len(codes.scales)
        for number, start in enumerate(range(0, count, BLOCK_ROWS)):
            block = codes.part(start, min(start + BLOCK_ROWS, count))
            if len(block.scales) == BLOCK_ROWS:
                self._blocks[number : number + 1] = [block]
            elif number == len(self._blocks):
                # Later rows are written behind these.
                self._blocks.append(block.copied(BLOCK_ROWS))
        self._view = None

    def append(self, labels: Labels, vectors: Vectors) -> None:
        """Add rows that `check_rows` accepts, labels above all there are."""
        self._reserve(self._count + len(labels))
        start = self._count
        done = 0
        while done < len(labels):
            block, offset = divmod(start + done, BLOCK_ROWS)
            if block == len(self._blocks):
                self._blocks.append(CodeBlock.unfilled(BLOCK_ROWS, self.dimension))
            part = min(BLOCK_ROWS - offset, len(labels) - done)
            self._blocks[block].encode(offset, vectors[done : done + part])
            scales = self._blocks[block].scales[offset : offset + part]
            self._coarse_error = max(self._coarse_error, coarse_error(scales))
            done += part
        self._labels[start : start + len(labels)] = labels
        self._alive[start : start + len(labels)] = True
        self._count += len(labels)
        self._live += len(labels)
        self._view = None

    def remove(self, labels: Labels) -> Rows:
        """Rows that died, ascending. Unknown and dead labels are ignored."""
        rows = self.view().rows_of(labels)
        rows = np.unique(rows[rows >= 0])
        if len(rows):
            alive = self._alive.copy()
            alive[rows] = False
            self._alive = alive
            self._live -= len(rows)
            self._view = None
        return rows

    def view(self) -> RowView:
        """What is there now; costs nothing when nothing changed."""
        if self._view is None:
            count = self._count
            self._view = RowView(
                self.dimension,
                self._labels[:count],
                self._alive[:count],
                tuple(self._blocks),
                self._live,
                self._coarse_error,
            )
        return self._view

    def _reserve(self, count: int) -> None:
        if count <= len(self._labels):
            return
        capacity = max(count, len(self._labels) * 3 // 2, 1024)
        labels, alive = np.empty(capacity, np.int64), np.zeros(capacity, np.bool_)
        labels[: self._count] = self._labels[: self._count]
        alive[: self._count] = self._alive[: self._count]
        self._labels, self._alive = labels, alive


def check_rows(labels: Labels, vectors: Vectors, dimension: int, *, above: int) -> None:
    """Refuse what must never reach an index.

    Raises:
        ValueError: another shape or type, labels not strictly increasing from above `above`, a vector whose length is
            not 1 (within 0.001); NaN and infinities among them.
    """
    if vectors.dtype != np.float32 or vectors.shape != (len(labels), dimension):
        raise ValueError(f"need float32 {(len(labels), dimension)}, got {vectors.dtype} {vectors.shape}")
    if labels.dtype != np.int64 or labels.ndim != 1:
        raise ValueError(f"need int64 labels of one axis, got {labels.dtype} {labels.shape}")
    if len(labels) and (labels[0] <= above or not (labels[1:] > labels[:-1]).all()):
        raise ValueError(f"labels must increase strictly from above {above}")
    squares = np.einsum("ij,ij->i", vectors, vectors)
    # Written so that NaN fails: no comparison with it is true.
    if not (np.abs(squares - 1.0) <= 2 * _UNIT_TOLERANCE).all():
        row = int(np.flatnonzero(~(np.abs(squares - 1.0) <= 2 * _UNIT_TOLERANCE))[0])
        raise ValueError(f"vector {row} is not of unit length")


def check_query(query: Vectors, dimension: int) -> None:
    """Refuse a query that must never reach an index.

    Raises:
        ValueError: another shape or type, or not of unit length; NaN and infinities among them.
    """
    if query.dtype != np.float32 or query.shape != (dimension,):
        raise ValueError(f"need a float32 query {(dimension,)}, got {query.dtype} {query.shape}")
    if not abs(float(query @ query) - 1.0) <= 2 * _UNIT_TOLERANCE:
        raise ValueError("the query is not of unit length")

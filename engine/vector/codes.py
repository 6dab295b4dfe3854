"""Unit vectors in two bytes a component: a coarse byte that scans read, and a fine byte that makes scores exact.

A component ``x`` is ``scale * (coarse + fine / 254)`` with ``scale = max|row| / 127``: residual scalar quantisation
(Jégou et al. 2011 do the same with vector codebooks). Rows of 256 dimensions decode to within 4e-6 of each component;
the coarse byte alone gives a cosine to about 6e-4, a quarter of the memory that float32 rows need.
"""

from __future__ import annotations

import threading
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from engine.model.hits import Scores, Vectors

Codes: TypeAlias = npt.NDArray[np.int8]

LEVELS = 127
"""Largest code; the scale of a row makes its largest component this."""
FINE_STEPS = 254.0
"""Steps of the fine byte in one coarse step."""
CHUNK_ROWS = 512
"""Rows decoded at a time: half a megabyte of 256 dimensions as float32 stays in the cache for the product."""

_scratch = threading.local()


class CodeBlock(NamedTuple):
    """Rows of a table, encoded.

    Attributes:
        coarse: shape ``(n, dimension)``.
        fine: shape ``(n, dimension)``.
        scales: shape ``(n,)``, float32, > 0.
    """

    coarse: Codes
    fine: Codes
    scales: Scores

    @classmethod
    def unfilled(cls, rows: int, dimension: int) -> CodeBlock:
        """Room for `rows`; pages that no row has reached yet cost no memory."""
        shape = (rows, dimension)
        return cls(np.empty(shape, np.int8), np.empty(shape, np.int8), np.empty(rows, np.float32))

    def part(self, start: int, stop: int) -> CodeBlock:
        """Rows ``[start, stop)``, shared."""
        return CodeBlock(self.coarse[start:stop], self.fine[start:stop], self.scales[start:stop])

    def copied(self, rows: int) -> CodeBlock:
        """A copy with room for `rows`, no fewer than there are."""
        whole = CodeBlock.unfilled(rows, self.coarse.shape[1])
        held = len(self.scales)
        whole.coarse[:held], whole.fine[:held], whole.scales[:held] = self.coarse, self.fine, self.scales
        return whole

    def encode(self, start: int, vectors: Vectors) -> None:
        """Write `vectors`, shape ``(n, dimension)``, no row all zero, at rows ``[start, start + n)``."""
        for begin in range(0, len(vectors), CHUNK_ROWS):
            part = vectors[begin : begin + CHUNK_ROWS]
            rows = slice(start + begin, start + begin + len(part))
            scales = np.maximum(part.max(axis=1), -part.min(axis=1)) / np.float32(LEVELS)
            steps = part / scales[:, np.newaxis]
            coarse = np.rint(steps)
            self.scales[rows] = scales
            self.coarse[rows] = coarse
            self.fine[rows] = np.rint((steps - coarse) * np.float32(FINE_STEPS))

    def decode(self, rows: npt.NDArray[np.int64] | slice, out: Vectors) -> None:
        """Write the vectors of `rows` to `out`, shape ``(len(rows), dimension)``."""
        np.divide(self.fine[rows], np.float32(FINE_STEPS), out=out)
        out += self.coarse[rows]
        out *= self.scales[rows][:, np.newaxis]

    def coarse_scores(self, query: Vectors, rows: npt.NDArray[np.int64] | slice, out: Scores) -> None:
        """Similarity by the coarse bytes of `rows` alone; `out` has their number."""
        _products(self.coarse, query, rows, out)
        out *= self.scales[rows]

    def add_fine_scores(self, query: Vectors, rows: npt.NDArray[np.int64] | slice, out: Scores) -> None:
        """Add to coarse similarities in `out` what makes them exact."""
        fine = np.empty(len(out), np.float32)
        _products(self.fine, query, rows, fine)
        out += fine * self.scales[rows] / np.float32(FINE_STEPS)


def coarse_error(scales: Scores) -> float:
    """Standard deviation of a coarse similarity's error, for the least precise row: a step's, over a unit query."""
    return float(scales.max(initial=0.0)) / 12**0.5


def _products(codes: Codes, query: Vectors, rows: npt.NDArray[np.int64] | slice, out: Scores) -> None:
    floats, gathered = _buffers(codes.shape[1])
    for begin in range(0, len(out), CHUNK_ROWS):
        end = min(begin + CHUNK_ROWS, len(out))
        if isinstance(rows, slice):
            part = codes[rows.start + begin : rows.start + end]
        else:
            # `clip` lets take write into the buffer directly; the rows are in range.
            part = np.take(codes, rows[begin:end], axis=0, out=gathered[: end - begin], mode="clip")
        decoded = floats[: end - begin]
        np.copyto(decoded, part)
        np.vecdot(decoded, query, out=out[begin:end])


def _buffers(dimension: int) -> tuple[Vectors, Codes]:
    """Buffers of this thread: new ones each time would be paged in anew."""
    kept = cast("tuple[Vectors, Codes] | None", getattr(_scratch, "rows", None))
    if kept is None or kept[0].shape[1] != dimension:
        kept = np.empty((CHUNK_ROWS, dimension), np.float32), np.empty((CHUNK_ROWS, dimension), np.int8)
        _scratch.rows = kept
    return kept

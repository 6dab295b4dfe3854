"""The file that hnswlib 0.8.0 writes, read without the library: its rows come back far faster than one by one.

Header of 96 bytes, little endian: offset of the lowest level, capacity, count, bytes an element, offset of the label
in it, offset of the vector in it (six uint64), highest level (int32), entry point (uint32), maxM, maxM0, M (three
uint64), level factor (float64), ef_construction (uint64). Then `count` elements of the lowest level, each: number of
links (uint16), flags (uint8, 1 marks a removed row), one byte unused, maxM0 links (uint32), vector, label (uint64).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import StorageError
from engine.model.hits import Labels, Vectors
from engine.vector.table import Mask, Rows

LAYOUT_OF_VERSION = "0.8.0"

_HEADER = struct.Struct("<6QiI3QdQ")
_FLAGS = 2
_REMOVED = 1


@dataclass(frozen=True, slots=True)
class GraphRows:
    """Rows of a file, in the order of their labels.

    Attributes:
        labels: shape ``(count,)``, strictly increasing.
        removed: shape ``(count,)``; True where the file marks the row as removed.
    """

    labels: Labels
    removed: Mask
    _order: Rows
    _vectors: Vectors

    def vectors(self, rows: Rows) -> Vectors:
        """Vectors of ``labels[rows]``, a copy."""
        return self._vectors[self._order[rows]]


def read_rows(path: Path, dimension: int) -> GraphRows:
    """The rows of `path`, whose checksum was found right.

    Raises:
        StorageError: the layout is another one than this module knows.
    """
    content = np.memmap(path, np.uint8, mode="r")
    if len(content) < _HEADER.size:
        raise _unknown()
    header = _HEADER.unpack(content[: _HEADER.size].tobytes())
    level, _, count, size, label_at, vector_at, _, _, _, most_links, *_ = header
    width = 4 * dimension
    if (level, vector_at, label_at, size) != (0, 4 + 4 * most_links, vector_at + width, label_at + 8):
        raise _unknown()
    if len(content) < _HEADER.size + count * size:
        raise _unknown()
    elements = content[_HEADER.size : _HEADER.size + count * size].reshape(count, size)
    labels = np.ascontiguousarray(elements[:, label_at:]).view("<i8").ravel()
    order = np.argsort(labels, kind="stable")
    labels = labels[order].astype(np.int64, copy=False)
    if (labels < 0).any() or not (labels[1:] > labels[:-1]).all():
        raise _unknown()
    vectors = np.ndarray((count, dimension), "<f4", buffer=content, offset=_HEADER.size + vector_at, strides=(size, 4))
    return GraphRows(labels, (elements[:, _FLAGS][order] & _REMOVED).astype(np.bool_), order, vectors)


def _unknown() -> StorageError:
    return StorageError("A vector snapshot has an unknown layout.")

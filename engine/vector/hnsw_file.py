"""The file that hnswlib 0.8.0 writes, with its vectors and without: the table has those, a snapshot keeps the links.

Header of 96 bytes, little endian: offset of the lowest level, capacity, count, bytes an element, offset of the label
in it, offset of the vector in it (six uint64), highest level (int32), entry point (uint32), maxM, maxM0, M (three
uint64), level factor (float64), ef_construction (uint64). Then `count` elements of the lowest level, each: number of
links (uint16), flags (uint8, 1 marks a removed row), one byte unused, maxM0 links (uint32), vector, label (uint64).
Then the links of the higher levels. The links file is the same with the vectors left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from engine.errors import StorageError
from engine.model.hits import Labels, Vectors

LAYOUT_OF_VERSION = "0.8.0"

_HEADER = struct.Struct("<6QiI3QdQ")
_FLAGS = 2
_REMOVED = 1
_LABEL_BYTES = 8
_ELEMENTS_A_TIME = 1_024
"""Some MB of rows: freeing larger pieces makes the C library keep pieces of that size for good."""


@dataclass(frozen=True, slots=True)
class _Layout:
    count: int
    vector_at: int
    width: int
    upper_at: int

    @property
    def size(self) -> int:
        return self.vector_at + self.width + _LABEL_BYTES


def write_links(graph: Path, links: BinaryIO, dimension: int) -> None:
    """Copy what `graph` holds beside its vectors.

    Raises:
        StorageError: the layout is another one than this module knows.
    """
    content = np.memmap(graph, np.uint8, mode="r")
    layout = _layout(content, width=4 * dimension, dimension=dimension)
    links.write(content[: _HEADER.size].tobytes())
    elements = content[_HEADER.size : layout.upper_at].reshape(layout.count, layout.size)
    for start in range(0, layout.count, _ELEMENTS_A_TIME):
        part = elements[start : start + _ELEMENTS_A_TIME]
        links.write(np.hstack((part[:, : layout.vector_at], part[:, -_LABEL_BYTES:])).tobytes())
    links.write(content[layout.upper_at :].tobytes())


def write_graph(links: Path, graph: BinaryIO, dimension: int, vectors_of: Callable[[Labels], Vectors]) -> int:
    """Put the vectors back in; how many rows the file marks as removed.

    Args:
        links: what `write_links` wrote; its checksum was found right.
        vectors_of: rows of labels in any order, shape ``(n, dimension)``.

    Raises:
        StorageError: the layout is another one than this module knows.
    """
    content = np.memmap(links, np.uint8, mode="r")
    layout = _layout(content, width=0, dimension=dimension)
    graph.write(content[: _HEADER.size].tobytes())
    elements = content[_HEADER.size : layout.upper_at].reshape(layout.count, layout.size)
    removed = 0
    for start in range(0, layout.count, _ELEMENTS_A_TIME):
        part = elements[start : start + _ELEMENTS_A_TIME]
        removed += int(np.count_nonzero(part[:, _FLAGS] & _REMOVED))
        labels = np.ascontiguousarray(part[:, layout.vector_at :]).view("<i8").ravel().astype(np.int64, copy=False)
        vectors = vectors_of(labels).astype("<f4", copy=False).view(np.uint8)
        graph.write(np.hstack((part[:, : layout.vector_at], vectors, part[:, -_LABEL_BYTES:])).tobytes())
    graph.write(content[layout.upper_at :].tobytes())
    return removed


def _layout(content: npt.NDArray[np.uint8], *, width: int, dimension: int) -> _Layout:
    if len(content) < _HEADER.size:
        raise _unknown()
    header = _HEADER.unpack(content[: _HEADER.size].tobytes())
    level, _, count, size, label_at, vector_at, _, _, _, most_links, *_ = header
    said = (0, 4 + 4 * most_links, vector_at + 4 * dimension, label_at + _LABEL_BYTES)
    if (level, vector_at, label_at, size) != said:
        raise _unknown()
    layout = _Layout(count, vector_at, width, _HEADER.size + count * (vector_at + width + _LABEL_BYTES))
    if len(content) < layout.upper_at:
        raise _unknown()
    return layout


def _unknown() -> StorageError:
    return StorageError("A vector snapshot has an unknown layout.")

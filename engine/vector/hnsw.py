"""A graph of near neighbours (HNSW, Malkov & Yashunin 2018). The only importer of hnswlib, which may be absent.

Without the library there is no graph and every row is scanned. The library ends the process on many mistakes: a query
of another width, growing while a query runs, saving while rows are added, use before it is set up. So every call passes
through `HnswGraph`, which checks its arguments, holds the locks that each call needs, and never hands out the library's
object.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from engine.errors import StorageError
from engine.model.hits import Candidates, Labels, Vectors
from engine.vector.shared_lock import SharedLock
from engine.vector.table import check_query, check_rows

SPACE = "ip"
"""Rows are of unit length, so the inner product is the cosine and rows are stored as they came."""
BUILD_THREADS = min(os.cpu_count() or 1, 8)

_FIRST_CAPACITY = 4096
_ATTEMPTS = 3
_PAUSE_S = 0.0002
_NARROWEST = 1
"""The library's own breadth is one number for all threads; a query is as broad as the rows it asks for, if more."""


def _installed_version() -> str | None:
    try:
        importlib.import_module("hnswlib")
        return importlib.metadata.version("hnswlib")
    except ImportError:
        # The package has no wheels: an installation without a C++ compiler has none of it.
        return None


LIBRARY_VERSION = _installed_version()
"""None without the library: then `HnswGraph.create` and `load` must not be called."""
WITHOUT_LIBRARY = (
    "hnswlib is not installed, so every vector is scanned: exact, and slower in namespaces of 100,000 passages and "
    "more. With a C++ compiler, `pip install 'quarry-search[graph]'` adds it."
)


@dataclass(frozen=True, slots=True)
class SavedGraph:
    """What a saved file holds: `total` rows, none with a label above `top` (-1 when empty)."""

    total: int
    top: int


class HnswGraph:
    """Rows by label, found approximately. Thread-safe; adding goes on beside queries.

    Made by `create` or `load`.
    """

    def __init__(self, index: _Library, dimension: int, *, total: int, removed: int, top: int) -> None:
        self.dimension = dimension
        self._index = index
        self._total = total
        self._removed = removed
        self._top = top
        # Held alone while rows move in memory, shared by every other call.
        self._memory = SharedLock()
        # Keeps adding, growing and saving apart.
        self._structure = threading.Lock()
        self._marking = threading.Lock()

    @classmethod
    def create(cls, dimension: int, *, m: int, ef_construction: int, seed: int = 100) -> HnswGraph:
        """An empty graph.

        Args:
            dimension: of every row and query; >= 1.
            m: links a node.
            ef_construction: breadth of the search while building.
            seed: of the random levels.
        """
        if dimension < 1:
            raise ValueError(f"dimension must be >= 1, got {dimension}")
        index = _new_index(dimension)
        index.init_index(_FIRST_CAPACITY, M=m, ef_construction=ef_construction, random_seed=seed)
        index.set_ef(_NARROWEST)
        return cls(index, dimension, total=0, removed=0, top=-1)

    @classmethod
    def load(cls, path: Path, dimension: int, *, total: int, removed: int) -> HnswGraph:
        """The graph that `save` wrote, with `total` rows of which `removed` are marked.

        Only for a file whose size and checksum were found right: a damaged one may end the process.

        Raises:
            StorageError: the library refuses the file, or it holds another number of rows than `total`.
        """
        index = _new_index(dimension)
        try:
            index.load_index(str(path), max_elements=max(total, 1))
        except RuntimeError as error:
            raise StorageError("A vector snapshot cannot be read.") from error
        if index.get_current_count() != total:
            raise StorageError("A vector snapshot holds another number of rows than it says.")
        index.set_ef(_NARROWEST)
        return cls(index, dimension, total=total, removed=removed, top=max(index.get_ids_list(), default=-1))

    def __len__(self) -> int:
        """Rows that are not marked as removed."""
        return self._total - self._removed

    @property
    def total(self) -> int:
        """Rows, those marked as removed included."""
        return self._total

    @property
    def removed(self) -> int:
        return self._removed

    def add(self, labels: Labels, vectors: Vectors) -> None:
        """Add rows; labels strictly increasing and above all there are, vectors of unit length.

        Raises:
            ValueError: as `check_rows`; nothing is added then.
        """
        vectors = np.ascontiguousarray(vectors)
        with self._structure:
            check_rows(labels, vectors, self.dimension, above=self._top)
            if not len(labels):
                return
            self._reserve(self._total + len(labels))
            with self._memory.shared():
                self._index.add_items(vectors, labels, num_threads=BUILD_THREADS)
            self._total += len(labels)
            self._top = int(labels[-1])

    def reserve(self, capacity: int) -> None:
        """Make room for `capacity` rows in all. Queries wait while rows move, a few milliseconds."""
        with self._structure:
            self._reserve(capacity)

    def _reserve(self, capacity: int) -> None:
        held = self._index.get_max_elements()
        if capacity > held:
            with self._memory.alone():
                self._index.resize_index(max(capacity, held * 3 // 2))

    def mark_removed(self, labels: Labels) -> int:
        """Leave rows out of every later answer; how many were not so already. Unknown labels are ignored."""
        marked = 0
        with self._marking, self._memory.shared():
            for label in labels[labels >= 0].tolist():
                try:
                    self._index.mark_deleted(label)
                except RuntimeError:
                    continue
                marked += 1
            self._removed += marked
        return marked

    def nearest(self, query: Vectors, breadth: int) -> Candidates | None:
        """About the `breadth` nearest rows, best first; None when the graph cannot give as many as it should.

        All that a query of this breadth (`ef_search`) comes by: the first are nearly certain, the last are not, so ask
        for a good many more than are wanted.

        Raises:
            ValueError: `query` has another width or type, or is not of unit length.
        """
        check_query(query, self.dimension)
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_S)
            wanted = min(breadth, len(self))
            if wanted <= 0:
                return Candidates.empty()
            try:
                with self._memory.shared():
                    labels, distances = self._index.knn_query(query[np.newaxis], k=wanted, num_threads=1)
            except RuntimeError:
                # A row was marked, or the query came upon one that has no links yet: once more with what is there now.
                continue
            scores = np.clip(np.float32(1.0) - distances[0], -1.0, 1.0)
            return Candidates(labels[0].astype(np.int64), scores)
        return None

    def save(self, path: Path) -> SavedGraph:
        """Write the graph to `path`. Queries go on, adding waits.

        The library reports no failed write, so the size is checked here.

        Raises:
            StorageError: the file is shorter than the graph: no such folder, or no space.
        """
        with self._structure:
            with self._memory.shared():
                self._index.save_index(str(path))
            size = self._index.index_file_size()
            saved = SavedGraph(total=self._total, top=self._top)
        if not path.is_file() or path.stat().st_size != size:
            raise StorageError("A vector snapshot could not be written whole.")
        return saved


class _Library(Protocol):
    """What is used of ``hnswlib.Index``."""

    def init_index(self, max_elements: int, *, M: int, ef_construction: int, random_seed: int) -> None: ...  # noqa: N803
    def set_ef(self, ef: int) -> None: ...
    def add_items(self, data: Vectors, ids: Labels, *, num_threads: int) -> None: ...
    def knn_query(
        self, data: Vectors, *, k: int, num_threads: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]: ...
    def mark_deleted(self, label: int) -> None: ...
    def resize_index(self, new_size: int) -> None: ...
    def save_index(self, path: str) -> None: ...
    def load_index(self, path: str, *, max_elements: int) -> None: ...
    def get_max_elements(self) -> int: ...
    def get_current_count(self) -> int: ...
    def get_ids_list(self) -> list[int]: ...
    def index_file_size(self) -> int: ...


def _new_index(dimension: int) -> _Library:
    library = cast("Any", importlib.import_module("hnswlib"))
    return cast("_Library", library.Index(space=SPACE, dim=dimension))

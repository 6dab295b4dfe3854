"""A vector index on disk: ``<generation>.hnsw``, ``<generation>.rows`` and, written last, ``<generation>.json``.

The graph file may be absent (no graph yet). The rows file holds what the graph file lacks: the labels removed since,
then labels and vectors of the live rows that are not in the graph. The side file says what the others hold, with
their sizes and checksums; a snapshot without a valid side file is none. Everything is verified before the graph is
loaded, because a damaged one ends the process. The checksum is CRC-32: it finds any accidental damage but one in four
billion at 5 GB/s, where SHA-256 needs half a second a gigabyte and guards against an attacker that can write anyway.
"""

from __future__ import annotations

import errno
import logging
import os
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from engine.errors import StorageError, StorageFull
from engine.model.hits import Labels, Vectors
from engine.vector.hnsw import LIBRARY_VERSION, SPACE, HnswGraph
from engine.vector.hnsw_file import LAYOUT_OF_VERSION, read_rows
from engine.vector.table import BLOCK_ROWS, RowTable, RowView

FORMAT = 1

_log = logging.getLogger(__name__)


class FileStamp(msgspec.Struct, frozen=True):
    """Size in bytes and CRC-32 of a file."""

    size: int
    crc32: int


class SideFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a generation holds.

    Attributes:
        live: rows that a search may find.
        total: rows in the graph file, removed ones included.
        hnswlib: version that wrote the graph file; empty without the library.
        removed: labels at the start of the rows file.
        tail: rows after them.
        last_label: the largest label ever added; -1 when none was.
        crc32: of this structure with 0 here.
    """

    format: int
    generation: int
    applied_seq: int
    dimension: int
    space: str
    hnswlib: str
    live: int
    total: int
    removed: int
    tail: int
    last_label: int
    graph: FileStamp | None
    rows: FileStamp
    crc32: int = 0

    def sealed(self) -> SideFile:
        """With its own checksum filled in."""
        return msgspec.structs.replace(self, crc32=zlib.crc32(msgspec.json.encode(self)))

    def is_intact(self) -> bool:
        return self.crc32 == msgspec.structs.replace(self, crc32=0).sealed().crc32


@dataclass(frozen=True, slots=True)
class Restored:
    """An index as a snapshot held it; `table` has the live rows only, those of the graph first."""

    table: RowTable
    graph: HnswGraph | None
    built: int
    last_label: int
    applied_seq: int


def write_snapshot(folder: Path, view: RowView, graph: HnswGraph | None, *, applied_seq: int, last_label: int) -> None:
    """Write a generation and, once it is durable, delete the others.

    Raises:
        StorageFull: no space left.
        StorageError: any other failure; the generation before stays.
    """
    with _translated_errors():
        folder.mkdir(parents=True, exist_ok=True)
        found = list(folder.iterdir())
        for stale in found:
            if stale.suffix == ".tmp":
                stale.unlink()
        generation = max(map(_generation_of, found), default=-1) + 1
        total, top, graph_stamp = 0, -1, None
        if graph is not None:
            temporary = folder / f"{generation}.hnsw.tmp"
            saved = graph.save(temporary)
            total, top, graph_stamp = saved.total, saved.top, _publish(temporary)
        removed = view.labels[~view.alive & (view.labels <= top)]
        tail = np.flatnonzero(view.alive & (view.labels > top))
        temporary = folder / f"{generation}.rows.tmp"
        with temporary.open("wb") as file:
            file.write(removed.astype("<i8").tobytes())
            file.write(view.labels[tail].astype("<i8").tobytes())
            for start in range(0, len(tail), BLOCK_ROWS):
                file.write(view.copy_rows(tail[start : start + BLOCK_ROWS]).astype("<f4", copy=False).tobytes())
        side = SideFile(
            format=FORMAT,
            generation=generation,
            applied_seq=applied_seq,
            dimension=view.dimension,
            space=SPACE,
            hnswlib=LIBRARY_VERSION or "",
            live=view.live,
            total=total,
            removed=len(removed),
            tail=len(tail),
            last_label=last_label,
            graph=graph_stamp,
            rows=_publish(temporary),
        )
        temporary = folder / f"{generation}.json.tmp"
        temporary.write_bytes(msgspec.json.encode(side.sealed()))
        _publish(temporary)
        _sync_folder(folder)
        for path in list(folder.iterdir()):
            if 0 <= _generation_of(path) != generation:
                path.unlink()


def read_snapshot(folder: Path, dimension: int) -> Restored | None:
    """The newest generation that is whole and of this dimension; None when there is none: build the index anew."""
    try:
        sides = sorted((p for p in folder.iterdir() if p.suffix == ".json"), key=_generation_of, reverse=True)
    except OSError:
        return None
    for path in sides:
        try:
            with _translated_errors():
                return _read(path, dimension)
        except StorageError as error:
            _log.warning("vector snapshot %s is not usable: %s", path.name, error.message)
    return None


def _read(path: Path, dimension: int) -> Restored:
    try:
        side = msgspec.json.decode(path.read_bytes(), type=SideFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError("its side file cannot be read") from error
    if not side.is_intact() or side.generation != _generation_of(path):
        raise StorageError("its side file is damaged")
    if (side.format, side.space, side.dimension) != (FORMAT, SPACE, dimension):
        raise StorageError("it was written by another version or for another dimension")
    versions = {side.hnswlib, LIBRARY_VERSION or LAYOUT_OF_VERSION}
    if side.graph is not None and versions != {LAYOUT_OF_VERSION}:
        raise StorageError("its graph was written by another version of hnswlib")
    rows_path, graph_path = path.with_suffix(".rows"), path.with_suffix(".hnsw")
    removed, tail_labels, tail_vectors = _read_rows(rows_path, side)
    table, graph, built = RowTable(dimension), None, 0
    if side.graph is not None:
        if _stamp(graph_path) != side.graph:
            raise StorageError("its graph file is damaged")
        rows = read_rows(graph_path, dimension)
        dead = rows.removed | np.isin(rows.labels, removed)
        live = np.flatnonzero(~dead)
        for start in range(0, len(live), BLOCK_ROWS):
            part = live[start : start + BLOCK_ROWS]
            table.append(rows.labels[part], rows.vectors(part))
        # Without the library the rows of the file are scanned; its links are of no use.
        if LIBRARY_VERSION is not None:
            built = len(live)
            marked = int(rows.removed.sum())
            graph = HnswGraph.load(graph_path, dimension, total=side.total, removed=marked)
            graph.mark_removed(rows.labels[dead & ~rows.removed])
    table.append(tail_labels, tail_vectors)
    if table.view().live != side.live:
        raise StorageError("it holds another number of rows than it says")
    return Restored(table, graph, built, side.last_label, side.applied_seq)


def _read_rows(path: Path, side: SideFile) -> tuple[Labels, Labels, Vectors]:
    """Removed labels, labels of the tail, vectors of the tail."""
    if side.rows.size != 8 * side.removed + 8 * side.tail + 4 * side.dimension * side.tail:
        raise StorageError("its side file contradicts itself")
    if _stamp(path) != side.rows:
        raise StorageError("its rows file is damaged")
    content = _mapped(path)
    labels = content[: 8 * (side.removed + side.tail)].view("<i8").astype(np.int64, copy=False)
    vectors = content[8 * (side.removed + side.tail) :].view("<f4").reshape(side.tail, side.dimension)
    return labels[: side.removed], labels[side.removed :], vectors.astype(np.float32, copy=False)


def _publish(temporary: Path) -> FileStamp:
    """Make a finished ``….tmp`` durable under its name."""
    stamp = _stamp(temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(temporary.with_suffix(""))
    return stamp


def _stamp(path: Path) -> FileStamp:
    content = _mapped(path)
    return FileStamp(len(content), zlib.crc32(content.data))


def _mapped(path: Path) -> npt.NDArray[np.uint8]:
    """The bytes of a file, paged in as they are read."""
    if path.stat().st_size == 0:
        return np.empty(0, np.uint8)
    return np.memmap(path, np.uint8, mode="r")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _generation_of(path: Path) -> int:
    """-1 for a file that is no part of a snapshot."""
    is_part = path.suffix in {".hnsw", ".rows", ".json"} and path.stem.isascii() and path.stem.isdecimal()
    return int(path.stem) if is_part else -1


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFull("No space left for a vector snapshot.") from error
        raise StorageError("A vector snapshot could not be written or read.") from error

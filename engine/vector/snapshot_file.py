"""A vector index on disk: ``<generation>.rows``, ``<generation>.links`` and, written last, ``<generation>.json``.

The rows file holds the whole table, encoded, and is mapped rather than read; the links file holds the graph without its
vectors and may be absent (no graph yet). The side file says what the others hold, with their sizes and checksums; a
snapshot without a valid side file is none. Each file is verified before it is used: the rows at opening, the links
before the graph is loaded behind the first queries, because damaged ones end the process. The checksum is CRC-32: it
finds any accidental damage but one in four billion at 5 GB/s, where SHA-256 needs half a second a gigabyte and guards
against an attacker that can write anyway.
"""

from __future__ import annotations

import errno
import logging
import mmap
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
from engine.vector.codes import CodeBlock
from engine.vector.hnsw import LIBRARY_VERSION, HnswGraph
from engine.vector.hnsw_file import LAYOUT_OF_VERSION, write_graph, write_links
from engine.vector.table import RowTable, RowView

FORMAT = 2

_UNFINISHED = (".tmp", ".loading")
_READ_BYTES = 2**20

_log = logging.getLogger(__name__)


class FileStamp(msgspec.Struct, frozen=True):
    """Size in bytes and CRC-32 of a file."""

    size: int
    crc32: int


class SideFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a generation holds.

    Attributes:
        hnswlib: version whose links are kept; empty without links.
        count: rows of the table, removed ones included.
        live: rows that a search may find.
        built: the first rows, which the graph holds unless they were removed before it came to them.
        total: rows in the graph, removed ones included.
        last_label: the largest label ever added; -1 when none was.
        crc32: of this structure with 0 here.
    """

    format: int
    generation: int
    applied_seq: int
    dimension: int
    hnswlib: str
    count: int
    live: int
    built: int
    total: int
    last_label: int
    links: FileStamp | None
    rows: FileStamp
    crc32: int = 0

    def sealed(self) -> SideFile:
        """With its own checksum filled in."""
        return msgspec.structs.replace(self, crc32=zlib.crc32(msgspec.json.encode(self)))

    def is_intact(self) -> bool:
        return self.crc32 == msgspec.structs.replace(self, crc32=0).sealed().crc32


@dataclass(frozen=True, slots=True)
class SavedLinks:
    """A graph that is not in memory yet.

    Attributes:
        path: the links file; the rows file of the same generation stands beside it.
        stamp: of the links file.
        count, built, total: as in `SideFile`.
    """

    path: Path
    stamp: FileStamp
    count: int
    built: int
    total: int

    def load(self, view: RowView) -> HnswGraph:
        """The graph; `view` shows the labels of its rows.

        Raises:
            StorageError: the links are damaged, or there is no space for the file that the library reads, or it
                refuses it.
        """
        with _translated_errors():
            if _stamp(self.path) != self.stamp:
                raise StorageError("The links of a vector snapshot are damaged.")
            # A map of its own: the pages of every row's fine codes leave memory with it.
            codes = _mapped_codes(self.path.with_suffix(".rows"), self.count, view.dimension)[1]

            def vectors_of(labels: Labels) -> Vectors:
                vectors = np.empty((len(labels), view.dimension), np.float32)
                codes.decode(np.searchsorted(view.labels[: self.count], labels), vectors)
                return vectors

            whole = self.path.with_suffix(".loading")
            try:
                with whole.open("wb") as file:
                    removed = write_graph(self.path, file, view.dimension, vectors_of)
                return HnswGraph.load(whole, view.dimension, total=self.total, removed=removed)
            finally:
                whole.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Written:
    """What a new generation offers to the index that wrote it.

    Attributes:
        codes: its rows, mapped from the file.
        links: the saved graph that was carried over, if one was.
    """

    codes: CodeBlock
    links: SavedLinks | None


@dataclass(frozen=True, slots=True)
class Restored:
    """An index as a snapshot held it; `links` is None where there was no graph, or no library to use it.

    Attributes:
        codes: the whole rows file, mapped: what `let_go` is given.
    """

    table: RowTable
    links: SavedLinks | None
    last_label: int
    applied_seq: int
    codes: npt.NDArray[np.uint8]


def write_snapshot(
    folder: Path,
    view: RowView,
    graph: HnswGraph | SavedLinks | None,
    *,
    applied_seq: int,
    last_label: int,
) -> Written:
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
        links, total, built = _keep_links(folder / f"{generation}.links", graph, view)
        temporary = folder / f"{generation}.rows.tmp"
        with temporary.open("wb") as file:
            file.write(view.labels.astype("<i8", copy=False).tobytes())
            for part in range(3):
                left = len(view)
                for block in view.blocks:
                    held = block.part(0, left)
                    file.write((held.scales.astype("<f4", copy=False), held.coarse, held.fine)[part].tobytes())
                    left -= len(held.scales)
            file.write(view.alive.tobytes())
        side = SideFile(
            format=FORMAT,
            generation=generation,
            applied_seq=applied_seq,
            dimension=view.dimension,
            hnswlib="" if links is None else LIBRARY_VERSION or "",
            count=len(view),
            live=view.live,
            built=built,
            total=total,
            last_label=last_label,
            links=links,
            rows=_publish(temporary),
        )
        temporary = folder / f"{generation}.json.tmp"
        temporary.write_bytes(msgspec.json.encode(side.sealed()))
        _publish(temporary)
        _sync_folder(folder)
        codes = _mapped_codes(folder / f"{generation}.rows", len(view), view.dimension)[1]
        for path in list(folder.iterdir()):
            if 0 <= _generation_of(path) != generation:
                path.unlink()
        kept = None if links is None else SavedLinks(folder / f"{generation}.links", links, len(view), built, total)
        return Written(codes, kept)


def _keep_links(path: Path, graph: HnswGraph | SavedLinks | None, view: RowView) -> tuple[FileStamp | None, int, int]:
    """Write or carry over the links; their stamp, the rows in the graph, the first rows of `view` that it covers."""
    if graph is None:
        return None, 0, 0
    temporary = path.with_name(path.name + ".tmp")
    if isinstance(graph, SavedLinks):
        os.link(graph.path, temporary)
        temporary.replace(path)
        return graph.stamp, graph.total, graph.built
    whole = path.with_suffix(".hnsw.tmp")
    saved = graph.save(whole)
    with temporary.open("wb") as file:
        write_links(whole, file, view.dimension)
    whole.unlink()
    # Asked of the graph: it may have grown since the caller looked.
    built = int(np.searchsorted(view.labels, saved.top, side="right"))
    return _publish(temporary), saved.total, built


def read_snapshot(folder: Path, dimension: int) -> Restored | None:
    """The newest generation that is whole and of this dimension; None when there is none: build the index anew."""
    try:
        found = list(folder.iterdir())
        for path in found:
            if path.suffix in _UNFINISHED:
                path.unlink()
    except OSError:
        return None
    for path in sorted((p for p in found if p.suffix == ".json"), key=_generation_of, reverse=True):
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
    if (side.format, side.dimension) != (FORMAT, dimension):
        raise StorageError("it was written by another version or for another dimension")
    rows_path, links_path = path.with_suffix(".rows"), path.with_suffix(".links")
    if _stamp(rows_path) != side.rows:
        raise StorageError("its rows file is damaged")
    links = None
    if side.links is not None:
        # Its content is checked when it is loaded, behind the first queries.
        if links_path.stat().st_size != side.links.size:
            raise StorageError("its links file is damaged")
        # Without the library that wrote them the links are of no use; the rows are scanned, or linked anew.
        if side.hnswlib == LIBRARY_VERSION == LAYOUT_OF_VERSION:
            links = SavedLinks(links_path, side.links, side.count, side.built, side.total)
    content, codes = _mapped_codes(rows_path, side.count, dimension)
    labels, alive = content[: 8 * side.count].view("<i8"), content[len(content) - side.count :].view(np.bool_)
    table = RowTable.restored(dimension, labels, alive, codes)
    if table.view().live != side.live:
        raise StorageError("it holds another number of rows than it says")
    return Restored(table, links, side.last_label, side.applied_seq, content)


def _mapped_codes(path: Path, count: int, dimension: int) -> tuple[npt.NDArray[np.uint8], CodeBlock]:
    """A rows file whole, and its codes; pages are read when they are used."""
    shape = (count, dimension)
    if path.stat().st_size != count * (8 + 4 + 2 * dimension + 1):
        raise StorageError("its side file contradicts itself")
    content = np.memmap(path, np.uint8, mode="r") if count else np.empty(0, np.uint8)
    codes = content[12 * count : len(content) - count].view(np.int8)
    middle = count * dimension
    return content, CodeBlock(
        codes[:middle].reshape(shape), codes[middle:].reshape(shape), content[8 * count : 12 * count].view("<f4")
    )


def let_go(content: npt.NDArray[np.uint8]) -> None:
    """Take the pages of a mapped file out of this process; they come back when they are read."""
    pages = getattr(content, "_mmap", None)
    if isinstance(pages, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def _publish(temporary: Path) -> FileStamp:
    """Make a finished ``….tmp`` durable under its name."""
    stamp = _stamp(temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(temporary.with_suffix(""))
    return stamp


def _stamp(path: Path) -> FileStamp:
    # Read rather than mapped: pages of a map would count as this process's own memory.
    size = crc32 = 0
    with path.open("rb") as file:
        while part := file.read(_READ_BYTES):
            size, crc32 = size + len(part), zlib.crc32(part, crc32)
    return FileStamp(size, crc32)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _generation_of(path: Path) -> int:
    """-1 for a file that is no part of a snapshot; the graph files of an earlier format are deleted with theirs."""
    is_part = path.suffix in {".hnsw", ".links", ".rows", ".json"} and path.stem.isascii() and path.stem.isdecimal()
    return int(path.stem) if is_part else -1


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFull("No space left for a vector snapshot.") from error
        raise StorageError("A vector snapshot could not be written or read.") from error

"""A forward index on disk: ``<number>.terms``, the arrays of a segment one after another, and ``held.json``.

The side file is written last. It names the files that count, with their sizes and checksums, and the journal sequence
that they hold together.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from engine.errors import CorruptData, StorageError, StorageFull
from engine.lexical import native
from engine.lexical.forward_read import LEAST_BYTES, read_from
from engine.lexical.forward_segment import COLUMNS, Segment, segment_from

FORMAT = f"forward 2, {native.FORMAT}"
"""Another one means rebuild: the terms are what the analyzer made of the texts."""
SIDE_FILE = "held.json"

_READ_BYTES = 2**20


class SegmentFile(msgspec.Struct, frozen=True):
    """A file of one segment.

    Attributes:
        lengths: of its arrays, in the order of `COLUMNS`.
        size: in bytes.
    """

    number: int
    lengths: tuple[int, ...]
    size: int
    crc32: int

    @property
    def name(self) -> str:
        return f"{self.number}.terms"


class _SideFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The crc32 is of this structure with 0 there."""

    format: str
    applied_seq: int
    files: tuple[SegmentFile, ...]
    crc32: int = 0

    def sealed(self) -> _SideFile:
        unsealed = msgspec.structs.replace(self, crc32=0)
        return msgspec.structs.replace(self, crc32=zlib.crc32(msgspec.json.encode(unsealed)))


class Held(NamedTuple):
    """What a folder holds."""

    applied_seq: int
    files: tuple[SegmentFile, ...]
    segments: tuple[Segment, ...]


def read_held(folder: Path) -> Held | None:
    """What was saved, mapped and not yet checked; None when nothing ever was.

    Raises:
        CorruptData: the side file is damaged or of another format, or a file has another size than it says.
    """
    try:
        side = msgspec.json.decode((folder / SIDE_FILE).read_bytes(), type=_SideFile)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CorruptData("its side file cannot be read") from error
    if side != side.sealed():
        raise CorruptData("its side file is damaged")
    if side.format != FORMAT:
        raise CorruptData("it has another format")
    try:
        segments = tuple(_mapped(folder / file.name, file) for file in side.files)
        counted = {file.name for file in side.files} | {SIDE_FILE}
        for path in folder.iterdir():
            if path.name not in counted:
                path.unlink()
    except OSError as error:
        raise CorruptData("a file cannot be read") from error
    return Held(side.applied_seq, side.files, segments)


def write_segment(folder: Path, number: int, segment: Segment) -> tuple[SegmentFile, Segment]:
    """Write a file, durable when it returns; the same segment mapped from it.

    Raises:
        StorageFull, StorageError: nothing counts that was written.
    """
    path = folder / f"{number}.terms"
    crc32 = 0
    with _translated_errors():
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for column, kind in zip(segment, COLUMNS, strict=True):
                content = np.ascontiguousarray(column, kind).view(np.uint8).data
                crc32 = zlib.crc32(content, crc32)
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        held = SegmentFile(number, tuple(map(len, segment)), size, crc32)
        return held, _mapped(path, held)


def write_held(folder: Path, applied_seq: int, files: Sequence[SegmentFile]) -> None:
    """Have `files` count and no others, which are deleted.

    Raises:
        StorageFull, StorageError: those that counted before still do.
    """
    with _translated_errors():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"{SIDE_FILE}.new"
        with fresh.open("wb") as file:
            file.write(msgspec.json.encode(_SideFile(FORMAT, applied_seq, tuple(files)).sealed()))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / SIDE_FILE)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        counted = {file.name for file in files} | {SIDE_FILE}
        for path in list(folder.iterdir()):
            if path.name not in counted:
                path.unlink()


def forget(folder: Path) -> None:
    """Have the next opening find nothing, if the disk lets us; it checks the files again in any case."""
    with suppress(OSError):
        (folder / SIDE_FILE).unlink(missing_ok=True)


def is_whole(folder: Path, held: SegmentFile) -> bool:
    """Whether the file is what was written."""
    # Read rather than mapped: pages of a map would count as this process's own memory.
    size = crc32 = 0
    try:
        with (folder / held.name).open("rb") as file:
            while part := file.read(_READ_BYTES):
                size, crc32 = size + len(part), zlib.crc32(part, crc32)
    except OSError:
        return False
    return (size, crc32) == (held.size, held.crc32)


def _mapped(path: Path, held: SegmentFile) -> Segment:
    sizes = [kind.itemsize * length for kind, length in zip(COLUMNS, held.lengths, strict=False)]
    if len(held.lengths) != len(COLUMNS) or sum(sizes) != held.size or path.stat().st_size != held.size:
        raise CorruptData("a file has another size than its side file says")
    content = np.memmap(path, np.uint8, mode="r") if held.size else np.empty(0, np.uint8)
    ends = np.cumsum([0, *sizes]).tolist()
    parts = [content[start:stop] for start, stop in pairwise(ends)]
    # As plain arrays: each slice of a `memmap` costs more than what is looked up in it.
    segment = segment_from(
        [np.asarray(part).view(np.ndarray).view(kind) for part, kind in zip(parts, COLUMNS, strict=True)]
    )
    if held.size < LEAST_BYTES:
        return segment
    return read_from(path, segment)


@contextmanager
def _translated_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFull("No space left for the forward index.") from error
        raise StorageError("The forward index could not be written or read.") from error

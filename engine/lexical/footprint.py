"""What stands beside tantivy's files: whether they are whole, and how much of the journal they hold."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import msgspec

from engine.errors import CorruptData

SIDE_FILE = "applied.json"
_META = "meta.json"
_KINDS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""The files of a segment, by their ends."""
_MAGIC = 1337


class Applied(msgspec.Struct, frozen=True):
    """Written after each commit.

    Attributes:
        format: tantivy's version with ours; another one means rebuild.
        seq: journal sequence that the commit brought the index to.
        opstamp: of that commit; an older one in tantivy's own file means that the disk lost a commit.
        next_label: above every label ever added.
        languages: how many passages of each were ever added.
        crc32: of this structure with 0 here.
    """

    format: str
    seq: int
    opstamp: int
    next_label: int
    languages: dict[str, int]
    crc32: int = 0


class _Deletes(msgspec.Struct):
    opstamp: int


class _Segment(msgspec.Struct):
    segment_id: str
    deletes: _Deletes | None = None


class _Meta(msgspec.Struct):
    """What the last commit left, as tantivy writes it down."""

    opstamp: int
    segments: list[_Segment]

    def names(self) -> set[str]:
        """Every file that the commit is made of."""
        out: set[str] = set()
        for held in self.segments:
            segment = held.segment_id.replace("-", "")
            out |= {f"{segment}.{kind}" for kind in _KINDS}
            if held.deletes is not None:
                out.add(f"{segment}.{held.deletes.opstamp}.del")
        return out

    def holds(self, name: str) -> bool:
        """Whether a segment's file belongs to the commit: deleted passages lie in one more file for each commit."""
        segment, _, kind = name.partition(".")
        for held in self.segments:
            if held.segment_id.replace("-", "") == segment:
                return not kind.endswith("del") or (held.deletes is not None and kind == f"{held.deletes.opstamp}.del")
        return False


def read_applied(folder: Path) -> Applied | None:
    """None when nothing was ever applied.

    Raises:
        CorruptData: the side file is unreadable or damaged.
    """
    try:
        applied = msgspec.json.decode((folder / SIDE_FILE).read_bytes(), type=Applied)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptData("The state of the lexical index cannot be read.") from error
    if applied.crc32 != _checksum(applied):
        raise CorruptData("The state of the lexical index is damaged.")
    return applied


def write_applied(folder: Path, applied: Applied) -> None:
    """Durable when it returns, and after everything that the commit wrote."""
    _sync_folder(folder)  # tantivy renames its meta file and does not sync the folder
    fresh = folder / f"{SIDE_FILE}.new"
    with fresh.open("wb") as file:
        file.write(msgspec.json.encode(msgspec.structs.replace(applied, crc32=_checksum(applied))))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / SIDE_FILE)
    _sync_folder(folder)


def _checksum(applied: Applied) -> int:
    return zlib.crc32(msgspec.json.encode(msgspec.structs.replace(applied, crc32=0)))


def check_files(folder: Path, applied: Applied) -> bool:
    """Hold every file against the checksum in its footer, and the commit against the side file.

    tantivy itself notices a flipped bit late or never; 44 MB take 65 ms.

    Returns:
        Whether a commit stands that the side file does not speak of: the process ended between the two.

    Raises:
        CorruptData: a file is damaged, or the last commit is older than what was applied.
    """
    meta = _read_meta(folder)
    try:
        damaged = [path.name for path in folder.iterdir() if _is_segment_file(path) and not _is_whole(path)]
    except OSError as error:
        raise CorruptData("The lexical index cannot be read.") from error
    damaged += [name for name in meta.names() if not (folder / name).exists()]
    if damaged:
        raise CorruptData(f"{len(damaged)} files of the lexical index are damaged or missing.")
    if meta.opstamp < applied.opstamp:
        raise CorruptData("The lexical index lost its last commit.")
    return meta.opstamp > applied.opstamp


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed process leaves: temporary files, and files of a commit that was not finished.

    tantivy would want to write files of the same names in its next commit, and fail.

    Raises:
        CorruptData: what the last commit left cannot be read.
    """
    meta = _read_meta(folder)
    for path in folder.iterdir():
        if path.name.startswith(".tmp") or (_is_segment_file(path) and not meta.holds(path.name)):
            path.unlink(missing_ok=True)


def _read_meta(folder: Path) -> _Meta:
    try:
        return msgspec.json.decode((folder / _META).read_bytes(), type=_Meta)
    except (OSError, msgspec.DecodeError) as error:
        raise CorruptData("The lexical index cannot be read.") from error


def _is_segment_file(path: Path) -> bool:
    return path.is_file() and len(path.name.partition(".")[0]) == 32  # named by a UUID, and ends in a checksum


class _Footer(msgspec.Struct):
    crc: int


def _is_whole(path: Path) -> bool:
    content = memoryview(path.read_bytes())
    if len(content) < 8 or int.from_bytes(content[-4:], "little") != _MAGIC:
        return False
    body = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if body < 0:
        return False
    try:
        footer = msgspec.json.decode(content[body:-8], type=_Footer)
    except msgspec.DecodeError:
        return False
    return zlib.crc32(content[:body]) == footer.crc


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

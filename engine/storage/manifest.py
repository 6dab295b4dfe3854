"""A side file that remembers how far a database had come, so that lost transactions are noticed.

DuckDB opens without complaint when its write-ahead log is missing, empty or has a damaged header, and every
transaction since the last checkpoint is gone. A generation number that each commit raises, kept in the database and,
after the commit, here as well, tells the difference: a database older than its manifest has lost something.

A crash between commit and manifest leaves the database ahead, which is fine. One record may stand for several commits
that are acknowledged together; what must not happen is an acknowledgement before the record.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import msgspec

from engine.errors import CorruptData
from engine.storage.files import atomic_write, translated_os_errors


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`crc32` is that of the generation's digits; versions before it was written left it out."""

    generation: int
    crc32: int | None = None

    @property
    def is_sound(self) -> bool:
        return self.crc32 in (None, _checksum(self.generation))


def _checksum(generation: int) -> int:
    return zlib.crc32(str(generation).encode())


class Manifest:
    """The side file at `path`. One writer at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> int:
        """The last recorded generation; 0 when none was.

        Raises:
            CorruptData: the file is damaged.
        """
        try:
            with translated_os_errors():
                content = self.path.read_bytes() if self.path.exists() else None
            record = _Record(0) if content is None else msgspec.json.decode(content, type=_Record)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptData(f"The side file {self.path.name!r} is damaged.") from error
        if not record.is_sound:
            raise CorruptData(f"The side file {self.path.name!r} is damaged.")
        return record.generation

    def record(self, generation: int) -> None:
        """Remember that `generation` was committed; durable when it returns.

        Raises:
            StorageError: it could not be written. The commit itself stands.
        """
        atomic_write(self.path, msgspec.json.encode(_Record(generation, _checksum(generation))))

    def check(self, database_generation: int, *, accept_loss: bool = False) -> None:
        """Compare what the database holds with what was recorded.

        Args:
            accept_loss: carry on from what is left, and record that.

        Raises:
            CorruptData: the database is older than its manifest, so acknowledged writes are lost.
        """
        if accept_loss:
            self.record(database_generation)
        elif database_generation < (recorded := self.read()):
            raise CorruptData(
                f"Acknowledged writes are missing: the database stands at generation {database_generation:,}, "
                f"but {recorded:,} was recorded. Restore a backup, or run `quarry repair`."
            )

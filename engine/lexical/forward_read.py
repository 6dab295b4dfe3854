"""A segment whose packed passages are read from its file instead of from the map of it.

Whatever is touched of a map counts as memory of the process, and around each page that is touched the system maps
fifteen more: a few dozen queries over a large collection would hold all of its texts. The map stays for the terms, of
which a query needs forty stretches (reading them one by one takes 0.2 ms), and it keeps the file alive for a reader of
an index that has merged it away since.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.lexical.forward_segment import Segment
from engine.ranking.passage_terms import Indices

LEAST_BYTES = 2**22
"""Of a file; the map of a smaller one is quicker and no burden."""


class ReadSegment(Segment):
    """As `Segment`; made by `read_from`."""

    path: Path
    identity: tuple[int, int]
    rows_at: int

    def packed(self, starts: Indices, lengths: Indices) -> list[bytes]:
        parts = self._read(starts + self.rows_at, lengths)
        return super().packed(starts, lengths) if parts is None else parts

    def _read(self, starts: Indices, lengths: Indices) -> list[bytes] | None:
        """Stretches of the file, in bytes; None where it is not the one that is mapped any more."""
        wanted: list[int] = lengths.tolist()
        try:
            # Opened each time: many namespaces with a file or two each would come near what a process may hold open.
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError:
            return None
        try:
            if _identity(os.fstat(descriptor)) != self.identity:
                return None
            parts = [os.pread(descriptor, length, start) for start, length in zip(starts.tolist(), wanted, strict=True)]
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return parts if [len(part) for part in parts] == wanted else None


def read_from(path: Path, segment: Segment) -> Segment:
    """`segment`, mapped from `path`, with its packed passages read."""
    made = ReadSegment(*_columns(segment))
    status = path.stat()
    made.path, made.identity = path, _identity(status)
    # They stand last in the file.
    made.rows_at = status.st_size - len(segment.rows)
    return made


def _columns(segment: Segment) -> tuple[Any, ...]:
    return tuple(segment)


def _identity(status: os.stat_result) -> tuple[int, int]:
    # No other file has them while the map is there.
    return status.st_dev, status.st_ino

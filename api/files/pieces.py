"""What converters give: parts of a readable file, records of a file of records, and what cannot be used.

A converter is a function from a `Source` to an iterator of these. It yields a `Refusal` for a line or page that is
wrong and goes on; it raises `UnreadableFile` when the whole file is of no use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

import msgspec


class UnreadableFile(Exception):
    """A file cannot be read as what its name says; the message says why, and names no path."""


class SkippedFile(Exception):
    """A file holds nothing to index, such as a file without a word; the message is the reason."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller says about the files.

    Attributes:
        encoding: of text files; None detects it.
        separator: between the cells of a table; None detects it.
    """

    encoding: str | None = None
    separator: str | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is open for reading.

    Attributes:
        name: what ids begin with: its path below the folder that was given, with ``/``, valid Unicode.
        file: at its beginning, seekable.
        note: takes a sentence about the file that is no fault, such as the encoding that was guessed.
    """

    name: str
    size: int
    file: BinaryIO
    options: Options
    note: Callable[[str], None]

    @property
    def stem(self) -> str:
        """The file's name without folders and ending."""
        return self.name.rsplit("/", 1)[-1].rsplit(".", 1)[0] or self.name

    def content(self, limit: int) -> bytes:
        """Every byte of the file. Raises `UnreadableFile` when there are more than `limit`."""
        self.content_fits(limit)
        self.file.seek(0)
        return self.file.read()

    def content_fits(self, limit: int) -> None:
        """Raises `UnreadableFile` when the file has more than `limit` bytes."""
        if self.size > limit:
            raise UnreadableFile(f"larger than {limit // 2**20:,} MiB")


class Part(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A piece of a file that people read: a section, a page, a message.

    Attributes:
        anchor: what tells it from the other parts, stable while the part stays: ``p3``, ``install``.
        body: its text.
        attributes: what else is known, such as ``title``, ``heading``, ``page``.
    """

    anchor: str
    body: str
    attributes: dict[str, Any] = {}


class Record(msgspec.Struct, frozen=True):
    """A document that stands in a file of records as it is to be stored, perhaps without an ``id``.

    Attributes:
        line: counts from 1; the row of a table without lines, or the position in a list.
        cells: the values are text of a table, still to be typed by the schema.
    """

    document: dict[str, Any]
    line: int
    cells: bool = False


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """A line or a page that cannot be used.

    Attributes:
        place: ``17`` for a line, ``page 3``; joined to the file's name with a colon.
    """

    place: str
    reason: str


Piece: TypeAlias = Part | Record | Refusal
Converter: TypeAlias = Callable[[Source], Iterator[Piece]]

"""What stands in one file, as documents in the store: the same for a file of a folder and one that was uploaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from api.files.documents import part_documents, record_document, renamed
from api.files.foreign import ForeignReader
from api.files.kinds import Kind
from api.files.pieces import Part, Piece, Record, Refusal, Source, UnreadableFile
from api.files.report import Report
from api.files.store import FileProgress, Store, Waiting

_EVERY = 500
"""Records between two reports of progress."""


class Contents:
    """Reads files into `store`.

    Args:
        names: old name of an attribute to its new one.
        most_characters: of the text of one file that people read; None for any number.
    """

    def __init__(
        self,
        store: Store,
        report: Report,
        foreign: ForeignReader,
        names: Mapping[str, str],
        most_characters: int | None = None,
    ) -> None:
        self._store = store
        self._report = report
        self._foreign = foreign
        self._names = names
        self._most_characters = most_characters

    def read(
        self, kind: Kind, source: Source, place: str, progress: FileProgress, advance: Callable[[int], None]
    ) -> list[Waiting]:
        """Store the records of a file as they come; give the documents of a file that people read, to be stored.

        Such a file is stored as a whole or not at all: the caller may find out at its end that it changed meanwhile.

        Args:
            place: what reports call the file.
            advance: takes the byte that was reached in a file of records.

        Raises:
            UnreadableFile, SkippedFile: as the converter says.
        """
        pieces = self._foreign.read(kind, source) if kind.is_foreign else kind.read(source)
        first = next(pieces, None)
        rest = _chain(first, pieces)
        if isinstance(first, Record):
            self._records(rest, source, place, progress, advance)
            return []
        return list(self._parts(kind, rest, place, progress))

    def _records(
        self,
        pieces: Iterator[Piece],
        source: Source,
        place: str,
        progress: FileProgress,
        advance: Callable[[int], None],
    ) -> None:
        for number, piece in enumerate(pieces):
            if isinstance(piece, Record):
                document, was_number = record_document(piece, progress.name, self._names)
                if was_number:
                    self._report.note(f"{place}: ids that are whole numbers are stored as text")
                self._store.add(Waiting(document, f"{place}:{piece.line}", progress, is_cells=piece.cells))
            elif isinstance(piece, Refusal):
                self._refuse(piece, place, progress)
            if number % _EVERY == 0:
                advance(source.file.tell())

    def _parts(self, kind: Kind, pieces: Iterator[Piece], place: str, progress: FileProgress) -> Iterator[Waiting]:
        def readable() -> Iterator[Part]:
            characters = 0
            for piece in pieces:
                if isinstance(piece, Part):
                    characters += len(piece.body)
                    if self._most_characters is not None and characters > self._most_characters:
                        raise UnreadableFile(f"more than {self._most_characters:,} characters of text")
                    yield piece
                elif isinstance(piece, Refusal):
                    self._refuse(piece, place, progress)

        for anchor, document in part_documents(progress.name, readable(), have_root=kind.name != "mailbox"):
            at = f"{place}#{anchor}" if anchor else place
            yield Waiting(renamed(document, self._names), at, progress, is_part=True)

    def _refuse(self, refusal: Refusal, place: str, progress: FileProgress) -> None:
        progress.refused += 1
        self._report.refuse(f"{place}:{refusal.place}", refusal.reason)


def _chain(first: Piece | None, rest: Iterator[Piece]) -> Iterator[Piece]:
    if first is not None:
        yield first
        yield from rest

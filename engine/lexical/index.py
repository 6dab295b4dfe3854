"""The lexical index of one namespace: the writing side, and readers of what is committed.

Derived from the database: a damaged or outdated index says so when it is opened, and is filled again by the caller.
"""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from engine.analysis.analyzer import DEFAULT_LANGUAGE, indexable, language_of, text_analyzer
from engine.errors import CorruptData, QuarryError, StorageError
from engine.lexical import native
from engine.lexical.footprint import Applied, check_files, read_applied, remove_leftovers, write_applied
from engine.lexical.native import FORMAT, Index, Searcher, Writer, translated
from engine.lexical.reader import LexicalQuery, LexicalReader
from engine.model.hits import Labels

__all__ = ["LexicalIndex", "LexicalPassage", "LexicalQuery", "LexicalReader"]

HEAP_BYTES = 50_000_000
"""Of the one indexing thread; a second one gains nothing, since Python feeds it, and makes more segments to search."""


class LexicalPassage(NamedTuple):
    """What is indexed of a passage; `label` in ``[0, 2**63)``, never reused.

    Attributes:
        language: of the body, asked for where it is None.
    """

    label: int
    header: str
    body: str
    language: str | None = None


class LexicalIndex:
    """BM25 over headers and bodies. One thread writes at a time; readers go on meanwhile and keep their snapshot.

    An error while writing leaves what was committed before. The caller may write again, or `clear` and replay.
    """

    def __init__(self, folder: Path) -> None:
        """Use `open`."""
        self._folder = folder
        self._applied = Applied(FORMAT, 0, 0, 0, {})
        self._holds_unrecorded = False
        self._writer: Writer | None = None
        with translated("be opened"):
            folder.mkdir(parents=True, exist_ok=True)
            self._index: Index = native.open_index(str(folder), text_analyzer(DEFAULT_LANGUAGE))

    @classmethod
    def open(cls, folder: Path) -> tuple[LexicalIndex, int]:
        """The index in `folder` (made when there is none) and the journal sequence that it holds; 0 is nothing.

        Raises:
            CorruptData: damaged, older than its side file, or of another format. Delete the folder and open again.
        """
        applied = read_applied(folder)
        if applied is None:
            # Nothing was ever finished here; what lies in the folder is the start of a first commit.
            shutil.rmtree(folder, ignore_errors=True)
            return cls(folder), 0
        if applied.format != FORMAT:
            raise CorruptData("The lexical index has another format.")
        remove_leftovers(folder)
        unrecorded = check_files(folder, applied)
        try:
            index = cls(folder)
        except StorageError as error:
            raise CorruptData("The lexical index cannot be opened.") from error
        index._applied, index._holds_unrecorded = applied, unrecorded
        return index, applied.seq

    def apply(self, added: Sequence[LexicalPassage], removed: Labels | Sequence[int], seq: int) -> None:
        """Remove, then add, in one commit; readers made afterwards see all of it. Doing it twice changes nothing.

        Args:
            added: a label that is there already is replaced.
            removed: unknown ones are ignored.
            seq: journal sequence that the index holds then.

        Raises:
            StorageError: nothing of it is in the index.
            CorruptData: the index lost documents; `clear` it and replay.
        """
        known = self._applied.next_label
        gone = [int(label) for label in removed]
        gone += [passage.label for passage in added if self._holds_unrecorded or passage.label < known]
        languages = Counter(self._applied.languages)
        try:
            with translated("be written"):
                before = self._searcher()
                kept = before.num_docs - _count(before, gone)
                writer = self._open_writer()
                for label in gone:
                    writer.delete_documents_by_term(native.LABEL, label)
                for label, header, body, spoken in added:
                    language = spoken or language_of(body)
                    languages[language] += 1
                    above = indexable(header, language)
                    whole = f"{above}\n{indexable(body, language)}"
                    writer.add_document(native.make_document(label, above, whole))
                opstamp = writer.commit()
                self._index.reload()
        except BaseException:
            self._roll_back()
            raise
        expected = kept + len({passage.label for passage in added})
        if self._searcher().num_docs != expected:
            raise CorruptData("The lexical index lost documents.")
        next_label = max(known, max((passage.label + 1 for passage in added), default=0))
        if self._holds_unrecorded and seq <= self._applied.seq:
            # Part of a replay: until it is whole, the side file has to go on saying that more may be in the index.
            opstamp = self._applied.opstamp
        else:
            self._holds_unrecorded = False
        self._applied = Applied(FORMAT, seq, opstamp, next_label, dict(languages))
        with translated("be written"):
            write_applied(self._folder, self._applied)

    def clear(self) -> None:
        """Begin again with an empty index, whatever state this one is in; readers keep what they saw."""
        self._drop_writer()
        shutil.rmtree(self._folder, ignore_errors=True)
        # The old index object stays with its readers; its files are gone but still mapped.
        fresh = LexicalIndex(self._folder)
        self._index, self._applied, self._holds_unrecorded = fresh._index, fresh._applied, False

    def reader(self) -> LexicalReader:
        """A snapshot of what is committed."""
        return LexicalReader(self._searcher(), self._applied.languages)

    def problems(self) -> list[str]:
        """What is wrong with the files of the last commit, readable; reads all of them."""
        try:
            check_files(self._folder, self._applied)
        except CorruptData as error:
            return [error.message]
        return []

    def close(self) -> None:
        """Wait for merges and let go of the folder's lock. The index cannot be written afterwards."""
        self._drop_writer()

    def _searcher(self) -> Searcher:
        return self._index.searcher()

    def _open_writer(self) -> Writer:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
        return self._writer

    def _roll_back(self) -> None:
        """After any exception: whatever was added since the last commit must not go into the next one."""
        if self._writer is None:
            return
        try:
            with translated("be rolled back"):
                self._writer.rollback()
        except QuarryError:
            self._drop_writer()

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(QuarryError), translated("finish merging"):
                writer.wait_merging_threads()


def _count(searcher: Searcher, labels: Sequence[int]) -> int:
    """How many of `labels` have a passage."""
    if not labels or searcher.num_docs == 0:
        return 0
    query = native.among(labels, few=len(labels) <= 1_000)
    return searcher.search(query, 1, count=True).count or 0

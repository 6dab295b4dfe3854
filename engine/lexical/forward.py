"""The forward index of a namespace: label to passage and its terms.

Candidates are reranked by their terms without reading texts, and those that are returned are read without the database,
which takes longer over ten rows than both legs of a search over all.

Derived from the database like the other indexes: a folder that is damaged, or of another analysis, is filled again.
Passages that were removed stay until files are merged; who asks names live labels only.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.errors import CorruptData
from engine.lexical.forward_file import SegmentFile, forget, is_whole, read_held, write_held, write_segment
from engine.lexical.forward_segment import ForwardPassage, Segment, gathered, joined, segment_of
from engine.model.document import Passage
from engine.model.hits import Labels, distinct
from engine.ranking.passage_terms import Indices, PassageTerms

__all__ = ["ForwardIndex", "ForwardPassage", "ForwardReader"]

MOST_FILES = 8
"""With more, they are merged at the next save: a query looks into each."""
DEAD_SHARE = 0.3
CHECKED_AT_ONCE = 2**23
"""Bytes that opening checks before it returns (some 5 ms); more are checked beside the first queries."""

_log = logging.getLogger(__name__)


class ForwardReader:
    """What an index held when the reader was made. Thread-safe."""

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        """Use `ForwardIndex.reader`."""
        self._segments = segments
        self._firsts = np.array([segment.labels[0] for segment in segments], np.int64)

    def terms(self, labels: Labels) -> PassageTerms | None:
        """The terms of `labels`, in their order; None where one is unknown: read the texts instead."""
        stretches = self._stretches(labels)
        if stretches is None:
            return None
        order = np.empty(len(labels), np.int64)
        order[np.concatenate([among for _, among, _ in stretches])] = np.arange(len(labels))
        return gathered([segment.terms_of(rows) for segment, _, rows in stretches], order)

    def passages(self, labels: Labels) -> list[Passage] | None:
        """The passages of `labels`, in any order; None where one is unknown or damaged: ask the database instead."""
        stretches = self._stretches(labels)
        if stretches is None:
            return None
        try:
            return [passage for segment, _, rows in stretches for passage in segment.passages(rows)]
        except CorruptData as error:
            # The file was whole when it was opened.
            _log.warning("the forward index cannot be used: %s", error.message)
            return None

    def _stretches(self, labels: Labels) -> list[tuple[Segment, Indices, Indices]] | None:
        """Each segment that holds some of `labels`, the places of these among them, and their rows in it."""
        if len(labels) == 0 or len(self._segments) == 0:
            return None
        at: Indices = np.searchsorted(self._firsts, labels, side="right") - 1
        numbers: list[int] = distinct(at).tolist()
        if numbers[0] < 0:
            return None
        found: list[tuple[Segment, Indices, Indices]] = []
        for number in numbers:
            among = np.flatnonzero(at == number)
            rows = self._segments[number].rows_of(labels[among])
            if (rows < 0).any():
                return None
            found.append((self._segments[number], among, rows))
        return found


class ForwardIndex:
    """One thread writes at a time; readers go on meanwhile and keep what they saw."""

    def __init__(self, folder: Path) -> None:
        """Empty. Use `open`."""
        self._folder = folder
        self._files: tuple[SegmentFile, ...] = ()
        self._saved: tuple[Segment, ...] = ()
        self._fresh: tuple[Segment, ...] = ()
        self._reader = ForwardReader(())
        self._check: threading.Thread | None = None
        self._is_checked = True
        self._is_damaged = False

    @classmethod
    def open(cls, folder: Path) -> tuple[ForwardIndex, int]:
        """The index in `folder` and the journal sequence that it holds; empty and 0 where there is none to use."""
        index = cls(folder)
        try:
            held = read_held(folder)
        except CorruptData as error:
            _log.warning("the forward index is built anew: %s", error.message)
            index.clear()
            return index, 0
        if held is None:
            return index, 0
        index._files, index._saved = held.files, held.segments
        if sum(file.size for file in held.files) <= CHECKED_AT_ONCE:
            index._verify()
            if index._is_damaged:
                return cls(folder), 0
        else:
            index._is_checked = False
            index._check = threading.Thread(target=index._verify, name="forward index check", daemon=True)
            index._check.start()
        index._publish()
        return index, held.applied_seq

    def __len__(self) -> int:
        """Passages, removed ones included."""
        return sum(len(segment.labels) for segment in (*self._saved, *self._fresh))

    def add(self, passages: Sequence[ForwardPassage]) -> None:
        """Add passages whose labels increase strictly, from above all there are."""
        if not passages or self._is_damaged:
            return
        fresh = [*self._fresh, segment_of(passages)]
        # Sizes fall by half or more from one to the next, so that single documents do not make thousands of segments.
        while len(fresh) > 1 and len(fresh[-2].labels) < 2 * len(fresh[-1].labels):
            fresh[-2:] = [joined(fresh[-2:])]
        self._fresh = tuple(fresh)
        self._publish()

    def clear(self) -> None:
        """Begin again with an empty index; readers keep what they saw."""
        self._settle()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._files, self._saved, self._fresh = (), (), ()
        self._is_checked, self._is_damaged = True, False
        self._publish()

    def reader(self) -> ForwardReader:
        """What is there now; nothing until the files are found whole."""
        return self._reader if self._is_checked and not self._is_damaged else ForwardReader(())

    def save(self, seq: int, live: Labels) -> None:
        """Write what is only in memory; merges files when there are many, or many removed passages.

        Args:
            seq: journal sequence that the index holds.
            live: labels of all passages that were not removed, strictly increasing.

        Raises:
            StorageFull: no space left.
            StorageError: any other failure; what was saved before stays.
        """
        self._settle()
        if self._is_damaged:
            return
        merging = len(self._files) >= MOST_FILES or len(self) - len(live) > DEAD_SHARE * len(self)
        kept = () if merging else self._files
        parts = [*(self._saved if merging else ()), *self._fresh]
        if merging:
            parts = [segment.part(np.flatnonzero(np.isin(segment.labels, live, kind="sort"))) for segment in parts]
        parts = [segment for segment in parts if len(segment.labels)]
        number = 1 + max((file.number for file in self._files), default=-1)
        written = [write_segment(self._folder, number, joined(parts))] if parts else []
        files = (*kept, *(file for file, _ in written))
        write_held(self._folder, seq, files)
        self._files = files
        self._saved = (*(() if merging else self._saved), *(segment for _, segment in written))
        self._fresh = ()
        self._publish()

    def problems(self) -> list[str]:
        """What is wrong with the files, readable; reads all of them."""
        self._settle()
        return [
            f"the file {file.name} of the forward index is damaged" for file in self._files if not self._holds(file)
        ]

    def close(self) -> None:
        """Wait for the check of the files."""
        self._settle()

    def _publish(self) -> None:
        self._reader = ForwardReader((*self._saved, *self._fresh))

    def _settle(self) -> None:
        if self._check is not None:
            self._check.join()

    def _verify(self) -> None:
        damaged = [file for file in self._files if not self._holds(file)]
        if damaged:
            _log.warning("the forward index is damaged: texts are read instead until the namespace is opened again")
            self._is_damaged = True
            forget(self._folder)
        self._is_checked = True

    def _holds(self, file: SegmentFile) -> bool:
        return is_whole(self._folder, file)

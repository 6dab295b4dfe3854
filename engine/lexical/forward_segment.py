"""A stretch of a forward index: some passages and their terms as a few arrays, in memory or mapped from a file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from engine.analysis.analyzer import language_of
from engine.analysis.term_ids import TermIds, append_text_ids
from engine.lexical.forward_rows import pack, unpack
from engine.model.document import Passage
from engine.model.hits import Labels
from engine.ranking.passage_terms import Indices, PassageTerms, TermTexts, append_header_ids, spans_of

Bytes = npt.NDArray[np.uint8]


class ForwardPassage(NamedTuple):
    """A passage to keep; `language` is that of its text, asked for where it is None."""

    passage: Passage
    language: str | None = None


class Segment(NamedTuple):
    """Passages in the order of their labels. Those of one document share a record of its id and header.

    The n-th stretch of an array of terms begins where the one before it ends.

    Attributes:
        labels: shape ``(passages,)``, strictly increasing.
        records: shape ``(passages,)``: the record of each.
        body_ends: shape ``(passages,)``, into `bodies`.
        id_ends: shape ``(records,)``, into `ids`, which are UTF-8.
        header_ends: shape ``(records,)``, into `headers`.
        name_ends: shape ``(records,)``, into `name_starts` and `name_lengths`: stretches of the header that name the
            document.
        row_ends: shape ``(passages,)``, into `rows`, which are the passages themselves, packed.
    """

    labels: Labels
    records: Indices
    body_ends: Indices
    id_ends: Indices
    header_ends: Indices
    name_ends: Indices
    row_ends: Indices
    bodies: TermIds
    headers: TermIds
    name_starts: TermIds
    name_lengths: TermIds
    ids: Bytes
    rows: Bytes

    def rows_of(self, labels: Labels) -> Indices:
        """The row of each label; -1 where it has none."""
        rows = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return np.where(self.labels[rows] == labels, rows, np.int64(-1))

    def terms_of(self, rows: Indices) -> PassageTerms:
        """What rerankers read of the passages at `rows`, in that order."""
        records = self.records[rows]
        starts, lengths = _stretch(self.body_ends, rows)
        header_starts, header_lengths = _stretch(self.header_ends, records)
        name_starts, name_counts = _stretch(self.name_ends, records)
        names = np.repeat(name_starts - (np.cumsum(name_counts) - name_counts), name_counts) + np.arange(
            int(name_counts.sum())
        )
        named = np.repeat(np.arange(len(rows)), name_counts)
        name_lengths = self.name_lengths[names].astype(np.int64)
        id_starts, id_lengths = _stretch(self.id_ends, records)
        return PassageTerms(
            self.labels[rows],
            tuple(
                self.ids[start : start + length].tobytes().decode()
                for start, length in zip(id_starts.tolist(), id_lengths.tolist(), strict=True)
            ),
            TermTexts(spans_of(self.bodies, starts, lengths), lengths),
            TermTexts(spans_of(self.headers, header_starts, header_lengths), header_lengths),
            TermTexts(
                spans_of(self.headers, header_starts[named] + self.name_starts[names], name_lengths), name_lengths
            ),
            named,
        )

    def passages(self, rows: Indices) -> list[Passage]:
        """The passages at `rows`, in that order."""
        starts, lengths = _stretch(self.row_ends, rows)
        return [unpack(*row) for row in zip(self.labels[rows].tolist(), self.packed(starts, lengths), strict=True)]

    def packed(self, starts: Indices, lengths: Indices) -> list[bytes]:
        """Stretches of `rows`."""
        return [
            self.rows[start : start + length].tobytes()
            for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]

    def part(self, rows: Indices) -> Segment:
        """The passages at `rows` (ascending) alone."""
        used, records = np.unique(self.records[rows], return_inverse=True)
        starts, lengths = _stretch(self.body_ends, rows)
        header_starts, header_lengths = _stretch(self.header_ends, used)
        name_starts, name_counts = _stretch(self.name_ends, used)
        id_starts, id_lengths = _stretch(self.id_ends, used)
        row_starts, row_lengths = _stretch(self.row_ends, rows)
        return Segment(
            self.labels[rows],
            records.astype(np.int64),
            np.cumsum(lengths),
            np.cumsum(id_lengths),
            np.cumsum(header_lengths),
            np.cumsum(name_counts),
            np.cumsum(row_lengths),
            spans_of(self.bodies, starts, lengths),
            spans_of(self.headers, header_starts, header_lengths),
            spans_of(self.name_starts, name_starts, name_counts),
            spans_of(self.name_lengths, name_starts, name_counts),
            spans_of(self.ids, id_starts, id_lengths),
            spans_of(self.rows, row_starts, row_lengths),
        )


COLUMNS = tuple(np.dtype(kind) for kind in (*("<i8",) * 7, *("<u4",) * 4, "u1", "u1"))
"""Types of the arrays of a segment, the widest first, so that each is aligned in a file."""


def segment_of(passages: Sequence[ForwardPassage]) -> Segment:
    """Analyse `passages`, whose labels increase strictly."""
    bodies, headers, name_starts, name_lengths = array("I"), array("I"), array("I"), array("I")
    body_ends, header_ends, name_ends, id_ends = array("q"), array("q"), array("q"), array("q")
    labels, records, row_ends = array("q"), array("q"), array("q")
    ids, rows = bytearray(), bytearray()
    known: dict[tuple[str, str, str], int] = {}
    for passage, spoken in passages:
        language = spoken or language_of(passage.text)
        record = known.setdefault((passage.document_id, passage.header, language), len(known))
        if record == len(id_ends):
            ids += passage.document_id.encode()
            for start, length in append_header_ids(passage.header, language, headers):
                name_starts.append(start)
                name_lengths.append(length)
            for ends, values in ((id_ends, ids), (header_ends, headers), (name_ends, name_starts)):
                ends.append(len(values))
        labels.append(passage.label)
        records.append(record)
        append_text_ids(passage.text, language, bodies)
        body_ends.append(len(bodies))
        rows += pack(passage)
        row_ends.append(len(rows))
    ends = (body_ends, id_ends, header_ends, name_ends, row_ends)
    columns = (labels, records, *ends, bodies, headers, name_starts, name_lengths, ids, rows)
    return segment_from([np.array(column, kind) for column, kind in zip(columns, COLUMNS, strict=True)])


def segment_from(columns: Sequence[npt.NDArray[Any]]) -> Segment:
    """A segment of its arrays, which have the types of `COLUMNS`."""
    return Segment(*cast("tuple[Any, ...]", tuple(columns)))


def joined(segments: Sequence[Segment]) -> Segment:
    """The passages of all `segments` in one, in their order."""
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in COLUMNS]
    # Columns that count into others go on where those of the segment before ended.
    counted = {1: 3, 2: 7, 3: 11, 4: 8, 5: 9, 6: 12}
    before = [0] * len(COLUMNS)
    for segment in segments:
        for at, column in enumerate(cast("tuple[npt.NDArray[Any], ...]", segment)):
            columns[at].append(column + before[counted[at]] if at in counted else column)
        before = [length + len(column) for length, column in zip(before, segment, strict=True)]
    return segment_from([np.concatenate(parts).astype(kind) for parts, kind in zip(columns, COLUMNS, strict=True)])


def gathered(parts: Sequence[PassageTerms], order: Indices) -> PassageTerms:
    """The passages of all `parts`, then put in `order`."""
    if len(parts) == 1 and (order == np.arange(len(order))).all():
        return parts[0]
    documents = [document for part in parts for document in part.documents]
    before = np.cumsum([0, *(len(part) for part in parts)])
    named = np.concatenate([part.named + start for part, start in zip(parts, before, strict=False)])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    by_place = np.argsort(place[named], kind="stable")
    return PassageTerms(
        np.concatenate([part.labels for part in parts])[order],
        tuple(map(documents.__getitem__, order.tolist())),
        TermTexts.joined([part.bodies for part in parts]).take(order),
        TermTexts.joined([part.headers for part in parts]).take(order),
        TermTexts.joined([part.names for part in parts]).take(by_place),
        place[named][by_place],
    )


def _stretch(ends: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """Start and length of the stretches at `rows`."""
    starts = np.where(rows > 0, ends[rows - 1], np.int64(0))
    return starts, ends[rows] - starts

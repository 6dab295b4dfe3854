"""The `passages` table of one namespace: text, place and vector by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.model.document import Passage
from engine.model.hits import Labels, Vectors
from engine.storage.connection import Cursor, insert_rows

_COLUMNS = ("label", "key", "document_id", "attribute", "start_at", "end_at", "text", "header", "vector")
_PASSAGE = "label, document_id, attribute, start_at, end_at, text, header"

STORED_VECTORS = np.dtype("<f2")
"""Half precision moves a cosine by 1e-5 and saves half of what vectors take on disk."""
_EARLIER_VECTORS = np.dtype("<f4")


def as_stored(vectors: Vectors) -> Vectors:
    """`vectors` as they will be read again, so that an index made now equals one that is rebuilt."""
    return vectors.astype(STORED_VECTORS).astype(np.float32)


class PassageRow(NamedTuple):
    """A row of `passages`; `vector` is of `STORED_VECTORS`."""

    label: int
    key: int
    document_id: str
    attribute: str
    start_at: int
    end_at: int
    text: str
    header: str
    vector: bytes


def insert_passages(cursor: Cursor, rows: Iterable[PassageRow]) -> None:
    """Insert rows with new labels."""
    insert_rows(cursor, "passages", _COLUMNS, rows)


def labels_of(cursor: Cursor, keys: Sequence[int]) -> list[int]:
    """Labels of the passages of documents `keys`, ascending."""
    found = cursor.execute(
        "SELECT label FROM passages WHERE key IN (SELECT unnest($1::BIGINT[])) ORDER BY label", [list(keys)]
    )
    return [label for (label,) in found.fetchall()]


def delete_passages(cursor: Cursor, labels: Sequence[int]) -> None:
    """Delete the rows of `labels`."""
    cursor.execute("DELETE FROM passages WHERE label IN (SELECT unnest($1::BIGINT[]))", [list(labels)])


def hydrate(cursor: Cursor, labels: Sequence[int]) -> dict[int, Passage]:
    """The live passages among `labels`."""
    if not labels:
        return {}
    # Integers are formatted into the statement: an IN list of constants uses the index, a list parameter scans.
    wanted = ",".join(map(str, map(int, labels)))
    found = cursor.execute(
        f"SELECT {_PASSAGE} FROM passages WHERE label IN ({wanted})"  # noqa: S608 - integers only
    )
    return {row[0]: _passage(*row) for row in found.fetchall()}


def _passage(label: int, document_id: str, attribute: str, start: int, end: int, text: str, header: str) -> Passage:
    return Passage(
        label=label, document_id=document_id, attribute=attribute, start=start, end=end, text=text, header=header
    )


def label_keys(cursor: Cursor) -> tuple[Labels, npt.NDArray[np.int64]]:
    """Every live label, ascending, and the document key of each."""
    found = cursor.execute("SELECT label, key FROM passages ORDER BY label").fetchnumpy()
    return np.asarray(found["label"], np.int64), np.asarray(found["key"], np.int64)


def passages_between(cursor: Cursor, first: int, stop: int, *, batch: int = 20_000) -> Iterator[list[Passage]]:
    """The passages of live labels in ``[first, stop)``, ascending, in batches."""
    while first < stop:
        rows = cursor.execute(
            f"SELECT {_PASSAGE} FROM passages "  # noqa: S608 - a constant
            "WHERE label >= $1 AND label < $2 ORDER BY label LIMIT $3",
            [first, stop, batch],
        ).fetchall()
        if not rows:
            return
        yield [_passage(*row) for row in rows]
        first = rows[-1][0] + 1


def vectors_between(
    cursor: Cursor, first: int, stop: int, dimension: int, *, batch: int = 20_000
) -> Iterator[tuple[Labels, Vectors]]:
    """Labels in ``[first, stop)``, ascending, with their rows ``(n, dimension)``, in batches."""
    while first < stop:
        found = cursor.execute(
            "SELECT label, vector FROM passages WHERE label >= $1 AND label < $2 ORDER BY label LIMIT $3",
            [first, stop, batch],
        ).fetchnumpy()
        labels = np.asarray(found["label"], np.int64)
        if len(labels) == 0:
            return
        yield labels, _decode(found["vector"].tolist(), dimension)
        first = int(labels[-1]) + 1


def _decode(stored: Sequence[bytes], dimension: int) -> Vectors:
    """Rows of both precisions: data directories of earlier versions hold float32."""
    rows = np.empty((len(stored), dimension), np.float32)
    widths = np.fromiter(map(len, stored), np.int64, len(stored))
    for kind in (STORED_VECTORS, _EARLIER_VECTORS):
        held = np.flatnonzero(widths == kind.itemsize * dimension)
        if len(held):
            packed = b"".join(stored[n] for n in held.tolist())
            rows[held] = np.frombuffer(packed, kind).reshape(len(held), dimension)
    return rows


def count_passages(cursor: Cursor) -> int:
    """How many passages are live."""
    row = cursor.execute("SELECT count(*) FROM passages").fetchone()
    return int(row[0]) if row else 0

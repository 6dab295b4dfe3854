"""The `documents` table of one namespace: bodies as uploaded, by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from engine.model.document import JsonValue
from engine.storage.connection import Cursor, insert_rows
from engine.storage.journal import read_counters

_BY_INDEX = 200
"""Ids up to which each is a parameter of its own, for which DuckDB uses the index; a list parameter scans the table."""
_DECODER: msgspec.json.Decoder[dict[str, JsonValue]] = msgspec.json.Decoder(dict[str, Any])


class DocumentRow(NamedTuple):
    """A row of `documents`; `body` is JSON."""

    id: str
    key: int
    root_id: str | None
    body: str


def insert_documents(cursor: Cursor, rows: Iterable[DocumentRow]) -> None:
    """Insert rows whose ids are not in the table."""
    insert_rows(cursor, "documents", ("id", "key", "root_id", "body"), rows)


def keys_of(cursor: Cursor, ids: Sequence[str]) -> list[int]:
    """Keys of the documents among `ids` that exist."""
    found = cursor.execute("SELECT key FROM documents WHERE id IN (SELECT unnest($1::VARCHAR[]))", [list(ids)])
    return [key for (key,) in found.fetchall()]


def keys_of_roots(cursor: Cursor, roots: Sequence[str]) -> list[int]:
    """Keys of each root that exists and of every document whose root it is."""
    found = cursor.execute(
        "SELECT key FROM documents WHERE id IN (SELECT unnest($1::VARCHAR[])) "
        "OR root_id IN (SELECT unnest($1::VARCHAR[]))",
        [list(roots)],
    )
    return [key for (key,) in found.fetchall()]


def delete_documents(cursor: Cursor, keys: Sequence[int]) -> None:
    """Delete the rows of `keys`."""
    cursor.execute("DELETE FROM documents WHERE key IN (SELECT unnest($1::BIGINT[]))", [list(keys)])


def versions(cursor: Cursor, ids: Sequence[str]) -> dict[str, int]:
    """Key of each document among `ids` that exists."""
    return dict(_of(cursor, "id, key", ids))


def raw_bodies(cursor: Cursor, ids: Sequence[str]) -> list[tuple[str, int, str]]:
    """Id, key and JSON of each document among `ids` that exists."""
    return _of(cursor, "id, key, body", ids)


def all_bodies(cursor: Cursor) -> list[tuple[str, int, str]]:
    """As `raw_bodies`, of all documents there are."""
    return cursor.execute("SELECT id, key, body FROM documents").fetchall()


def _of(cursor: Cursor, columns: str, ids: Sequence[str]) -> list[tuple[Any, ...]]:
    if not ids:
        return []
    if len(ids) > _BY_INDEX:
        among, given = "SELECT unnest(?::VARCHAR[])", [list(ids)]
    else:
        among, given = ",".join("?" * len(ids)), list(ids)
    return cursor.execute(f"SELECT {columns} FROM documents WHERE id IN ({among})", given).fetchall()  # noqa: S608


def count_documents(cursor: Cursor) -> int:
    """How many documents there are."""
    row = cursor.execute("SELECT count(*) FROM documents").fetchone()
    return int(row[0]) if row else 0


def random_body(cursor: Cursor) -> dict[str, JsonValue] | None:
    """One document, uniformly at random; None when there is none."""
    row = cursor.execute("SELECT body FROM documents USING SAMPLE 1 ROWS").fetchone()
    return _DECODER.decode(row[0]) if row else None


def scan_documents(cursor: Cursor, *, batch: int = 1000) -> Iterator[list[DocumentRow]]:
    """The documents that there are now, in batches, in the order of upload; each batch is a read of its own."""
    after, stop = -1, read_counters(cursor).next_key
    while True:
        rows = cursor.execute(
            "SELECT id, key, root_id, body FROM documents WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3",
            [after, stop, batch],
        ).fetchall()
        if not rows:
            return
        yield [DocumentRow(*row) for row in rows]
        after = rows[-1][1]


def keys_after(cursor: Cursor, after: int, limit: int) -> list[int]:
    """Keys above `after`, ascending: the order of upload."""
    found = cursor.execute("SELECT key FROM documents WHERE key > $1 ORDER BY key LIMIT $2", [after, limit])
    return [key for (key,) in found.fetchall()]


def first_documents(cursor: Cursor, keys: Sequence[int], most_bytes: int) -> list[DocumentRow]:
    """The documents of the first `keys`: as many as fit into `most_bytes`, and one at least.

    Args:
        keys: ascending.
    """
    if not keys:
        return []
    held = "key BETWEEN $1 AND $2 AND key IN (SELECT unnest($3::BIGINT[]))"
    asked = [keys[0], keys[-1], list(keys)]
    sizes = cursor.execute(f"SELECT key, strlen(body) FROM documents WHERE {held} ORDER BY key", asked).fetchall()  # noqa: S608
    last, total = keys[0], 0
    for key, size in sizes:
        total += size
        if total > most_bytes and key != keys[0]:
            break
        last = key
    asked[1] = last
    rows = cursor.execute(f"SELECT id, key, root_id, body FROM documents WHERE {held} ORDER BY key", asked)  # noqa: S608
    return [DocumentRow(*row) for row in rows.fetchall()]


def decode_body(body: str | bytes) -> dict[str, JsonValue]:
    """The document of a stored body."""
    return _DECODER.decode(body)

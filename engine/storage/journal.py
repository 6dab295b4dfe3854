"""The journal and the counters of one namespace.

Every committed write takes the next sequence number. An index that has applied sequence n needs only the entries
above n; entries that every index has applied may go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.storage.connection import Cursor


class Counters(NamedTuple):
    """The next free key and label, and the sequence of the last committed write."""

    next_key: int
    next_label: int
    seq: int


class Change(NamedTuple):
    """One write: labels ``[first_label, next_label)`` were added and `removed` went."""

    seq: int
    operation: str
    first_label: int
    next_label: int
    removed: list[int]


def read_counters(cursor: Cursor) -> Counters:
    """As of the cursor's snapshot."""
    row = cursor.execute("SELECT next_key, next_label, seq FROM counters").fetchone()
    if row is None:
        raise ValueError("the counters row is missing")
    return Counters(*row)


def begin_after(cursor: Cursor, seq: int) -> None:
    """Have an empty namespace go on from `seq`, within the caller's transaction."""
    cursor.execute("UPDATE counters SET seq = $1", [seq])


def append_change(cursor: Cursor, before: Counters, after: Counters, operation: str, removed: Sequence[int]) -> None:
    """Record a write and move the counters, within the caller's transaction."""
    cursor.execute(
        "INSERT INTO journal VALUES ($1, $2, $3, $4, $5::BIGINT[])",
        [after.seq, operation, before.next_label, after.next_label, list(removed)],
    )
    cursor.execute("UPDATE counters SET next_key = $1, next_label = $2, seq = $3", list(after))


def changes_since(cursor: Cursor, seq: int) -> list[Change] | None:
    """Entries above `seq`, oldest first; None when the journal no longer reaches back that far."""
    rows = cursor.execute(
        "SELECT seq, operation, first_label, next_label, removed FROM journal WHERE seq > $1 ORDER BY seq", [seq]
    ).fetchall()
    changes = [Change(*row) for row in rows]
    expected = read_counters(cursor).seq - seq
    return changes if len(changes) == expected else None


def forget_changes(cursor: Cursor, applied_seq: int) -> None:
    """Delete the entries that every index has durably applied."""
    cursor.execute("DELETE FROM journal WHERE seq <= $1", [applied_seq])

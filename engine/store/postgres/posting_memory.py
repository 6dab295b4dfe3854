"""Posting lists that queries asked for lately, remembered by this process.

Rows of postings never change: a write adds rows of larger labels, and only what is new is read. Compaction, which does
write them anew, counts itself in the namespace's row, and so begins another memory; so does a reindex, by another part.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from engine.backend.recent import Recent
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.postings import RECORD, TermPostings
from engine.store.postgres.text import escaped
from engine.store.postgres.writing import State

MOST_BYTES = 64 * 2**20
"""Of one server process; 3 million postings."""
_OVERHEAD = 400
"""Bytes that a term takes beside its postings."""
_READ = """
SELECT found.* FROM quarry.namespaces n LEFT JOIN LATERAL (
    SELECT asked.number, p.first_label, p.passages,
        CASE WHEN asked.held + sum(p.passages) OVER (PARTITION BY asked.number) <= %s THEN p.postings END
    FROM unnest(%s::text[], %s::int8[], %s::int8[]) WITH ORDINALITY AS asked(term, since, held, number)
    JOIN quarry.postings p ON p.part = n.part AND p.term = asked.term AND p.first_label >= since AND p.first_label < %s
    ORDER BY asked.number, p.first_label
) AS found ON true
WHERE n.part = %s AND n.compactions = %s
"""
_NONE = TermPostings(np.empty(0, np.int64), np.empty(0, RECORD))


class Term(NamedTuple):
    """What is known of one term.

    Attributes:
        passages: that hold it, removed ones included.
        postings: None where they are too many to be read.
    """

    passages: int
    postings: TermPostings | None


class StateGone(Exception):
    """The namespace was compacted, reindexed or removed since its state was read."""


class PostingMemory:
    """Thread-safe."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        # With the label up to which it is known.
        self._held: Recent[tuple[int, Term]] = Recent(most_bytes)

    def terms(self, pool: Pool, state: State, asked: Collection[str], *, most: float = math.inf) -> dict[str, Term]:
        """Every term of `asked` as it is in `state`.

        Args:
            most: longer lists are counted, and not read.

        Raises:
            StateGone: what is not remembered can no longer be read.
        """
        keys = {f"{state.compactions} {term}": term for term in asked}
        found: dict[str, Term] = {}
        unread: dict[str, TermPostings] = {}
        known = self._held.take(state.part, keys)
        for key, term in keys.items():
            upto, held = known.get(key, (-1, Term(0, None)))
            if upto == state.next_label and (held.postings is not None or held.passages > most):
                found[term] = held
            elif held.postings is not None and upto > state.next_label:
                # Another thread has read a later state.
                cut = held.postings.before(state.next_label)
                found[term] = Term(len(cut), cut)
            else:
                unread[term] = held.postings or _NONE
        if unread:
            found |= pool.read(lambda connection: self._read(connection, state, unread, most))
        return found

    def _read(
        self, connection: Connection, state: State, unread: dict[str, TermPostings], most: float
    ) -> dict[str, Term]:
        counts = [len(held) for held in unread.values()]
        since = [int(held.labels[-1]) + 1 if len(held) else 0 for held in unread.values()]
        rows = tuple(list[tuple[int, bytes]]() for _ in counts)
        read_rows = connection.execute(
            _READ,
            [
                min(most, 2**62),
                [escaped(term) for term in unread],
                since,
                counts,
                state.next_label,
                state.part,
                state.compactions,
            ],
            binary=True,
        ).fetchall()
        if not read_rows:
            raise StateGone
        for number, first, passages, packed in read_rows:
            # A state without any of the postings is one row of nothing.
            if number is not None:
                at = int(number) - 1
                counts[at] += passages
                if packed is not None:
                    rows[at].append((first, packed))
        read: dict[str, Term] = {}
        for (term, held), passages, fresh in zip(unread.items(), counts, rows, strict=True):
            postings = None if passages > most else held.followed_by(TermPostings.of(fresh))
            read[term] = Term(passages, postings)
        self._held.keep(
            state.part,
            [
                (
                    f"{state.compactions} {term}",
                    (state.next_label, entry),
                    _OVERHEAD + (entry.postings.nbytes if entry.postings is not None else 0),
                )
                for term, entry in read.items()
            ],
        )
        return read

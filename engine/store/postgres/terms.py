"""A question's words as the terms of the postings, with their frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from engine.analysis.analyzer import DEFAULT_LANGUAGE, query_words
from engine.lexical.native import Address, Query, SearchResult
from engine.lexical.reader import LexicalReader
from engine.ranking.terms import QueryTerms
from engine.store.postgres.connection import Connection
from engine.store.postgres.text import escaped, unescaped


def question_terms(connection: Connection, part: int, text: str, held: Mapping[str, int], passages: int) -> QueryTerms:
    """The words of `text` as terms with weights; see `LexicalReader.terms`.

    Args:
        held: how many passages of each language were ever indexed.
    """
    return _reader(connection, part, text, held, passages).terms(text)


def question_rarity(
    connection: Connection, part: int, text: str, held: Mapping[str, int], passages: int
) -> dict[str, float]:
    """As `LexicalReader.rarity`."""
    return _reader(connection, part, text, held, passages).rarity(text)


def _reader(connection: Connection, part: int, text: str, held: Mapping[str, int], passages: int) -> LexicalReader:
    languages = sorted({DEFAULT_LANGUAGE, *held})
    asked = {term for each in languages for word in query_words(text, [each]) for term in word}
    return LexicalReader(_Dictionary(connection, part, passages, asked), held)


class _Dictionary:
    """The part of a searcher that knows terms; those that are `asked` for are counted in one statement."""

    def __init__(self, connection: Connection, part: int, passages: int, asked: set[str]) -> None:
        self.num_docs = passages
        self._connection = connection
        self._part = part
        self._counts = dict.fromkeys(asked, 0)
        rows = connection.execute(
            "SELECT term, sum(passages) FROM quarry.postings WHERE part = %s AND term = ANY(%s) GROUP BY term",
            [part, [escaped(term) for term in asked]],
        )
        self._counts |= {unescaped(term): int(count) for term, count in rows}

    def doc_freq(self, field_name: str, field_value: str) -> int:  # noqa: ARG002 - one field
        if field_value not in self._counts:
            row = self._connection.execute(
                "SELECT coalesce(sum(passages), 0) FROM quarry.postings WHERE part = %s AND term = %s",
                [self._part, escaped(field_value)],
            ).fetchone()
            self._counts[field_value] = int(row[0]) if row else 0
        return self._counts[field_value]

    def terms_with_prefix(self, field_name: str, prefix: str, *, limit: int | None = None) -> list[tuple[str, int]]:  # noqa: ARG002
        """Terms that begin with `prefix`, the most frequent first."""
        rows = self._connection.execute(
            "SELECT term, sum(passages) AS df FROM quarry.postings WHERE part = %s AND starts_with(term, %s) "
            "GROUP BY term ORDER BY df DESC, term LIMIT %s",
            [self._part, escaped(prefix), limit],
        )
        return [(unescaped(term), int(count)) for term, count in rows]

    def search(self, query: Query, limit: int = 10, count: bool = True) -> SearchResult:  # noqa: ARG002, FBT001, FBT002
        _unused()

    def fast_field_values(self, field_name: str, doc_addresses: Sequence[Address]) -> list[int]:  # noqa: ARG002
        _unused()


def _unused() -> NoReturn:
    raise TypeError("postings are searched by engine.store.postgres.postings")

"""A question's words as the terms of the postings, with their frequencies."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NoReturn

from engine.analysis.analyzer import DEFAULT_LANGUAGE, query_words
from engine.lexical.native import Address, Query, SearchResult
from engine.lexical.reader import COMMON_FROM, COMMON_SHARE, LexicalReader
from engine.ranking.terms import QueryTerms
from engine.store.postgres.connection import Pool
from engine.store.postgres.posting_memory import PostingMemory, Term
from engine.store.postgres.text import escaped, unescaped
from engine.store.postgres.writing import State


class Dictionary:
    """The terms of a namespace in one state; the part of a searcher that knows terms.

    Args:
        state: methods raise `StateGone` when the database no longer knows it.
    """

    def __init__(self, pool: Pool, state: State, memory: PostingMemory) -> None:
        self.num_docs = state.indexed
        self._pool = pool
        self._state = state
        self._memory = memory
        self._terms: dict[str, Term] = {}

    @property
    def most(self) -> float:
        """Passages of a term that chooses no candidates, so that its postings need not be read."""
        return math.inf if self.num_docs < COMMON_FROM else COMMON_SHARE * self.num_docs

    def terms(self, asked: Collection[str], *, most: float = math.inf) -> dict[str, Term]:
        """Each with its postings, where they are at most so many."""
        missing = [
            term
            for term in asked
            if (held := self._terms.get(term)) is None or (held.postings is None and held.passages <= most)
        ]
        if missing:
            self._terms |= self._memory.terms(self._pool, self._state, missing, most=most)
        return {term: self._terms[term] for term in asked}

    def question_terms(self, text: str) -> QueryTerms:
        """The words of `text` as terms with weights; see `LexicalReader.terms`."""
        return self._reader(text).terms(text)

    def question_rarity(self, text: str) -> dict[str, float]:
        """As `LexicalReader.rarity`."""
        return self._reader(text).rarity(text)

    def _reader(self, text: str) -> LexicalReader:
        languages = sorted({DEFAULT_LANGUAGE, *self._state.languages})
        # All at once: one by one each would be a statement.
        self.terms({term for each in languages for word in query_words(text, [each]) for term in word}, most=self.most)
        return LexicalReader(self, self._state.languages)

    def doc_freq(self, field_name: str, field_value: str) -> int:  # noqa: ARG002 - one field
        return self.terms([field_value], most=self.most)[field_value].passages

    def terms_with_prefix(self, field_name: str, prefix: str, *, limit: int | None = None) -> list[tuple[str, int]]:  # noqa: ARG002
        """Terms that begin with `prefix`, the most frequent first."""
        statement = (
            "SELECT term, sum(passages) AS df FROM quarry.postings WHERE part = %s AND starts_with(term, %s) "
            "AND first_label < %s GROUP BY term ORDER BY df DESC, term LIMIT %s"
        )
        params = [self._state.part, escaped(prefix), self._state.next_label, limit]
        rows = self._pool.read(lambda connection: connection.execute(statement, params).fetchall())
        return [(unescaped(term), int(count)) for term, count in rows]

    def search(self, query: Query, limit: int = 10, count: bool = True) -> SearchResult:  # noqa: ARG002, FBT001, FBT002
        _unused()

    def fast_field_values(self, field_name: str, doc_addresses: Sequence[Address]) -> list[int]:  # noqa: ARG002
        _unused()


def _unused() -> NoReturn:
    raise TypeError("postings are searched by engine.store.postgres.postings")

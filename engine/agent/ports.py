"""What a search may reach: one namespace of one company, under the caller's filter, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.agent.steps import Corpus, PlannedQuery
from engine.model.document import JsonValue
from engine.retrieval.query import Ranked


class Retrieval(Protocol):
    """Bound when the search begins; no step can widen it. Synchronous and thread-safe."""

    def retrieve(self, query: PlannedQuery, k: int) -> Ranked:
        """The best `k` passages; the query's narrowing is ANDed to the caller's filter.

        Raises:
            FilterError: the narrowing cannot be used.
        """
        ...

    def retrieve_all(self, queries: Sequence[PlannedQuery], k: int) -> list[Ranked]:
        """As `retrieve`, for each; less work than one by one."""
        ...

    @property
    def waits(self) -> bool:
        """Whether a query waits for another machine, so that several are better asked side by side."""
        ...

    def titled(self, text: str, k: int) -> Ranked:
        """The best `k` passages by what their headers share with `text`: of documents that it may name."""
        ...

    def documents(self, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        """Bodies of those that are live now and satisfy the caller's filter."""
        ...

    def corpus(self) -> Corpus:
        """Schema, known attribute values, and how many documents the filter leaves."""
        ...

    def rarity(self, text: str) -> Mapping[str, float]:
        """IDF of every term of `text` in the namespace, whatever the filter leaves; see `engine.analysis.analyzer`."""
        ...

"""`BoundRetrieval`: one namespace under the caller's filter, which nothing a step says can widen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from engine.agent.steps import AttributeValues, Corpus, PlannedQuery
from engine.backend.protocol import Backend
from engine.filters.check import CheckedFilter, conjoin, parse_filter
from engine.model.document import JsonValue
from engine.model.namespace import Namespace
from engine.retrieval.query import Ranked, RetrievalQuery
from engine.retrieval.retriever import Retriever

MAX_VALUES = 2_000
"""Values of one attribute that a plan may choose from; an attribute with more is an identifier, not a category."""


class BoundRetrieval:
    """Satisfies `engine.agent.ports.Retrieval`.

    Args:
        where: the caller's filter, and what clarifications settled; None for all documents.
        today: for words like "last year".
    """

    def __init__(
        self,
        retriever: Retriever,
        backend: Backend,
        namespace: Namespace,
        where: CheckedFilter | None,
        today: Callable[[], date],
    ) -> None:
        self._retriever = retriever
        self._backend = backend
        self._namespace = namespace
        self._where = where
        self._today = today

    @property
    def waits(self) -> bool:
        return self._backend.capabilities.many_writers

    def retrieve(self, query: PlannedQuery, k: int) -> Ranked:
        return self.retrieve_all([query], k)[0]

    def retrieve_all(self, queries: Sequence[PlannedQuery], k: int) -> list[Ranked]:
        asked = [RetrievalQuery(text=q.text, k=k, where=self._narrowed(q), mode=q.mode) for q in queries]
        return self._retriever.run_all(self._namespace.id, asked)

    def _narrowed(self, query: PlannedQuery) -> CheckedFilter | None:
        if not query.narrowing:
            return self._where
        return conjoin(self._where, parse_filter(query.narrowing, self._namespace.schema))

    def titled(self, text: str, k: int) -> Ranked:
        return self._retriever.run(
            self._namespace.id, RetrievalQuery(text=text, k=k, where=self._where, mode="headers")
        )

    def documents(self, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        return {found.id: found.body for found in self._backend.get(self._namespace.id, ids)} if ids else {}

    def visible(self, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        """As `documents`, those that satisfy the filter only: it may have narrowed since they were read."""
        if not ids:
            return {}
        return {found.id: found.body for found in self._backend.get(self._namespace.id, ids, where=self._where)}

    def corpus(self) -> Corpus:
        schema = self._namespace.schema
        values = [self._values(name) for name in schema.filterable() if name in schema.attributes]
        return Corpus(
            schema,
            tuple(held for held in values if held.values or held.least is not None),
            self._backend.count(self._namespace.id, self._where),
            self._today().isoformat(),
            self._backend.languages(self._namespace.id),
        )

    def rarity(self, text: str) -> Mapping[str, float]:
        return self._backend.rarity(self._namespace.id, text)

    def _values(self, name: str) -> AttributeValues:
        held = self._backend.values(self._namespace.id, name, where=self._where, limit=MAX_VALUES + 1)
        kind = self._namespace.schema.attributes[name].type.value
        if len(held) <= MAX_VALUES:
            return AttributeValues(name, kind, tuple(held), *_range(held))
        # Too many to choose from; between which a condition may ask is still worth knowing.
        extent = self._backend.extent(self._namespace.id, name, where=self._where)
        return AttributeValues(name, kind, (), *(extent or (None, None)))


def _range(held: Sequence[tuple[JsonValue, int]]) -> tuple[JsonValue, JsonValue]:
    """The least and the largest value of numbers and dates; None of anything else."""
    numbers = [value for value, _ in held if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(held) else (None, None)

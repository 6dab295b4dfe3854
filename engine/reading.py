"""`Reader`: what an engine reads of one company's data, searches aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.assembly import Core
from engine.errors import AttributeNotFilterable, DocumentNotFound, EngineClosed, InvalidRequest, UnknownAttribute
from engine.filters.check import parse_filter
from engine.interruption import Interruption
from engine.model.document import JsonValue
from engine.model.hits import Hit
from engine.model.ids import check_namespace_name
from engine.model.namespace import Company, Namespace, NamespaceStats, StorageTotals, StoredNamespace
from engine.model.search import Mode, check_text
from engine.model.values import shown_value

MAX_VALUES = 10_000
MAX_PAGE = 1_000


class DocumentPage(NamedTuple):
    """Some documents; `next_cursor` continues after the last, None at the end."""

    documents: list[dict[str, JsonValue]]
    next_cursor: str | None


class Reader:
    """The reading half of `Engine`; see there for what every method raises."""

    def __init__(self, core: Core, company: Company) -> None:
        self._core = core
        self._company = company

    def get(self, namespace: str, document_id: str) -> dict[str, JsonValue]:
        """The document as it was uploaded. Raises `DocumentNotFound`."""
        found = self._core.backend.get(self.namespace(namespace).id, [document_id])
        if not found:
            raise DocumentNotFound(document_id)
        return found[0].body

    def get_many(self, namespace: str, document_ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        """The documents among `document_ids` that exist, by id, each as it was uploaded."""
        found = self._core.backend.get(self.namespace(namespace).id, list(dict.fromkeys(document_ids)))
        return {document.id: document.body for document in found}

    def documents(
        self,
        namespace: str,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DocumentPage:
        """Documents as they were uploaded, in the order of upload, a page at a time.

        Writes between two pages do not lose or repeat a document that stays as it is; one that is replaced meanwhile
        stands at the end, where new ones are.

        Args:
            filters: see the filter language; None or ``{}`` for none. The same for every page.
            limit: 1 to 1,000; a page of large documents is shorter.
            cursor: the `next_cursor` of the page before; None begins.

        Raises:
            FilterError: with the path of the fault.
            InvalidRequest: `limit` or `cursor` cannot be used; also a cursor from before the namespace was reindexed.
        """
        record = self.namespace(namespace)
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidRequest(f"`limit` is 1 to {MAX_PAGE:,}.", path="limit")
        where = parse_filter(filters, record.schema)
        # A filter within the limits can still be slow on many documents.
        with Interruption(self._core.settings.budget.hard_seconds) as interruption:
            page = interruption.run(self._core.backend.page, record.id, where=where, limit=limit, cursor=cursor)
        return DocumentPage([document.body for document in page.documents], page.next_cursor)

    def random_document(self, namespace: str) -> dict[str, JsonValue]:
        """One document, uniformly at random. Raises `DocumentNotFound` where there is none."""
        found = self._core.backend.random(self.namespace(namespace).id)
        if found is None:
            raise DocumentNotFound
        return found.body

    def namespaces(self) -> Sequence[Namespace]:
        """Those of the company, by name."""
        self._check_open()
        return self._core.catalog.namespaces(self._company.id)

    def namespace(self, name: str) -> StoredNamespace:
        """One namespace with its schema."""
        self._check_open()
        return self._core.catalog.namespace(self._company.id, check_namespace_name(name))

    def stats(self) -> list[NamespaceStats]:
        """How large each namespace of the company is, by name; one that cannot be opened is named too."""
        self._check_open()
        return self._core.store.stats(self._company.id)

    def totals(self) -> StorageTotals:
        """What all companies of the data directory store, from memory."""
        self._check_open()
        return self._core.store.totals()

    def values(
        self, namespace: str, attribute: str, *, limit: int = 100, containing: str = ""
    ) -> list[tuple[JsonValue, int]]:
        """The values that documents hold in a filterable attribute, with how many documents hold each.

        The most frequent first, then by value. Of a list each element counts once a document. A datetime is ISO 8601
        in UTC. Only the 10,000 most frequent values are looked at.

        Args:
            limit: 1 to 10,000.
            containing: only values whose text contains this, whatever the case; empty for all.

        Raises:
            UnknownAttribute, AttributeNotFilterable: there is no such attribute, or it has no values to filter by.
        """
        record = self.namespace(namespace)
        if not 1 <= limit <= MAX_VALUES:
            raise InvalidRequest(f"`limit` is 1 to {MAX_VALUES:,}.", path="limit")
        if attribute not in record.schema.attributes:
            raise UnknownAttribute(f"The namespace has no attribute {attribute!r}.", path="attribute")
        if attribute not in record.schema.filterable():
            raise AttributeNotFilterable(f"The attribute {attribute!r} is not filterable.", path="attribute")
        kind = record.schema.attributes[attribute].type
        held = [(shown_value(kind, value), n) for value, n in self._core.backend.values(record.id, attribute)]
        wanted = containing.casefold()
        return [(value, n) for value, n in held if wanted in str(value).casefold()][:limit]

    def retrieve(
        self,
        namespace: str,
        text: str,
        k: int = 10,
        filters: Mapping[str, Any] | None = None,
        mode: Mode = "hybrid",
    ) -> list[Hit]:
        """The best `k` passages for `text`, best first.

        Args:
            filters: see the filter language; None or ``{}`` for none.
            mode: ``hybrid``, ``lexical`` or ``vector`` run `text` as one query; ``planned`` runs the offline plan's
                queries and selects for coverage, as a search reads them.

        Raises:
            FilterError: with the path of the fault.
        """
        record = self.namespace(namespace)
        check_text(text, "text", 50_000)
        if not 0 <= k <= 10_000:
            raise InvalidRequest("`k` is 0 to 10,000.", path="k")
        where = parse_filter(filters, record.schema)
        return self._core.searches.retrieve(record, text, k, where, mode).to_hits()

    def prepare(self, namespace: str) -> None:
        """Open the namespace now, as its first reader does.

        Raises:
            CorruptData: it cannot be opened. A search would end as ``failed``.
        """
        self._core.backend.generation(self.namespace(namespace).id)

    def _check_open(self) -> None:
        if self._core.closed:
            raise EngineClosed

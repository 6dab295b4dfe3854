"""The seam below retrieval: what keeps a namespace's documents and finds candidates in them.

Above it stand tokenisation, embedding, filter parsing and checking, fusion, reranking and evidence;
an implementation returns raw legs and stored text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

import msgspec

from engine.filters.check import CheckedFilter
from engine.model.document import JsonValue, Passage, PassageDraft
from engine.model.hits import Candidates, Labels, Vectors
from engine.model.namespace import NamespaceState
from engine.model.schema import Schema, TypedValue
from engine.ranking.passage_terms import PassageTerms
from engine.ranking.terms import QueryTerms

Extent: TypeAlias = tuple[JsonValue, JsonValue]
"""The least and the largest value of an attribute."""


class Capabilities(msgspec.Struct, frozen=True):
    """What an implementation promises; a contract test is skipped only where one is False.

    Attributes:
        many_writers: any number of processes may have it open, and each sees what the others have written. Companies,
            namespaces and keys are then looked up in the database, which takes an event loop too long.
        backups: `Store.backup` writes one.
    """

    atomic_batches: bool = True
    read_your_writes: bool = True
    many_writers: bool = False
    global_bm25: bool = True
    backups: bool = True


class NamespaceSpec(msgspec.Struct, frozen=True):
    """What a backend must know of a namespace to open it.

    Attributes:
        id: the integer that names its folder or tables, never reused.
        embedder: name of the embedder whose vectors are stored.
    """

    id: int
    schema: Schema
    embedder: str
    dimension: int


class DocumentWrite(msgspec.Struct, frozen=True):
    """One document ready to be stored.

    Attributes:
        body: the document exactly as uploaded, as JSON.
        root_id: the value of ``root_document_id``, None when absent.
        values: typed values of the filterable attributes, missing ones left out.
        passages: in reading order; their vectors are the rows that follow those of the documents before.
    """

    id: str
    root_id: str | None
    body: bytes
    values: Mapping[str, TypedValue]
    passages: Sequence[PassageDraft]


class LexicalTerms(msgspec.Struct, frozen=True):
    """A query for the lexical leg: words with weights, never a query language.

    Attributes:
        text: the user's words; the index analyses them as it analysed the passages.
        header_weight: factor on matches in the header alone, beside those in header and body together.
        headers_only: candidates are those whose header shares terms with `text`, by the BM25 of headers alone.
    """

    text: str
    header_weight: float = 0.2
    headers_only: bool = False


class LegsQuery(msgspec.Struct, frozen=True):
    """One query of both legs.

    Attributes:
        lexical: None leaves the lexical leg out.
        vector: shape ``(dimension,)``, unit length; None leaves the vector leg out.
        where: None for all documents.
        k: candidates a leg, at most.
    """

    lexical: LexicalTerms | None
    vector: Vectors | None
    where: CheckedFilter | None
    k: int


class Legs(msgspec.Struct, frozen=True):
    """Raw results of both legs, each best first: BM25 scores, and cosine similarities.

    Attributes:
        generation: journal sequence that the legs were read at.
        allowed: how many passages the filter left; -1 without a filter.
        terms: the words of the lexical leg as the index holds them, with weights, for rerankers.
        took_s: seconds of the stages that ran: ``filter``, ``lexical``, ``vector``.
    """

    lexical: Candidates
    vector: Candidates
    generation: int
    allowed: int = -1
    terms: QueryTerms = QueryTerms.empty()
    took_s: Mapping[str, float] = {}


class StoredDocument(msgspec.Struct, frozen=True):
    """A document as it was uploaded."""

    id: str
    body: dict[str, JsonValue]


class DocumentPage(msgspec.Struct, frozen=True):
    """Some documents in the order of upload; `next_cursor` continues after the last, None at the end."""

    documents: list[StoredDocument]
    next_cursor: str | None


class Backend(Protocol):
    """Keeps and finds documents. Thread-safe; one writer at a time a namespace, readers never wait for it.

    Raises:
        StorageError: any method, when the disk or the database fails.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def create(self, spec: NamespaceSpec) -> None:
        """Make the namespace, empty and pending: it goes with the process unless `confirm` is called."""
        ...

    def exists(self, namespace: int) -> bool:
        """Whether anything of that number is there, whatever the catalog says."""
        ...

    def confirm(self, namespace: int) -> None:
        """The namespace is known to the catalog now, and stays."""
        ...

    def drop(self, namespace: int, forget: Callable[[], None] = ...) -> None:
        """Remove the namespace. `forget` lets go of its row in the catalog; where that fails, nothing is removed."""
        ...

    def upsert(
        self,
        namespace: int,
        documents: list[DocumentWrite],
        vectors: Vectors,
        schema: Schema | None = None,
        *,
        base: Schema | None = None,
    ) -> int:
        """Replace or insert all of `documents` (distinct ids) in one transaction; findable when it returns. How many.

        Args:
            documents: may be emptied on the way.
            vectors: shape ``(sum of passages, dimension)``, unit rows.
            schema: stored in the same transaction, which also brings the typed columns up to it; None changes none.
            base: what `schema` was merged from; None does not ask.

        Raises:
            ConcurrentChange: the namespace has another schema than `base`; nothing was written.
        """
        ...

    def replace_all(
        self,
        spec: NamespaceSpec,
        batches: Iterator[tuple[list[DocumentWrite], Vectors]],
        *,
        base: Schema | None = None,
    ) -> int:
        """Put the documents of `batches` in place of everything the namespace holds, all at once; how many writes.

        `batches` may read the namespace while it runs; searches see the old state until the new one is whole.

        Raises:
            ConcurrentChange: as `upsert`.
        """
        ...

    def state(self, namespace: int) -> NamespaceState:
        """What the namespace's own database says of it."""
        ...

    def searched(self, namespace: int) -> tuple[str, ...] | None:
        """The attributes that the stored passages were derived from, sorted; None before the first write."""
        ...

    def generation(self, namespace: int) -> int:
        """Journal sequence of the last committed write; opens the namespace."""
        ...

    def delete(self, namespace: int, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
        """How many documents were removed; unknown ids are ignored. A root takes its children with it."""
        ...

    def get(self, namespace: int, ids: Sequence[str], *, where: CheckedFilter | None = None) -> list[StoredDocument]:
        """Those that exist and satisfy `where`, in the order asked."""
        ...

    def random(self, namespace: int) -> StoredDocument | None:
        """One document, uniformly at random; None when there is none."""
        ...

    def legs(self, namespace: int, query: LegsQuery) -> Legs: ...

    def rarity(self, namespace: int, text: str) -> dict[str, float]:
        """How rare each lexical term of `text` is in the namespace: BM25's IDF, in nats; larger is rarer."""
        ...

    def languages(self, namespace: int) -> Mapping[str, int]:
        """Passages of the namespace by language, as ISO 639-1 has it."""
        ...

    def hydrate(self, namespace: int, labels: Labels) -> list[Passage]:
        """The live passages among `labels`, in the order asked."""
        ...

    def passage_terms(self, namespace: int, labels: Labels) -> PassageTerms:
        """The terms of the passages among `labels`, in the order asked: the same as `PassageTerms.of` makes of them.

        Passages that are no longer live may be left out, or be among them.
        """
        ...

    def reading(self, namespace: int) -> AbstractContextManager[None]:
        """Within the block this thread reads one state of the namespace, in which all that was committed is found.

        A database gives a snapshot of its own; the embedded store holds writers back, so keep it short.
        """
        ...

    def count(self, namespace: int, where: CheckedFilter | None = None) -> int:
        """Documents that satisfy `where`."""
        ...

    def scan(self, namespace: int, *, batch: int = 1000) -> Iterator[list[StoredDocument]]:
        """Every document, in batches, in the order of upload."""
        ...

    def page(
        self, namespace: int, *, where: CheckedFilter | None = None, limit: int = 100, cursor: str | None = None
    ) -> DocumentPage:
        """Documents that satisfy `where`, in the order of upload, those after `cursor`.

        While others write, no document that stays as it is is left out or told twice; one that is replaced meanwhile
        stands at the end, where new ones are.

        Args:
            limit: at most so many; a page of large documents is shorter.
            cursor: the `next_cursor` of the page before, under the same filter.

        Raises:
            InvalidRequest: `cursor` was not given by this namespace, or the namespace was built anew since.
        """
        ...

    def values(
        self, namespace: int, attribute: str, *, where: CheckedFilter | None = None, limit: int = 10_000
    ) -> list[tuple[JsonValue, int]]:
        """Distinct values of a filterable attribute with document counts, most frequent first; elements count alone."""
        ...

    def extent(self, namespace: int, attribute: str, *, where: CheckedFilter | None = None) -> Extent | None:
        """The least and the largest value of a filterable attribute of numbers or dates; None for no value or others.

        Dates are microseconds since 1970, as `values` has them.
        """
        ...

    def maintain(self, namespace: int) -> None:
        """Finish what may be late: graph, snapshots, journal."""
        ...

    def close(self) -> None: ...

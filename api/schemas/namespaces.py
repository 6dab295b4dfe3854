"""Namespaces on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from api.schemas.wire import Timestamp, timestamp
from engine import Namespace, NamespaceStats

TypeName = Literal[
    "string",
    "int",
    "uint",
    "float",
    "uuid",
    "datetime",
    "bool",
    "[]string",
    "[]int",
    "[]uint",
    "[]float",
    "[]uuid",
    "[]datetime",
    "[]bool",
    "json",
]


class AttributeObject(msgspec.Struct, frozen=True, omit_defaults=True):
    """Definition of one attribute, with the flags that are in effect."""

    type: TypeName
    is_searchable: Annotated[bool, msgspec.Meta(description="Its text is indexed for search.")]
    is_filterable: Annotated[bool, msgspec.Meta(description="Filters may name it.")]
    inferred: Annotated[
        bool, msgspec.Meta(description="True where its text is searched only because no attribute is flagged.")
    ] = False


class NamespaceObject(msgspec.Struct, frozen=True, kw_only=True):
    """A collection of documents with a common schema."""

    id: int
    name: str
    company_id: int
    company_name: str
    created_at: Timestamp
    updated_at: Timestamp
    attributes_schema: dict[str, AttributeObject]

    @classmethod
    def of(cls, namespace: Namespace, shown: dict[int, dict[str, AttributeObject]] | None = None) -> NamespaceObject:
        """As `namespace` looks on the wire.

        Args:
            shown: schemas that were written already, by identity: namespaces of a company often share one.
        """
        shown = {} if shown is None else shown
        schema = shown.get(id(namespace.schema))
        if schema is None:
            schema = shown[id(namespace.schema)] = {
                name: AttributeObject(held.type.value, held.is_searchable, held.is_filterable, held.inferred)
                for name, held in namespace.schema.definitions().items()
            }
        return cls(
            id=namespace.id,
            name=namespace.name,
            company_id=namespace.company_id,
            company_name=namespace.company_name,
            created_at=timestamp(namespace.created_at),
            updated_at=timestamp(namespace.updated_at),
            attributes_schema=schema,
        )


class NamespaceList(msgspec.Struct, frozen=True, omit_defaults=True):
    """Namespaces by name. `next_cursor` is there when the request had a `limit`; null on the last page."""

    results: list[NamespaceObject]
    next_cursor: str | None | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(
        cls, namespaces: Sequence[Namespace], cursor: str | None | msgspec.UnsetType = msgspec.UNSET
    ) -> NamespaceList:
        """As `namespaces` look on the wire. They hold their schemas, whose identities mean nothing later."""
        shown: dict[int, dict[str, AttributeObject]] = {}
        return cls([NamespaceObject.of(namespace, shown) for namespace in namespaces], cursor)


class NamespaceSize(msgspec.Struct, frozen=True, kw_only=True):
    """How large one namespace is."""

    id: int
    name: str
    created_at: Timestamp
    updated_at: Timestamp
    document_count: int
    passage_count: int
    storage_bytes: int

    @classmethod
    def of(cls, stats: NamespaceStats) -> NamespaceSize:
        """As `stats` look on the wire."""
        return cls(
            id=stats.id,
            name=stats.name,
            created_at=timestamp(stats.created_at),
            updated_at=timestamp(stats.updated_at),
            document_count=stats.documents,
            passage_count=stats.passages,
            storage_bytes=stats.storage_bytes,
        )


class CompanySize(msgspec.Struct, frozen=True, kw_only=True):
    """How much the company stores: in all, and by namespace."""

    document_count: int
    passage_count: int
    storage_bytes: int
    results: list[NamespaceSize]
    unavailable: Annotated[
        list[str] | msgspec.UnsetType,
        msgspec.Meta(description="Namespaces that cannot be opened and are left out; there when there are any."),
    ] = msgspec.UNSET

    @classmethod
    def of(cls, stats: list[NamespaceStats]) -> CompanySize:
        """The sums over `stats`, and `stats` themselves."""
        opened = [s for s in stats if not s.problem]
        return cls(
            document_count=sum(s.documents for s in opened),
            passage_count=sum(s.passages for s in opened),
            storage_bytes=sum(s.storage_bytes for s in opened),
            results=[NamespaceSize.of(s) for s in opened],
            unavailable=[s.name for s in stats if s.problem] or msgspec.UNSET,
        )


class NamespaceDeleted(msgspec.Struct, frozen=True):
    """The namespace is gone, with its documents and sessions."""

    deleted: bool = True
